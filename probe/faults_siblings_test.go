package probe_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"tokprobe/probe"
	"tokprobe/probe/probetest"
)

// sibling is an answer like one of the wire cases, but not one of them, with
// what the rules for them say about it: outcome, token events, text, reasoning,
// finish reason, output tokens and where they come from, prompt and cached
// tokens. What is unknown is left out.
type sibling struct {
	name, body string
	want       string
	protocol   string // empty: chat
	status     int
	header     http.Header
	end        error
}

const (
	finish     = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	tokA       = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
	tokB       = `data: {"choices":[{"index":0,"delta":{"content":"b"}}]}` + "\n\n"
	anthropicA = `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}` + "\n\n"
	anthropicZ = `data: {"type":"message_stop"}` + "\n\n"
)

func siblings() []sibling {
	var list []sibling
	list = append(list, framingSiblings()...)
	list = append(list, errorSiblings()...)
	list = append(list, statusSiblings()...)
	list = append(list, usageSiblings()...)
	return append(list, anthropicSiblings()...)
}

func framingSiblings() []sibling {
	one := "ok tokens=1 text=a"
	return []sibling{
		{name: "CR only, done without line end", body: strings.ReplaceAll(tokA, "\n", "\r") + "data: [DONE]", want: one + " out=1/chunks"},
		{name: "mixed line ends in one event", body: "data: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"a\"}}]}\r\n\ndata: [DONE]\r\r", want: one + " out=1/chunks"},
		{name: "mark, comment, CRLF", body: "\ufeff: hi\r\n\r\n" + strings.ReplaceAll(tokA+done, "\n", "\r\n"), want: one + " out=1/chunks"},
		{name: "tab after the colon", body: strings.Replace(tokA, "data: ", "data:\t", 1) + done, want: one + " out=1/chunks"},
		{name: "id, retry and unknown lines inside", body: "id: 1\nretry: 3\nx: y\n" + tokA + "id: 2\n" + done, want: one + " out=1/chunks"},
		{name: "event names", body: "event: delta\n" + tokA + "event: done\n" + done, want: one + " out=1/chunks"},
		{name: "blank data between", body: "data:\n\ndata: \n\n" + tokA + "data\n\n" + done, want: one + " out=1/chunks"},
		{name: "finish, no done, no last blank line", body: tokA + strings.TrimSpace(finish), want: one + " finish=stop out=1/chunks"},
		{name: "neither finish nor done", body: tokA + tokB, want: "truncated tokens=2 text=ab out=2/chunks"},
		{name: "cut after finish", body: tokA + finish, end: io.ErrUnexpectedEOF, want: "truncated tokens=1 text=a finish=stop out=1/chunks"},
		{name: "cut after done", body: tokA + finish + done, end: io.ErrUnexpectedEOF, want: one + " finish=stop out=1/chunks"},
		{name: "reset after done", body: tokA + done, end: syscall.ECONNRESET, want: one + " out=1/chunks"},
		{name: "reset after finish", body: tokA + finish, end: syscall.ECONNRESET, want: "reset tokens=1 text=a finish=stop out=1/chunks"},
		{name: "reset before all", end: syscall.ECONNRESET, want: "reset"},
		{name: "an empty body", want: "truncated"},
		{name: "only comments", body: ": a\n\n: b\n\n", want: "truncated"},
		{name: "only done", body: done, want: "empty"},
		{name: "role and done", body: role + done, want: "empty"},
		{name: "finish length without a token", body: strings.Replace(finish, "stop", "length", 1) + done, want: "empty finish=length"},
		{name: "words as data", body: tokA + "data: upstream died\n\n" + tokB, want: "bad_stream tokens=1 text=a out=1/chunks"},
		{name: "done twice in one event", body: tokA + "data: [DONE]\ndata: [DONE]\n\n", want: "bad_stream tokens=1 text=a out=1/chunks"},
		{name: "done as a string", body: tokA + "data: \"[DONE]\"\n\n" + tokB + done, want: "ok tokens=2 text=ab out=2/chunks"},
		{name: "half an event at the end", body: tokA + `data: {"choices":[{"del`, want: "truncated tokens=1 text=a out=1/chunks"},
		{name: "events after done", body: tokA + done + "data: garbage\n\n" + tokB, want: one + " out=1/chunks"},
		{name: "a page", body: "\n<!DOCTYPE html><html><body>data: x</body></html>", want: "bad_stream"},
		{name: "a page after a comment", body: ": ping\n\n<html>\n\n" + tokA, want: "bad_stream"},
		{name: "an answer that was not streamed", body: `{"object":"chat.completion","choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"completion_tokens":5}}`, want: "bad_stream"},
		{name: "the same with done behind", body: "{\n \"choices\": [{\"message\": {\"content\": \"a\"}}]\n}\n\n" + done, want: "bad_stream"},
		{name: "two megabytes in a line", body: `data: {"pad":"` + strings.Repeat("p", 2<<20) + `","choices":[{"delta":{"content":"a"}}]}` + "\n\n" + done, want: one + " out=1/chunks"},
		{name: "gzip without being told", body: squeezedText(tokA + finish + done), header: http.Header{"Content-Encoding": {"X-GZIP"}}, want: one + " finish=stop out=1/chunks"},
		{name: "gzip that is none", body: tokA + done, header: http.Header{"Content-Encoding": {"gzip"}}, want: "bad_stream"},
		{name: "content type of a page", body: tokA + done, header: http.Header{"Content-Type": {"text/html"}}, want: one + " out=1/chunks"},
		{name: "status 201", status: 201, body: tokA + done, want: one + " out=1/chunks"},
		{name: "refused by the filter at the end", body: tokA + strings.Replace(finish, "stop", "content_filter", 1) + done, want: "content_filter tokens=1 text=a finish=content_filter out=1/chunks"},
		{name: "empty finish after a real one", body: tokA + finish + strings.Replace(finish, `"stop"`, `""`, 1) + done, want: one + " finish=stop out=1/chunks"},
		{name: "two finish reasons", body: tokA + strings.Replace(finish, "stop", "length", 1) + finish + done, want: one + " finish=stop out=1/chunks"},
		{name: "choices null, missing, empty", body: `data: {"choices":null}` + "\n\ndata: {}\n\n" + `data: {"choices":[]}` + "\n\n" + tokA + done, want: one + " out=1/chunks"},
		{name: "choice 1 first", body: `data: {"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"}}]}` + "\n\n" + done, want: one + " out=1/chunks"},
		{name: "choice 1 alone speaks", body: `data: {"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":"length"}]}` + "\n\n" + done, want: "ok tokens=1 out=1/chunks"},
		{name: "white space is a token", body: strings.Replace(tokA, `"a"`, `" "`, 1) + done, want: "ok tokens=1 text=  out=1/chunks"},
		{name: "tool arguments alone", body: `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":""}}]}}]}` + "\n\n" + `data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{}"}}]}}]}` + "\n\n" + done, want: "ok tokens=1 out=1/chunks"},
		{name: "tool name alone", body: `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f"}}]}}]}` + "\n\n" + done, want: "empty"},
		{name: "one thought, two names", body: `data: {"choices":[{"delta":{"reasoning":"h","reasoning_content":"h"}}]}` + "\n\n" + done, want: "ok tokens=1 reasoning=h out=1/chunks"},
		{name: "completions", protocol: "openai-completions", body: `data: {"choices":[{"text":"a","index":0}]}` + "\n\n" + `data: {"choices":[{"text":"","finish_reason":"length"}]}` + "\n\n" + done, want: one + " finish=length out=1/chunks"},
		{name: "completions with deltas", protocol: "openai-completions", body: tokA + done, want: "empty"},
	}
}

