package wire

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// rule is one body, which ends properly, and what must come out: token events,
// text of choice 0, its reasoning, finish reason, usage and how it ended. What
// is empty is left out.
type rule struct{ name, give, want string }

func chunkText(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + "\n\n"
}

const (
	doneLine   = "data: [DONE]\n\n"
	finishLine = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
)

func delta(members string) string {
	return `data: {"choices":[{"index":0,"delta":{` + members + `}}]}` + "\n\n" + doneLine
}

func usageEvent(members string) string {
	return `data: {"choices":[],"usage":{` + members + `}}` + "\n\n" + doneLine
}

var chatRules = []rule{
	// Framing.
	{"LF", chunkText("a") + doneLine, `tokens=1 text="a" complete`},
	{"CR alone", strings.ReplaceAll(chunkText("a")+chunkText("b")+doneLine, "\n", "\r"), `tokens=2 text="ab" complete`},
	{"CRLF", strings.ReplaceAll(chunkText("a")+chunkText("b")+doneLine, "\n", "\r\n"), `tokens=2 text="ab" complete`},
	{"LF CR ends two lines", strings.ReplaceAll(chunkText("a")+doneLine, "\n\n", "\n\r"), `tokens=1 text="a" complete`},
	{"CR then LF is one line end", `data: {"choices":[]` + "\r\n" + `data: }` + "\r\n\r\n" + doneLine, `complete`},
	{"byte order mark", "\uFEFF" + chunkText("a") + doneLine, `tokens=1 text="a" complete`},
	{"two byte order marks", "\uFEFF\uFEFF" + chunkText("a") + chunkText("b") + doneLine, `tokens=1 text="b" complete`},
	{"comments", ": x\n\n:\n\n" + chunkText("a") + ":data: y\n" + doneLine, `tokens=1 text="a" complete`},
	{"comment inside an event", `data: {"choices":[{"delta":` + "\n: ping\n" + `data: {"content":"a"}}]}` + "\n\n" + doneLine, `tokens=1 text="a" complete`},
	{"no space, one space, two", `data:{"choices":[{"delta":{"content":"a"}}]}` + "\n\ndata:  [DONE]\n\n", `tokens=1 text="a" complete`},
	{"data over several lines", "data: {\"choices\":\ndata: [{\"delta\":\ndata:\ndata: {\"content\":\"a\"}}]}\n\n" + doneLine, `tokens=1 text="a" complete`},
	{"two objects in one event", `data: {"choices":[]}` + "\n" + chunkText("a"), `format: data that is not JSON`},
	{"unknown fields, id, retry", "id: 7\nretry: 10\nfoo: bar\nbaz\ndatax: 1\n dat: 2\n" + chunkText("a") + doneLine, `tokens=1 text="a" complete`},
	{"indented data is another field", " " + chunkText("a") + doneLine, `complete`},
	{"blanks are no blank line", `data: {"choices":[` + "\n \t\n" + `data: ]}` + "\n\n" + doneLine, `complete`},
	{"data without a value", "data\n\ndata:\n\ndata: \n\ndata:   \n\n" + chunkText("a") + doneLine, `tokens=1 text="a" complete`},
	{"event names do not matter", "event: anything\n" + chunkText("a") + "event\n" + doneLine, `tokens=1 text="a" complete`},

	// The end of the body.
	{"nothing", "", `truncated`},
	{"blank lines", "\n\r\n\n", `truncated`},
	{"comments only", ": ping\n\n: ping\n\n", `truncated`},
	{"done", doneLine, `complete`},
	{"done without blank line", chunkText("a") + "data: [DONE]\n", `tokens=1 text="a" complete`},
	{"done without line end", chunkText("a") + "data: [DONE]", `tokens=1 text="a" complete`},
	{"done with blanks", chunkText("a") + "data: [DONE] \t\n\n", `tokens=1 text="a" complete`},
	{"done with blank data", "data: [DONE]\ndata:\n\n", `complete`},
	{"done in lower case", "data: [done]\n\n", `format: data that is not JSON`},
	{"done and more", "data: [DONE]\ndata: x\n\n", `format: data that is not JSON`},
	{"done outside a field", chunkText("a") + "[DONE]\n\n", `tokens=1 text="a" truncated`},
	{"after done", doneLine + chunkText("a") + "data: junk\n\n", `complete`},
	{"finish reason", chunkText("a") + finishLine, `tokens=1 text="a" finish="stop" complete`},
	{"no finish reason", chunkText("a"), `tokens=1 text="a" truncated`},
	{"empty finish reason", `data: {"choices":[{"delta":{"content":"a"},"finish_reason":""}]}` + "\n\n", `tokens=1 text="a" truncated`},
	{"empty one after a real one", finishLine + `data: {"choices":[{"delta":{},"finish_reason":""}]}` + "\n\n", `finish="stop" complete`},
	{"finish reason of another choice", `data: {"choices":[{"index":1,"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n", `tokens=1 truncated`},
	{"last token without line end", strings.TrimSpace(chunkText("a")), `tokens=1 text="a" truncated`},
	{"last finish without line end", chunkText("a") + strings.TrimSpace(finishLine), `tokens=1 text="a" finish="stop" complete`},
	{"half an event", chunkText("a") + `data: {"choices":[{"delta":{"content":"b`, `tokens=1 text="a" truncated`},
	{"half an event after the finish", finishLine + `data: {"id`, `finish="stop" complete`},
	{"half a done", chunkText("a") + `data: [DO`, `tokens=1 text="a" truncated`},
	{"junk without line end", chunkText("a") + `data: junk`, `tokens=1 text="a" format: data that is not JSON`},
	{"half a field name", finishLine + `dat`, `finish="stop" complete`},

	// What a token is.
	{"line feed is a token", delta(`"content":"\n"`), `tokens=1 text="\n" complete`},
	{"space is a token", delta(`"content":" "`), `tokens=1 text=" " complete`},
	{"role alone", delta(`"role":"assistant"`), `complete`},
	{"empty and null", delta(`"content":"","reasoning_content":null,"tool_calls":null`), `complete`},
	{"content of another type", delta(`"content":17`), `complete`},
	{"content as parts", delta(`"content":[{"type":"text","text":"a"},null,{"text":"\u0062"},{"type":"image"}]`), `tokens=1 text="ab" complete`},
	{"thinking parts", delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`), `tokens=1 reasoning="hm" complete`},
	{"reasoning_content", delta(`"reasoning_content":"hm"`), `tokens=1 reasoning="hm" complete`},
	{"reasoning", delta(`"reasoning":"hm"`), `tokens=1 reasoning="hm" complete`},
	{"one thought under two names", delta(`"reasoning":"hm","reasoning_content":"hm"`), `tokens=1 reasoning="hm" complete`},
	{"the other name empty", delta(`"reasoning_content":"","reasoning":"hm"`), `tokens=1 reasoning="hm" complete`},
	{"tool call name", delta(`"tool_calls":[{"function":{"name":"f","arguments":""}}]`), `complete`},
	{"tool call arguments", delta(`"tool_calls":[null,{"id":"x"},{"function":{"arguments":"{","name":"f"}}]`), `tokens=1 complete`},
	{"arguments as an object", delta(`"tool_calls":[{"function":{"arguments":{"a":1}}}]`), `complete`},
	{"choices of other types", `data: {"choices":[null,1,"x",[],{}]}` + "\n\n" + `data: {"choices":{}}` + "\n\n" + `data: {"choices":"x"}` + "\n\n" + doneLine, `complete`},
	{"delta of other types", `data: {"choices":[{"delta":null}]}` + "\n\n" + `data: {"choices":[{"delta":[{"content":"a"}]}]}` + "\n\n" + `data: {"choices":[{"delta":"a"}]}` + "\n\n" + doneLine, `complete`},
	{"message is no delta", `data: {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n" + doneLine, `finish="stop" complete`},
	{"any order, unknown members", `data: {"x":{"choices":[{"delta":{"content":"no"}}]},"choices":[{"finish_reason":"stop","y":[1,{}],"delta":{"z":null,"content":"a"},"index":0}],"id":"i"}` + "\n\n", `tokens=1 text="a" finish="stop" complete`},
	{"names with escapes", `data: {"cho\u0069ces":[{"d\u0065lta":{"content":"a"}}]}` + "\n\n" + doneLine, `tokens=1 text="a" complete`},
	{"escapes in text", delta(`"content":"\"\u00e9\ud83c\udf0d\\"`), `tokens=1 text="\"é🌍\\" complete`},
	{"two choices in one event", `data: {"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"\u0061"}},{"index":0,"delta":{"content":"c"}}]}` + "\n\n" + doneLine, `tokens=1 text="ac" complete`},
	{"choices without index", `data: {"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}` + "\n\n" + doneLine, `tokens=1 text="a" complete`},

	// Data that is JSON but no chunk, and data that is not JSON.
	{"JSON of other types", "data: 1\n\ndata: \"x\"\n\ndata: null\n\ndata: true\n\ndata: []\n\ndata: [1]\n\n" + doneLine, `complete`},
	{"words", chunkText("a") + "data: upstream gone\n\n" + doneLine, `tokens=1 text="a" format: data that is not JSON`},
	{"words called error", "event: error\ndata: upstream gone\n\n", `format: data that is not JSON`},
	{"a NUL byte", "data: {\"choices\":[]\x00}\n\n" + doneLine, `format: data that is not JSON`},
	{"invalid far behind the text", `data: {"choices":[{"delta":{"content":"a"}}],"x":[1,}` + "\n\n" + doneLine, `format: data that is not JSON`},

	// Usage.
	{"usage", usageEvent(`"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}`), `usage=9/3/4/2 complete`},
	{"zeros", usageEvent(`"prompt_tokens":0,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}`), `usage=-/0/0/0 complete`},
	{"cache hits", usageEvent(`"prompt_cache_hit_tokens":8`), `usage=-/-/8/- complete`},
	{"details win over cache hits", usageEvent(`"prompt_cache_hit_tokens":8,"prompt_tokens_details":{"cached_tokens":7}`), `usage=-/-/7/- complete`},
	{"null details", usageEvent(`"prompt_tokens":9,"prompt_tokens_details":null,"completion_tokens_details":[]`), `usage=9/-/-/- complete`},
	{"whole floats", usageEvent(`"prompt_tokens":9.0,"completion_tokens":3.00`), `usage=9/3/-/- complete`},
	{"other numbers", usageEvent(`"prompt_tokens":-9,"completion_tokens":3.5,"prompt_tokens_details":{"cached_tokens":"4"},"completion_tokens_details":{"reasoning_tokens":1e2}`), `complete`},
	{"huge numbers", usageEvent(`"prompt_tokens":99999999999999999999999999,"completion_tokens":1e400`), `complete`},
	{"null and other types", `data: {"usage":null}` + "\n\n" + `data: {"usage":[]}` + "\n\n" + `data: {"usage":{}}` + "\n\n" + doneLine, `complete`},

	// Error objects.
	{"error", chunkText("a") + `data: {"error":{"message":"m","type":"t","param":"p","code":"c"}}` + "\n\n" + chunkText("b"), `tokens=1 text="a" error object stream_error type="t" code="c" param="p" message="m"`},
	{"error string", `data: {"error":"m"}` + "\n\n", `error object stream_error type="" code="" param="" message="m"`},
	{"empty error", `data: {"error":{}}` + "\n\n", `error object stream_error type="" code="" param="" message=""`},
	{"empty error string", `data: {"error":""}` + "\n\n", `error object stream_error type="" code="" param="" message=""`},
	{"empty error string in a chunk", `data: {"error":"","choices":[{"delta":{"content":"a"}}]}` + "\n\n" + doneLine, `tokens=1 text="a" complete`},
	{"null error", `data: {"error":null,"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + `data: {"error":null}` + "\n\n" + doneLine, `tokens=1 text="a" complete`},
	{"error inside a chunk", `data: {"error":{"code":502},"choices":[{"delta":{"content":"a"},"finish_reason":"error"}]}` + "\n\n" + doneLine, `tokens=1 text="a" finish="error" error object stream_error type="" code="502" param="" message=""`},
	{"object error", `data: {"object":"error","message":"m","type":"t","code":400}` + "\n\n", `error object stream_error type="t" code="400" param="" message="m"`},
	{"type error", `data: {"type":"error","message":"m"}` + "\n\n", `error object stream_error type="" code="" param="" message="m"`},
	{"code and message", `data: {"code":"x","message":"m"}` + "\n\n", `error object stream_error type="" code="x" param="" message="m"`},
	{"code and message without choices", `data: {"code":1,"message":"m","choices":[]}` + "\n\n", `error object stream_error type="" code="1" param="" message="m"`},
	{"code and message beside choices", `data: {"code":0,"message":"ok","choices":[{"delta":{"content":"a"}}]}` + "\n\n" + doneLine, `tokens=1 text="a" complete`},
	{"code alone, message alone", `data: {"code":1}` + "\n\n" + `data: {"message":"m"}` + "\n\n" + doneLine, `complete`},
	{"list of errors", `data: [{"error":{"code":429,"message":"m"}}]` + "\n\n", `error object rate_limited type="" code="429" param="" message="m"`},
	{"list whose second is an error", `data: [{},{"error":{"code":429}}]` + "\n\n" + doneLine, `complete`},
	{"event called error", "event: error\n" + `data: {"message":"m"}` + "\n\n", `error object stream_error type="" code="" param="" message="m"`},
	{"text in an event called error", "event: error\ndata: \"m\"\n\n", `error object stream_error type="" code="" param="" message="m"`},
	{"the name lasts one event", "event: error\n\n" + `data: {"message":"m"}` + "\n\n" + doneLine, `complete`},
	{"outer fields", `data: {"error":"m","code":429}` + "\n\n", `error object rate_limited type="" code="429" param="" message="m"`},
	{"long and dirty message", `data: {"error":"a\u0000\n\u001b[31mb` + strings.Repeat("x", 5000) + `"}` + "\n\n", `error object stream_error type="" code="" param="" message="a [31mb` + strings.Repeat("x", maxMessage-8) + `"`},

	// Errors outside events.
	{"field error", chunkText("a") + `error: {"code":500,"message":"m","type":"server_error"}` + "\n\n", `tokens=1 text="a" error object stream_error type="server_error" code="500" param="" message="m"`},
	{"field error, wrapped", `error:{"error":{"code":503,"message":"m"}}` + "\n", `error object overloaded type="" code="503" param="" message="m"`},
	{"field error over lines", "error: {\n  \"message\": \"m\"\n}\n\n", `error object stream_error type="" code="" param="" message="m"`},
	{"field error in words", chunkText("a") + "error: out of memory\n" + chunkText("b"), `tokens=1 text="a" error object stream_error type="" code="" param="" message="out of memory"`},
	{"field error, a number", "error: 500\n\n", `error object stream_error type="" code="" param="" message="500"`},
	{"field error null or empty", "error: false\nerror: null\nerror:\nerror: \nerror\n\n" + chunkText("a") + doneLine, `tokens=1 text="a" complete`},
	{"line between events", chunkText("a") + `{"error":{"message":"m"}}` + "\n\n" + chunkText("b"), `tokens=1 text="a" error object stream_error type="" code="" param="" message="m"`},
	{"pretty-printed between events", chunkText("a") + "{\n  \"error\": {\n\n    \"message\": \"m}\",\r\n    \"code\": null\n  }\n}\n" + chunkText("b"), `tokens=1 text="a" error object stream_error type="" code="" param="" message="m}"`},
	{"pretty-printed flush left", chunkText("a") + "{\n\"error\":\n{\n\"code\":\nnull\n}\n}", `tokens=1 text="a" error object stream_error type="" code="" param="" message=""`},
	{"no blank line before it", strings.TrimSuffix(chunkText("a"), "\n") + `{"error":"m"}` + "\n", `tokens=1 text="a" error object stream_error type="" code="" param="" message="m"`},
	{"half a chunk before it", "data: {\n" + `{"error":"m"}` + "\n", `error object stream_error type="" code="" param="" message="m"`},
	{"done before it, without blank line", "data: [DONE]\n" + `{"error":"m"}` + "\n", `complete`},
	{"whole body", `{"error":{"message":"m"}}`, `error object stream_error type="" code="" param="" message="m"`},
	{"whole body, pretty-printed after blanks", "\n\r\n  {\n\t\"object\": \"error\",\n\t\"message\": \"m\"\n}\n", `error object stream_error type="" code="" param="" message="m"`},
	{"whole body, a list", `[{"error":{"code":503,"status":"UNAVAILABLE","message":"m"}}]`, `error object overloaded type="" code="503" param="" message="m"`},
	{"whole body, with done", "{\"error\":\"m\"}\ndata: [DONE]\n\n", `error object stream_error type="" code="" param="" message="m"`},
	{"whole body after comments", ": ping\n\n{\"error\":\"m\"}", `error object stream_error type="" code="" param="" message="m"`},
	{"JSON between events", chunkText("a") + "{\"x\":1}\n[1,2]\n" + chunkText("b") + doneLine, `tokens=2 text="ab" complete`},
	{"brackets that never close", chunkText("a") + "{ oops\n" + chunkText("b") + doneLine, `tokens=2 text="ab" complete`},
	{"a string that never closes", chunkText("a") + "{\"oops\n" + chunkText("b") + doneLine, `tokens=2 text="ab" complete`},

	// No event stream.
	{"JSON answer", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, `format: a JSON answer that was not streamed`},
	{"JSON answer, pretty-printed", "{\n \"choices\": [\n  {\"message\": {\"content\": \"a\"}}\n ]\n}\n", `format: a JSON answer that was not streamed`},
	{"JSON answer with done", "{\"choices\":[]}\n\ndata: [DONE]\n\n", `format: a JSON answer that was not streamed`},
	{"JSON answer after a comment", ": ping\n\n{\"choices\":[]}", `format: a JSON answer that was not streamed`},
	{"JSON answer cut short", "{\"choices\":[", `format: JSON that does not end instead of an event stream`},
	{"chunks without fields", "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n{\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n", `format: a JSON answer that was not streamed`},
	{"a list", "[]", `format: a JSON answer that was not streamed`},
	{"HTML", "<!DOCTYPE html>\n<html>data: [DONE]\n\n</html>", `format: HTML instead of an event stream`},
	{"HTML on one line", "\r\n  <html><body>Log in</body></html>", `format: HTML instead of an event stream`},
	{"HTML with done", "<html>\n\ndata: [DONE]\n\n", `format: HTML instead of an event stream`},
	{"words", "Internal Server Error\n", `format: no event stream`},
	{"nearly JSON", "{'error': 'm'}\n", `format: no event stream`},
	{"HTML behind events", chunkText("a") + "<html>\n</html>\n", `tokens=1 text="a" truncated`},
}

var messagesRules = []rule{
	{"text", `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n", `tokens=1 text="a" complete`},
	{"types last", `data: {"delta":{"text":"a","type":"text_delta"},"type":"content_block_delta"}` + "\n\n" + doneLine, `tokens=1 text="a" complete`},
	{"thinking", `data: {"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}` + "\n\n" + doneLine, `tokens=1 reasoning="hm" complete`},
	{"tool input", `data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}` + "\n\n" + doneLine, `tokens=1 complete`},
	{"empty pieces", `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":""}}` + "\n\n" + `data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":""}}` + "\n\n" + doneLine, `complete`},
	{"no tokens", `data: {"type":"ping"}` + "\n\n" + `data: {"type":"content_block_start","content_block":{"type":"text","text":"a"}}` + "\n\n" + `data: {"type":"content_block_delta","delta":{"type":"signature_delta","signature":"x"}}` + "\n\n" + doneLine, `complete`},
	{"stop reason", `data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":5}}` + "\n\n", `finish="max_tokens" usage=-/5/-/- complete`},
	{"no end", `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}` + "\n\n", `tokens=1 text="a" truncated`},
	{"the name of the event does not matter", "event: message_stop\n" + `data: {"type":"ping"}` + "\n\n", `truncated`},
	{"placeholder", `data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":30,"cache_creation_input_tokens":5,"cache_read_input_tokens":12,"output_tokens":1}}}` + "\n\n" + doneLine, `usage=47/-/12/- complete`},
	{"input in message_delta", `data: {"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":0}}}` + "\n\n" + `data: {"type":"message_delta","delta":{},"usage":{"input_tokens":40,"cache_read_input_tokens":2,"output_tokens":7}}` + "\n\n" + doneLine, `usage=42/7/2/- complete`},
	{"no input count", `data: {"type":"message_delta","usage":{"cache_read_input_tokens":2,"output_tokens":7}}` + "\n\n" + doneLine, `usage=-/7/2/- complete`},
	{"error", `data: {"type":"error","error":{"type":"overloaded_error","message":"m"}}` + "\n\n", `error object overloaded type="overloaded_error" code="" param="" message="m"`},
	{"error without error", `data: {"type":"error","message":"m"}` + "\n\n", `error object stream_error type="" code="" param="" message="m"`},
	{"rate limit", `data: {"type":"error","error":{"type":"rate_limit_error","message":"m"}}` + "\n\n", `error object rate_limited type="rate_limit_error" code="" param="" message="m"`},
	{"message is no answer's error", `data: {"type":"message_start","message":{"content":[]},"code":null}` + "\n\n" + doneLine, `complete`},
	{"JSON answer", `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}`, `format: a JSON answer that was not streamed`},
}

var completionsRules = []rule{
	{"text", `data: {"choices":[{"text":"a"}]}` + "\n\n" + doneLine, `tokens=1 text="a" complete`},
	{"empty and null", `data: {"choices":[{"text":""},{"text":null}]}` + "\n\n" + doneLine, `complete`},
	{"delta is no text", `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + doneLine, `complete`},
	{"finish with text", `data: {"choices":[{"text":"a","finish_reason":"length"}]}` + "\n\n", `tokens=1 text="a" finish="length" complete`},
}

func (tr trace) summary() string {
	var out []string
	add := func(name, format string, v any, some bool) {
		if some {
			out = append(out, name+"="+fmt.Sprintf(format, v))
		}
	}
	add("tokens", "%d", tr.tokens, tr.tokens > 0)
	add("text", "%q", tr.text, tr.text != "")
	add("reasoning", "%q", tr.reasoning, tr.reasoning != "")
	add("finish", "%q", tr.finish, tr.finish != "")
	u := tr.usage
	add("usage", "%s", strings.Join([]string{number(u.Prompt), number(u.Output), number(u.Cached), number(u.Reasoning)}, "/"), u != Usage{})
	return strings.Join(append(out, verdict(tr.err)), " ")
}

func number(c Count) string {
	if !c.Known {
		return "-"
	}
	return fmt.Sprint(c.N)
}

func TestRules(t *testing.T) {
	for dialect, rules := range map[string][]rule{
		"openai-chat": chatRules, "openai-completions": completionsRules, "anthropic-messages": messagesRules,
	} {
		for _, r := range rules {
			t.Run(dialect+"/"+r.name, func(t *testing.T) {
				tr := decodeAll(t, dialect, &pieces{list: [][]byte{[]byte(r.give)}, end: io.EOF})
				if got := tr.summary(); got != r.want {
					t.Errorf("body %.300q\n got %s\nwant %s", r.give, got, r.want)
				}
				if len(r.give) < 1000 {
					checkSplits(t, dialect, [][]byte{[]byte(r.give)}, io.EOF, tr.String())
				}
			})
		}
	}
}

// TestCutBody: where the body did not end properly, nothing of an event without
// its blank line counts, and the reader's own error comes out.
func TestCutBody(t *testing.T) {
	for _, c := range []struct {
		name, give string
		end        error
		want       string
	}{
		{"after a finish reason", chunkText("a") + finishLine, io.ErrUnexpectedEOF, `tokens=1 text="a" finish="stop" truncated`},
		{"after done", chunkText("a") + doneLine, errCut, `tokens=1 text="a" complete`},
		{"whole data line", chunkText("a") + "data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n", errCut, `tokens=1 text="a" reader: connection reset`},
		{"inside a JSON answer", `{"choices":[`, io.ErrUnexpectedEOF, `truncated`},
		{"before anything", "", errCut, `reader: connection reset`},
	} {
		tr := decodeAll(t, "openai-chat", &pieces{list: [][]byte{[]byte(c.give)}, end: c.end})
		if got := tr.summary(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
