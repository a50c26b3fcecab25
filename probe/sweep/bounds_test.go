package sweep

import (
	"reflect"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
)

// TestBounds: everything that cuts a sweep short is in its conditions, and no
// text that may be a key.
func TestBounds(t *testing.T) {
	params := map[string]any{"top_k": int64(5), "temperature": 0.5, "reasoning_effort": "low", "api_key": "sk-abc123", "password": "horse", "pass_key": int64(12345), "stop": []any{"END OF TEXT", "end"},
		"chat_template_kwargs": map[string]any{"enable_thinking": false, "token": "staple"}, "odd": struct{}{}, "none": nil}
	var got capacity.Conditions
	Plan{
		Auto:          &Auto{MaxLoad: 64},
		Limits:        probe.Limits{Connect: 10 * time.Second, FirstToken: time.Minute, Stall: 30 * time.Second, Total: 5 * time.Minute},
		LevelDeadline: 90 * time.Second, MaxDuration: time.Hour, CoolDown: -1,
		Abort:   roster.Abort{ErrorRatio: 0.2, TTFT: 5 * time.Second, BystanderTTFT: 3},
		Prompts: []probe.Prompt{{Params: params}},
	}.bounds(&got)
	want := capacity.Conditions{
		Search: "auto up to 64, tolerance 5%",
		Limits: "connect 10s, first token 1m0s, stall 30s, total 5m0s",
		Abort:  "errors above 20%, median TTFT above 5s, TTFT of the probe beside it above 3 times its median",
		Params: []string{`api_key=(not shown)`, `chat_template_kwargs={"enable_thinking":false,"token":"(not shown)"}`, `none=null`, `odd=(not shown)`, `pass_key=(not shown)`,
			`password=(not shown)`, `reasoning_effort=low`, `stop=["(not shown)","end"]`, `temperature=0.5`, `top_k=5`},
		CoolDownS: probe.Some(0.0), LevelDeadlineS: 90, MaxDurationS: 3600,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	got = capacity.Conditions{}
	Plan{Auto: &Auto{Start: 0.5, MaxLoad: 8, Tolerance: 0.125}}.bounds(&got)
	want = capacity.Conditions{Search: "auto from 0.5 up to 8, tolerance 12.5%", Limits: limitsText(probe.SweepLimits()), CoolDownS: probe.Some(5.0)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
