package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
)

// bounds writes down what the sweep searches for, what cuts it and its requests
// short, and what else its requests ask for: with other bounds the same
// endpoint gives another report.
func (p Plan) bounds(c *capacity.Conditions) {
	c.CoolDownS = probe.Some(p.coolDown().Seconds())
	c.LevelDeadlineS, c.MaxDurationS = p.LevelDeadline.Seconds(), p.MaxDuration.Seconds()
	c.Limits, c.Abort = limitsText(p.limits()), abortText(p.Abort)
	if p.Auto != nil {
		c.Search = p.Auto.text()
	}
	if len(p.Prompts) > 0 {
		c.Params = paramsText(p.Prompts[0].Params)
	}
}

// text is "auto up to 64, tolerance 5%", with the start if one is set.
func (a Auto) text() string {
	from := ""
	if a.Start > 0 {
		from = fmt.Sprintf(" from %g", a.Start)
	}
	return fmt.Sprintf("auto%s up to %g, tolerance %s", from, a.MaxLoad, percent(a.tolerance()))
}

func limitsText(l probe.Limits) string {
	var parts []string
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"connect", l.Connect}, {"first token", l.FirstToken}, {"stall", l.Stall}, {"total", l.Total}} {
		if f.d > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", f.name, f.d))
		}
	}
	return strings.Join(parts, ", ")
}

func abortText(a roster.Abort) string {
	var parts []string
	if a.ErrorRatio > 0 {
		parts = append(parts, "errors above "+percent(a.ErrorRatio))
	}
	if a.TTFT > 0 {
		parts = append(parts, fmt.Sprintf("median TTFT above %s", a.TTFT))
	}
	if a.BystanderTTFT > 0 {
		parts = append(parts, fmt.Sprintf("TTFT of the probe beside it above %g times its median", a.BystanderTTFT))
	}
	return strings.Join(parts, ", ")
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 4, 64) + "%" }

// paramsText lists parameters as name=value in the order of their names.
func paramsText(params map[string]any) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, err := json.Marshal(shown(name, params[name]))
		if err != nil {
			value = []byte(hidden)
		}
		list = append(list, name+"="+strings.Trim(string(value), `"`))
	}
	return list
}

// hidden stands for what may be a key.
const hidden = "(not shown)"

// shown hides what roster.ShowParam says, at any depth.
func shown(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		m := map[string]any{}
		for name, x := range v {
			m[name] = shown(name, x)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = shown(name, x)
		}
		return list
	}
	if !roster.ShowParam(name, value) {
		return hidden
	}
	return value
}