func errorSiblings() []sibling {
	const before = " tokens=1 text=a out=1/chunks"
	return []sibling{
		{name: "error, code 429 as a number", body: tokA + `data: {"error":{"message":"m","code":429}}` + "\n\n" + tokB, want: "rate_limited" + before},
		{name: "error, code 429 as a text", body: `data: {"error":{"code":"429"}}` + "\n\n", want: "rate_limited"},
		{name: "error, type names a rate limit", body: `data: {"error":{"type":"rate_limit_error"}}` + "\n\n", want: "rate_limited"},
		{name: "error, code names a rate limit", body: `data: {"error":{"code":"rate_limit_exceeded","type":"x"}}` + "\n\n", want: "rate_limited"},
		{name: "error, code 503", body: `data: {"error":{"code":503}}` + "\n\n", want: "overloaded"},
		{name: "error, code 529", body: `data: {"error":{"code":"529"}}` + "\n\n", want: "overloaded"},
		{name: "error, overloaded type", body: `data: {"error":{"type":"engine_overloaded_error"}}` + "\n\n", want: "overloaded"},
		{name: "error, content filter", body: tokA + `data: {"error":{"code":"content_filter"}}` + "\n\n", want: "content_filter" + before},
		{name: "error, type content_filter only", body: `data: {"error":{"type":"content_filter","code":"400"}}` + "\n\n", want: "stream_error"},
		{name: "error, code model_not_found", body: `data: {"error":{"code":"model_not_found"}}` + "\n\n", want: "stream_error"},
		{name: "error, code 401", body: `data: {"error":{"code":401,"message":"bad key"}}` + "\n\n", want: "stream_error"},
		{name: "error, code 500", body: tokA + `data: {"error":{"code":500}}` + "\n\n" + done, want: "stream_error" + before},
		{name: "error as words", body: `data: {"error":"CUDA out of memory"}` + "\n\n", want: "stream_error"},
		{name: "error empty", body: `data: {"error":{}}` + "\n\n" + done, want: "stream_error"},
		{name: "error null beside a token", body: strings.Replace(tokA, "{", `{"error":null,`, 1) + done, want: "ok" + before},
		{name: "object error", body: `data: {"object":"error","message":"m","code":40303}` + "\n\n", want: "stream_error"},
		{name: "type error", body: `data: {"type":"error","code":429}` + "\n\n", want: "rate_limited"},
		{name: "code and message", body: tokA + `data: {"code":"InternalError","message":"m","request_id":"r"}` + "\n\n", want: "stream_error" + before},
		{name: "code and message beside choices", body: strings.Replace(tokA, "{", `{"code":0,"message":"","error":null,`, 1) + done, want: "ok" + before},
		{name: "event error", body: "event: error\n" + `data: {"error":{"type":"overloaded_error"}}` + "\n\n", want: "overloaded"},
		{name: "event error with a list", body: "event: error\n" + `data: [{"error":{"code":429}}]` + "\n\n", want: "rate_limited"},
		{name: "field error", body: tokA + `error: {"code":503,"message":"slot unavailable"}` + "\n\n", want: "overloaded" + before},
		{name: "field error without a space", body: `error:{"message":"m"}` + "\n", want: "stream_error"},
		{name: "line between events", body: tokA + `{"error":{"code":429}}` + "\n" + tokB, want: "rate_limited" + before},
		{name: "pretty lines after events, CRLF", body: tokA + "{\r\n  \"error\": {\r\n    \"code\": 503\r\n  }\r\n}\r\n", want: "overloaded" + before},
		{name: "whole body, a list", body: `[{"error":{"code":503}}]`, want: "overloaded"},
		{name: "whole body after a mark", body: "\ufeff" + `{"object":"error","message":"m"}`, want: "stream_error"},
		{name: "whole body, then done", body: `{"error":"m"}` + "\n\n" + done, want: "stream_error"},
		{name: "error inside a chunk with a token", body: `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"error"}],"error":{"code":502}}` + "\n\n", want: "stream_error tokens=1 text=a finish=error out=1/chunks"},
		{name: "error after done", body: tokA + done + `data: {"error":{"code":429}}` + "\n\n", want: "ok" + before},
	}
}

