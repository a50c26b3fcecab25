package sim

import (
	"fmt"
	"net/http"
	"strconv"
)

// apiError is an error as an endpoint words it.
type apiError struct {
	status  int
	kind    string // "type" of the OpenAI protocols
	code    string // empty means the status as a number, as vLLM does
	param   string
	message string
	header  http.Header // more headers; nil for none
	outcome string      // what a prober should report
}

// openAIError renders {"error":{…}} as vLLM and OpenAI do.
func openAIError(e apiError) []byte {
	param, code := "null", strconv.Itoa(e.status)
	if e.param != "" {
		param = quote(e.param)
	}
	if e.code != "" {
		code = quote(e.code)
	}
	return fmt.Appendf(nil, `{"error":{"message":%s,"type":%s,"param":%s,"code":%s}}`, quote(e.message), quote(e.kind), param, code)
}

// anthropicKinds are Anthropic's error types by status.
var anthropicKinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error",
	429: "rate_limit_error", 500: "api_error", 503: "overloaded_error", 529: "overloaded_error",
}

func anthropicError(e apiError) []byte {
	kind := anthropicKinds[e.status]
	if kind == "" {
		kind = "api_error"
	}
	return fmt.Appendf(nil, `{"type":"error","error":{"type":%s,"message":%s}}`, quote(kind), quote(e.message))
}

func (e apiError) write(w http.ResponseWriter, body []byte) {
	for k, v := range e.header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.status)
	w.Write(body) //nolint:errcheck // a client that is gone needs no answer
}

func badRequest(param, format string, args ...any) *apiError {
	return &apiError{status: 400, kind: "BadRequestError", param: param, message: fmt.Sprintf(format, args...), outcome: "bad_request"}
}

func unknownModel(model string) *apiError {
	return &apiError{
		status: 404, kind: "NotFoundError", code: "model_not_found", param: "model",
		message: fmt.Sprintf("The model `%.200s` does not exist.", model), outcome: "not_found",
	}
}

func wrongKey() *apiError {
	return &apiError{status: 401, kind: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key provided.", outcome: "auth"}
}

func queueFull() *apiError {
	return &apiError{status: 429, kind: "RateLimitError", message: "Too many requests: the waiting queue is full.", outcome: "rate_limited"}
}
