package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/common/config"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// checkLimits completes the limits of a probe by the defaults for its interval
// and checks that they fit each other and the interval.
func (s *schedule) checkLimits() probe.Limits {
	gap := s.gap()
	def := probe.DefaultLimits(gap)
	l := s.limits
	if l.Connect == 0 {
		l.Connect = def.Connect
	}
	if l.Total == 0 {
		l.Total = max(def.Total, l.FirstToken, l.Stall)
	}
	if l.FirstToken == 0 {
		l.FirstToken = min(def.FirstToken, l.Total)
	}
	if l.Stall == 0 {
		l.Stall = min(def.Stall, l.Total)
	}
	ms := func(d time.Duration) string { return FormatDuration(d.Round(time.Millisecond)) }
	show := fmt.Sprintf("connect %s, first_token %s, stall %s, total %s", ms(l.Connect), ms(l.FirstToken), ms(l.Stall), ms(l.Total))
	switch {
	case l.FirstToken > l.Total || l.Stall > l.Total:
		s.limitsAt.bad(show, "no limit can exceed total; raise total or lower the other")
	case gap > 0 && l.Connect+l.Total > gap && !s.overlap:
		s.limitsAt.bad(show, "connect + total is %s and must fit into the interval of %s; lower them, run less often, or write allow_overlap: true", ms(l.Connect+l.Total), FormatDuration(gap))
	}
	return l
}

// checkPromise warns where an SLO and a probe do not go together.
func checkPromise(s *schedule, p *prompt, pr *promise, l probe.Limits) {
	limit := map[slo.SLI]time.Duration{slo.TTFT: l.FirstToken, slo.FirstContent: l.Total, slo.TPOT: l.Stall, slo.E2E: l.Total}
	name := map[slo.SLI]string{slo.TTFT: "first_token", slo.FirstContent: "total", slo.TPOT: "stall", slo.E2E: "total"}
	for _, o := range pr.Objectives {
		if max := limit[o.SLI]; o.Below > max && o.SLI != slo.Success {
			pr.below[o.SLI].warn(FormatDuration(o.Below), "is above the limit %s: %s of probe %s, which cuts such answers and counts them bad; lower the threshold or raise the limit", name[o.SLI], FormatDuration(max.Round(time.Millisecond)), s.name.text)
		}
		if o.Ratio == 0 {
			continue
		}
		if usable, _ := slo.Pairs(o.Ratio, s.gap()); len(usable) == 0 && pr.Alerting != slo.Off {
			pr.at.warn("", "no burn-rate window can see %s of %.4g%% with one probe every %s (%s); probe more often or write alerting: off", o.SLI, 100*o.Ratio, FormatDuration(s.gap()), s.name.text)
		}
	}
	if p == nil {
		return
	}
	c := pr.Conditions
	if in := roster.EstimateInput(p.Prompt); c.InputTokensP95 > 0 && in > c.InputTokensP95 {
		pr.at.warn("", "assumes at most %d input tokens, but probe %s sends about %d; raise conditions.input_tokens_p95 or take another prompt", c.InputTokensP95, s.name.text, in)
	}
	if c.OutputTokensP95 > 0 && p.MaxTokens > c.OutputTokensP95 {
		pr.at.warn("", "assumes at most %d output tokens, but probe %s asks for up to %d; raise conditions.output_tokens_p95 or lower max_tokens", c.OutputTokensP95, s.name.text, p.MaxTokens)
	}
}

// checkTime warns about a sweep that may still run when its next is due.
func (s *sweep) checkTime() {
	sched, err := roster.ParseCron(s.Cron, s.Zone)
	if err != nil {
		return
	}
	if gap := roster.MinGap(sched); s.MaxDuration > gap {
		s.cronAt.warn(quote(s.Cron), "comes every %s, but a sweep may take %s (max_duration); run it less often", FormatDuration(gap), FormatDuration(s.MaxDuration))
	}
}

// checkUse warns about what is configured and never used, and about an empty
// plan.
func (b *builder) checkUse(r roster.Roster) {
	for _, s := range b.sweeps {
		if s.prompt != nil && b.asked[s.prompt.text] != nil {
			b.asked[s.prompt.text].used = true
		}
	}
	for _, p := range b.prompts {
		if !p.used && p.name.text != "" {
			p.at.warn(quote(p.name.text), "no probe and no sweep asks this; write prompt: %s there or remove it", p.name.text)
		}
	}
	for _, p := range b.slos {
		if !b.usedSLO[p.name.text] && p.name.text != "" {
			p.at.warn(quote(p.name.text), "no probe and no sweep is held to this; write slo: %s there or remove it", p.name.text)
		}
	}
	if len(r.Watches) == 0 && len(r.Sweeps) == 0 && len(b.w.problems) == 0 {
		b.root.bad("", "watches nothing: probes is empty and there are no sweeps; remove probes: for the built-in probe or write one")
	}
}

// connectionHash changes when anything about the way to a target does. The
// secrets in it are hashed with the rest, and files by their names only.
func (t *target) connectionHash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %v %q %q\n", t.provider.text, t.protocol, t.baseURL, t.http2, t.auth.keyEnv, t.auth.keyFile)
	c := t.auth.http
	if a := c.Authorization; a != nil {
		fmt.Fprintf(h, "%q %q %q\n", a.Type, string(a.Credentials), a.CredentialsFile)
	}
	if a := c.BasicAuth; a != nil {
		fmt.Fprintf(h, "%q %q %q %q\n", a.Username, a.UsernameFile, string(a.Password), a.PasswordFile)
	}
	if a := c.OAuth2; a != nil {
		fmt.Fprintf(h, "%q %q %q %q %q %q %q\n", a.ClientID, string(a.ClientSecret), a.ClientSecretFile, string(a.ClientCertificateKey), a.ClientCertificateKeyFile, a.GrantType, a.TokenURL)
		fmt.Fprintf(h, "%q %q %q %q %v %q %v\n", a.ClientCertificateKeyID, a.SignatureAlgorithm, a.Iss, a.Audience, a.Claims, a.Scopes, a.EndpointParams)
		hashConnection(h, a.TLSConfig, a.ProxyConfig)
	}
	hashConnection(h, c.TLSConfig, c.ProxyConfig)
	if c.HTTPHeaders != nil {
		for _, name := range sortedKeys(c.HTTPHeaders.Headers) {
			v := c.HTTPHeaders.Headers[name]
			fmt.Fprintf(h, "%q %q %q\n", name, v.Values, v.Files)
			for _, s := range v.Secrets {
				fmt.Fprintf(h, "%q\n", string(s))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func hashConnection(h interface{ Write([]byte) (int, error) }, t config.TLSConfig, p config.ProxyConfig) {
	fmt.Fprintf(h, "%q %q %q %q %q %q %q %v %v %v\n", t.CA, t.CAFile, t.Cert, t.CertFile, string(t.Key), t.KeyFile, t.ServerName, t.InsecureSkipVerify, t.MinVersion, t.MaxVersion)
	raw := ""
	if p.ProxyURL.URL != nil {
		raw = p.ProxyURL.URL.String()
	}
	fmt.Fprintf(h, "%q %q %v\n", raw, p.NoProxy, p.ProxyFromEnvironment)
	for _, name := range sortedKeys(p.ProxyConnectHeader) {
		for _, s := range p.ProxyConnectHeader[name] {
			fmt.Fprintf(h, "%q %q\n", name, string(s))
		}
	}
}