func statusSiblings() []sibling {
	var list []sibling
	for status, want := range map[int]string{
		301: "redirect", 304: "redirect", 308: "redirect", 400: "bad_request", 401: "auth", 402: "bad_request", 403: "auth", 404: "not_found",
		405: "bad_request", 408: "server_error", 413: "bad_request", 422: "bad_request", 429: "rate_limited", 499: "bad_request", 500: "server_error",
		501: "server_error", 502: "server_error", 503: "overloaded", 504: "server_error", 524: "server_error", 529: "overloaded",
	} {
		list = append(list, sibling{name: fmt.Sprint("status ", status), status: status, body: "<html>no</html>", want: want})
	}
	return append(list,
		sibling{name: "400 of the filter", status: 400, body: `{"error":{"code":"content_filter","message":"m"}}`, want: "content_filter"},
		sibling{name: "503 of an unknown model", status: 503, body: `{"error":{"code":"model_not_found","message":"no channel"}}`, want: "not_found"},
		sibling{name: "403 of an unknown model in a list", status: 403, body: `[{"error":{"code":"model_not_found"}}]`, want: "not_found"},
		sibling{name: "500 that names a rate limit", status: 500, body: `{"error":{"code":"rate_limit_exceeded"}}`, want: "server_error"},
		sibling{name: "400 with a stream", status: 400, body: tokA + done, want: "bad_request"},
		sibling{name: "429 that names a filter in words", status: 429, body: `{"error":"content_filter"}`, want: "rate_limited"},
		sibling{name: "compressed 400", status: 400, header: http.Header{"Content-Encoding": {"gzip"}}, body: squeezedText(`{"error":{"code":"content_filter"}}`), want: "content_filter"},
	)
}

