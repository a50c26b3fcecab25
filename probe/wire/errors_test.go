package wire

import (
	"strings"
	"testing"
)

func TestParseErrorBody(t *testing.T) {
	for _, c := range []struct{ name, give, want string }{
		{"object", `{"error":{"message":"m","type":"t","param":"p","code":"c"}}`, `stream_error type="t" code="c" param="p" message="m"`},
		{"string", `{"error":"Unauthorized"}`, `stream_error type="" code="" param="" message="Unauthorized"`},
		{"flat", `{"object":"error","message":"m","type":"BadRequestError","param":null,"code":400}`, `stream_error type="BadRequestError" code="400" param="" message="m"`},
		{"list", "[\n {\"error\": {\"code\": 404, \"message\": \"m\"}}\n]", `stream_error type="" code="404" param="" message="m"`},
		{"detail", `{"detail":"Not Found"}`, `stream_error type="" code="" param="" message="Not Found"`},
		{"detail list", `{"detail":[{"loc":["body","n"],"msg":"field required","type":"missing"},{"msg":"x"}]}`, `stream_error type="" code="" param="body.n" message="field required"`},
		{"message alone", `{"message":"no Route matched"}`, `stream_error type="" code="" param="" message="no Route matched"`},
		{"message wins over detail", `{"detail":"d","message":"m"}`, `stream_error type="" code="" param="" message="m"`},
		{"framed", "event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n", `rate_limited type="" code="429" param="" message="m"`},
		{"blanks and byte order mark", "\uFEFF\r\n  {\"error\":\"m\"}", `stream_error type="" code="" param="" message="m"`},
		{"anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"m"},"request_id":"r"}`, `overloaded type="overloaded_error" code="" param="" message="m"`},
		{"content filter by code", `{"error":{"code":"content_filter","status":400,"message":"m"}}`, `content_filter type="" code="content_filter" param="" message="m"`},
		{"content filter by type", `{"error":{"type":"content_filter","code":"400","message":"m"}}`, `content_filter type="content_filter" code="content_filter" param="" message="m"`},
		{"unknown model by code", `{"error":{"type":"invalid_request_error","code":"model_not_found","message":"m"}}`, `stream_error type="invalid_request_error" code="model_not_found" param="" message="m"`},
		{"unknown model by type", `{"error":{"type":"model_not_found","message":"m","code":null}}`, `stream_error type="model_not_found" code="model_not_found" param="" message="m"`},
		{"error in error", `{"error":{"error":{"message":"m","code":"c"},"message":"outer"}}`, `stream_error type="" code="c" param="" message="m"`},
		{"escapes", `{"error":"a\"b\u00e9\n\tc"}`, "stream_error type=\"\" code=\"\" param=\"\" message=\"a\\\"bé c\""},
		{"long", `{"error":"` + strings.Repeat(`\u00e9`, 9000) + `"}`, `stream_error type="" code="" param="" message="` + strings.Repeat("é", maxMessage/2-1) + `"`},
		{"nothing", "", ""},
		{"words", "upstream connect error", ""},
		{"HTML", "<html>\n<head>{\"error\":\"m\"}</head></html>", ""},
		{"cut", `{"error":{"message":"m"`, ""},
		{"not JSON", `{"error":{"message":"m",}}`, ""},
		{"no error", `{"id":"x","choices":[]}`, ""},
		{"empty object and list", `{}`, ""},
		{"null error", `{"error":null}`, ""},
	} {
		got := ""
		if e, ok := ParseErrorBody([]byte(c.give)); ok {
			got = strings.TrimPrefix(verdict(e), "error object ")
		}
		if got != c.want {
			t.Errorf("%s: got %.200s, want %.200s", c.name, got, c.want)
		}
	}
}

func TestErrorClass(t *testing.T) {
	for _, c := range []struct{ code, kind, want string }{
		{"rate_limit_exceeded", "", "rate_limited"},
		{"", "rate_limit_error", "rate_limited"},
		{"", "RateLimitError", "rate_limited"},
		{"", "Rate limit", "rate_limited"},
		{"429", "", "rate_limited"},
		{"429", "overloaded_error", "rate_limited"},
		{"", "too_many_requests", "rate_limited"},
		{"", "overloaded_error", "overloaded"},
		{"", "EngineOverloaded", "overloaded"},
		{"503", "server_error", "overloaded"},
		{"529", "", "overloaded"},
		{"content_filter", "", "content_filter"},
		{"overloaded", "", "stream_error"}, // only a type names an overload
		{"500", "server_error", "stream_error"},
		{"502", "", "stream_error"},
		{"401", "authentication_error", "stream_error"},
		{"insufficient_quota", "insufficient_quota", "stream_error"},
		{"", "", "stream_error"},
	} {
		if got := errorClass(c.code, c.kind); got != c.want {
			t.Errorf("code %q type %q: got %s, want %s", c.code, c.kind, got, c.want)
		}
	}
}
