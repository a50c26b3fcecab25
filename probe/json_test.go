package probe

import (
	"encoding/json"
	"testing"
	"time"
)

func TestSecondsAreRoundedToTheMicrosecondWithoutExponent(t *testing.T) {
	for _, test := range []struct {
		give time.Duration
		want string
	}{
		{0, "0"},
		{time.Nanosecond, "0"},
		{500 * time.Nanosecond, "0.000001"},
		{time.Microsecond, "0.000001"},
		{20*time.Millisecond + 499*time.Nanosecond, "0.02"},
		{20*time.Millisecond + 501*time.Nanosecond, "0.020001"},
		{1234567891 * time.Nanosecond, "1.234568"},
		{999999500 * time.Nanosecond, "1"},
		{100 * time.Second, "100"},
		{-1500 * time.Microsecond, "-0.0015"},
		{1 << 62, "4611686018.427388"},
	} {
		got, err := json.Marshal(seconds(test.give))
		if err != nil || string(got) != test.want {
			t.Errorf("%d ns: got %s, %v; want %s", test.give, got, err, test.want)
		}
	}
}

func TestResultJSONOfAGoodProbe(t *testing.T) {
	ms := func(n time.Duration) Opt[time.Duration] { return Some(n * time.Millisecond) }
	r := Result{
		ID:       ID{Target: "vllm-a", Model: "qwen", Probe: "chat"},
		Start:    time.Date(2026, 1, 2, 5, 4, 5, 67_800_000, time.FixedZone("", 2*3600)),
		Protocol: "openai-chat", Outcome: OK, HTTPStatus: 200, HTTPVersion: "1.1",
		Setup: ms(3), TTFT: ms(200), FirstContent: ms(230), TPOT: Some(12345678 * time.Nanosecond),
		E2E: ms(990), Tail: ms(12), MaxGap: ms(40), Gaps: []time.Duration{1, 2},
		Phases: Phases{Connect: ms(2), Send: Some(time.Duration(0)), Headers: ms(150)},
		Chunks: 64, OutputTokens: Some(int64(64)), OutputTokensSource: "usage",
		PromptTokens: Some(int64(31)), CachedTokens: Some(int64(0)),
		FinishReason: "length", RequestID: "req-1", ServedModel: "qwen-2", Reused: true,
		StaleConnections: 1, Coalesced: true, Warnings: []string{"w"}, ClientLag: 2 * time.Millisecond,
		Text: "a<b", ReasoningText: "hm",
	}
	const want = `{"time":"2026-01-02T03:04:05.067Z","target":"vllm-a","model":"qwen","probe":"chat",` +
		`"protocol":"openai-chat","outcome":"ok","http_status":200,"http_version":"1.1","setup_s":0.003,` +
		`"ttft_s":0.2,"first_content_s":0.23,"tpot_s":0.012346,"e2e_s":0.99,"tail_s":0.012,"max_gap_s":0.04,` +
		`"chunks":64,"output_tokens":64,"output_tokens_source":"usage","prompt_tokens":31,"cached_tokens":0,` +
		`"finish_reason":"length","request_id":"req-1","served_model":"qwen-2","connection":"reused",` +
		`"stale_connections":1,"coalesced":true,"client_lag_s":0.002,` +
		`"phases":{"connect_s":0.002,"send_s":0,"headers_s":0.15},"warnings":["w"],"text":"a\u003cb","reasoning_text":"hm"}`
	got, err := json.Marshal(r)
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestResultJSONLeavesOutWhatIsUnknown(t *testing.T) {
	id := ID{Target: "a", Model: "m"}
	for _, test := range []struct {
		name string
		give Result
		want string
	}{
		{
			"no connection, hence nothing but the failure",
			Result{ID: id, Outcome: Connect, Err: "refused", Hint: "is it running?", Phases: Phases{DNS: Some(time.Millisecond)}},
			`{"target":"a","model":"m","outcome":"connect","error":"refused","hint":"is it running?","coalesced":false,"phases":{"dns_s":0.001}}`,
		},
		{
			"a response without a token: no output tokens, no chunks that were counted but 0",
			Result{ID: id, Outcome: RateLimited, HTTPStatus: 429, OutputTokens: Some(int64(0)), OutputTokensSource: "chunks", RetryAfter: Some(20 * time.Second)},
			`{"target":"a","model":"m","outcome":"rate_limited","http_status":429,"chunks":0,"connection":"fresh","coalesced":false,"retry_after_s":20}`,
		},
		{
			"usage without a token event is known",
			Result{ID: id, Outcome: Empty, HTTPStatus: 200, OutputTokens: Some(int64(16)), OutputTokensSource: "usage", FinishReason: "length"},
			`{"target":"a","model":"m","outcome":"empty","http_status":200,"chunks":0,"output_tokens":16,"output_tokens_source":"usage","finish_reason":"length","connection":"fresh","coalesced":false}`,
		},
		{
			"connected but silent",
			Result{ID: id, Outcome: TimeoutFirstToken, Setup: Some(time.Millisecond)},
			`{"target":"a","model":"m","outcome":"timeout_first_token","setup_s":0.001,"connection":"fresh","coalesced":false}`,
		},
	} {
		got, err := json.Marshal(test.give)
		if err != nil || string(got) != test.want {
			t.Errorf("%s:\ngot  %s, %v\nwant %s", test.name, got, err, test.want)
		}
	}
}