func usageSiblings() []sibling {
	use := func(members string) string { return `data: {"choices":[],"usage":{` + members + `}}` + "\n\n" }
	return []sibling{
		{name: "usage before the tokens", body: use(`"prompt_tokens":3,"completion_tokens":2`) + tokA + done, want: "ok tokens=1 text=a out=2/usage prompt=3"},
		{name: "running totals", body: use(`"completion_tokens":1`) + tokA + use(`"completion_tokens":7,"prompt_tokens":4`) + done, want: "ok tokens=1 text=a out=7/usage prompt=4"},
		{name: "usage null last", body: tokA + use(`"completion_tokens":7`) + `data: {"usage":null}` + "\n\n" + done, want: "ok tokens=1 text=a out=7/usage"},
		{name: "a count of 0", body: tokA + tokB + use(`"completion_tokens":0,"prompt_tokens":0`) + done, want: "ok tokens=2 text=ab out=2/chunks"},
		{name: "cached in details", body: tokA + use(`"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0}`) + done, want: "ok tokens=1 text=a out=1/usage prompt=9 cached=0"},
		{name: "cache hits", body: tokA + use(`"prompt_tokens":9,"prompt_cache_hit_tokens":8`) + done, want: "ok tokens=1 text=a out=1/chunks prompt=9 cached=8"},
		{name: "usage beside the finish", body: tokA + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":4}}` + "\n\n", want: "ok tokens=1 text=a finish=stop out=4/usage"},
		{name: "usage, then truncated", body: tokA + use(`"completion_tokens":4`), want: "truncated tokens=1 text=a out=4/usage"},
		{name: "usage after done", body: tokA + done + use(`"completion_tokens":4`), want: "ok tokens=1 text=a out=1/chunks"},
	}
}

func anthropicSiblings() []sibling {
	start := func(usage string) string {
		return `data: {"type":"message_start","message":{"usage":{` + usage + `}}}` + "\n\n"
	}
	delta := func(stop, usage string) string {
		return `data: {"type":"message_delta","delta":{"stop_reason":` + stop + `},"usage":{` + usage + `}}` + "\n\n"
	}
	list := []sibling{
		{name: "plain", body: start(`"input_tokens":5,"output_tokens":1`) + anthropicA + delta(`"end_turn"`, `"output_tokens":9`) + anthropicZ, want: "ok tokens=1 text=a finish=end_turn out=9/usage prompt=5"},
		{name: "cache", body: start(`"input_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":2,"output_tokens":1`) + anthropicA + anthropicZ, want: "ok tokens=1 text=a out=1/chunks prompt=14 cached=7"},
		{name: "input in both", body: start(`"input_tokens":5`) + anthropicA + delta(`"end_turn"`, `"input_tokens":6,"cache_read_input_tokens":1,"output_tokens":2`) + anthropicZ, want: "ok tokens=1 text=a finish=end_turn out=2/usage prompt=7 cached=1"},
		{name: "done instead of stop", body: anthropicA + done, want: "ok tokens=1 text=a out=1/chunks"},
		{name: "stop reason and end", body: anthropicA + delta(`"max_tokens"`, `"output_tokens":3`), want: "ok tokens=1 text=a finish=max_tokens out=3/usage"},
		{name: "no stop", body: anthropicA + delta(`null`, `"output_tokens":3`), want: "truncated tokens=1 text=a out=3/usage"},
		{name: "refusal", body: anthropicA + delta(`"refusal"`, `"output_tokens":3`) + anthropicZ, want: "content_filter tokens=1 text=a finish=refusal out=3/usage"},
		{name: "named stop, other type", body: anthropicA + "event: message_stop\n" + `data: {"type":"ping"}` + "\n\n", want: "truncated tokens=1 text=a out=1/chunks"},
		{name: "pings and signature", body: `data: {"type":"ping"}` + "\n\n" + `data: {"type":"content_block_delta","delta":{"type":"signature_delta","signature":"s"}}` + "\n\n" + anthropicZ, want: "empty"},
		{name: "thinking only", body: `data: {"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"h"}}` + "\n\n" + anthropicZ, want: "ok tokens=1 reasoning=h out=1/chunks"},
		{name: "tool input", body: `data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{}"}}` + "\n\n" + anthropicZ, want: "ok tokens=1 out=1/chunks"},
		{name: "rate limit", body: anthropicA + "event: error\n" + `data: {"type":"error","error":{"type":"rate_limit_error"}}` + "\n\n", want: "rate_limited tokens=1 text=a out=1/chunks"},
		{name: "api error", body: `data: {"type":"error","error":{"type":"api_error"}}` + "\n\n" + anthropicZ, want: "stream_error"},
		{name: "cut after stop", body: anthropicA + anthropicZ, end: io.ErrUnexpectedEOF, want: "ok tokens=1 text=a out=1/chunks"},
		{name: "not streamed", body: `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}`, want: "bad_stream"},
	}
	for i := range list {
		list[i].protocol, list[i].name = "anthropic-messages", "anthropic, "+list[i].name
	}
	return list
}

func squeezedText(s string) string {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	io.WriteString(z, s)
	_ = z.Close()
	return buf.String()
}

// TestSiblings holds the rules of the wire cases on answers that are none of
// them, whole and in pieces of three bytes.
func TestSiblings(t *testing.T) {
	list := siblings()
	for _, c := range list {
		for _, size := range []int{1 << 30, 3} {
			if size == 3 && len(c.body) > 4096 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				s := spec()
				s.Protocol, s.KeepText = c.protocol, true
				script := &probetest.Script{Status: c.status, Header: c.header, End: c.end}
				for body := c.body; body != ""; {
					n := min(size, len(body))
					script.Steps = append(script.Steps, probetest.Step{Data: body[:n]})
					body = body[n:]
				}
				r := endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: script}).Probe(t.Context(), s)
				if got := resultLine(r); got != c.want {
					t.Errorf("%s: got %q (%s), want %q", c.name, got, r.Err, c.want)
				}
			})
		}
	}
	if len(list) < 60 {
		t.Errorf("only %d siblings", len(list))
	}
	t.Logf("%d siblings", len(list))
}

func resultLine(r probe.Result) string {
	out := []string{string(r.Outcome)}
	add := func(name string, v any, some bool) {
		if some {
			out = append(out, fmt.Sprintf("%s=%v", name, v))
		}
	}
	add("tokens", r.Chunks, r.Chunks > 0)
	add("text", r.Text, r.Text != "")
	add("reasoning", r.ReasoningText, r.ReasoningText != "")
	add("finish", r.FinishReason, r.FinishReason != "")
	add("out", fmt.Sprint(r.OutputTokens.V, "/", r.OutputTokensSource), r.OutputTokens.OK && r.Chunks > 0)
	add("prompt", r.PromptTokens.V, r.PromptTokens.OK)
	add("cached", r.CachedTokens.V, r.CachedTokens.OK)
	return strings.Join(out, " ")
}
