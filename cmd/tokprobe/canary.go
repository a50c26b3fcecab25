package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Canaries tell our own troubles from those of targets. Each has a gauge that
// inhibits the alerts of targets; probes are skipped only on evidence that
// comes back by itself while they are silent.
const (
	canaryEvery = 20 * time.Second
	canaryAgain = 5 * time.Second // after a failure, and while down
	canaryLimit = 5 * time.Second
	// canaryDown is how many failures in a row count: one may be a blink.
	canaryDown = 2
)

// streak is down after canaryDown bad checks in a row, up after one good.
type streak struct {
	bad  int
	down bool
}

// note takes a check and tells whether it changed down.
func (s *streak) note(bad bool) bool {
	was := s.down
	if !bad {
		*s = streak{}
		return was
	}
	s.bad++
	s.down = s.bad >= canaryDown
	return s.down != was
}

func (s *streak) pause() time.Duration {
	if s.bad > 0 {
		return canaryAgain
	}
	return canaryEvery
}

// blindness is why probes are skipped with reason canary: any of its sources.
type blindness struct {
	mu      sync.Mutex
	sources map[string]bool
	tell    func(down bool)
}

func (b *blindness) set(source string, down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sources == nil {
		b.sources = map[string]bool{}
	}
	b.sources[source] = down
	any := false
	for _, x := range b.sources {
		any = any || x
	}
	b.tell(any)
}

// watchMachine runs the machine canary until ctx ends. A late answer takes the
// gauge down; probes go on, since each result carries our lag and is left out
// of SLOs if that could explain it. No answer at all stops them: then nothing
// can be measured, and "connect" would be blamed on targets.
func (d *daemon) watchMachine(ctx context.Context) {
	m, err := newMachineCanary()
	if err != nil {
		d.log.Error("no machine canary", zap.Error(err))
		return
	}
	defer m.close()
	var unwell, blind streak
	for pause := time.Duration(0); sleep(ctx, pause); pause = unwell.pause() {
		off, err := m.check(ctx)
		if ctx.Err() != nil {
			return
		}
		if unwell.note(err != nil || off > canaryLate) {
			d.log.Warn("machine canary", zap.Bool("well", !unwell.down), zap.Duration("ttft_off_by", off), zap.Error(err))
		}
		blind.note(err != nil)
		d.exporter.SetCanary("machine", !unwell.down)
		d.blind.set("machine", blind.down)
	}
}

// watchNetwork runs the network canary until ctx ends: with a canary.url that
// decides; without one, the connect and dns failures of targets do, but only
// for the gauge: skipping on them would keep them failing for ever.
func (d *daemon) watchNetwork(ctx context.Context, client *http.Client) {
	var way streak
	asked := ""
	for pause := time.Duration(0); sleep(ctx, pause); pause = way.pause() {
		address := d.canaryURL()
		if address != asked {
			way, asked = streak{}, address
		}
		if address == "" {
			d.judgeHosts()
			continue
		}
		err := reach(ctx, client, address)
		if ctx.Err() != nil {
			return
		}
		if way.note(err != nil) {
			d.log.Warn("network canary: the way to canary.url", zap.Bool("well", !way.down), zap.Error(err))
		}
		d.exporter.SetCanary("network", !way.down)
		d.blind.set("network", way.down)
	}
}

// canaryClient opens a connection for every question: a kept one would prove
// nothing about DNS and the way.
func canaryClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       canaryLimit,
	}
}

// judgeHosts sets the gauge by the failures of targets, once there are two
// hosts to compare.
func (d *daemon) judgeHosts() {
	d.blind.set("network", false)
	down, known := d.hosts.down(time.Now())
	if !known {
		d.exporter.ClearCanary("network")
		return
	}
	d.exporter.SetCanary("network", !down)
}

// reach asks for address; any answer proves the way there. The error never
// holds the address, which may carry a token.
func reach(ctx context.Context, client *http.Client, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("canary.url is no URL")
	}
	req.Header.Set("User-Agent", "tokprobe")
	resp, err := client.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// sleep waits for d; false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
