package sim

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// request is a validated completion request.
type request struct {
	model     string
	stream    bool
	usage     bool // stream_options.include_usage
	every     bool // stream_options.continuous_usage_stats
	bound     int  // max tokens; 0 if none was given
	min       int
	ignoreEOS bool
	prompt    text
}

// body is the union of the three protocols' requests.
type body struct {
	Model    *string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	System              json.RawMessage `json:"system"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
		Continuous   bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	N           *int     `json:"n"`
	Temperature *float64 `json:"temperature"`
}

// parseRequest reads and checks a body. The model is returned as far as it
// is known even if the rest is wrong.
func parseRequest(d *dialect, raw []byte, refuse []string) (request, *apiError) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return request{}, badRequest(wrong.Field, "%s: Input should be a valid %s, not %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return request{}, badRequest("", "There was an error parsing the body: %v", err)
	}
	if b.Model == nil || *b.Model == "" {
		return request{}, badRequest("model", "model: Field required")
	}
	q := request{model: *b.Model, stream: b.Stream, min: b.MinTokens, ignoreEOS: b.IgnoreEOS}
	if d.name != "anthropic-messages" {
		if e := refused(raw, refuse); e != nil {
			return q, e
		}
	}
	if e := q.readBounds(d, b); e != nil {
		return q, e
	}
	return q, q.readPrompt(d, b)
}

// refused looks for parameters that this endpoint is set up not to know.
func refused(raw []byte, refuse []string) *apiError {
	if len(refuse) == 0 {
		return nil
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		return nil
	}
	for _, name := range refuse {
		if _, sent := keys[name]; !sent {
			continue
		}
		e := badRequest(name, "Unrecognized request argument supplied: %s", name)
		if name == "max_tokens" {
			e = badRequest(name, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
			e.code = "unsupported_parameter"
		}
		e.kind = "invalid_request_error"
		return e
	}
	return nil
}

func (q *request) readBounds(d *dialect, b body) *apiError {
	bound := b.MaxTokens
	if b.MaxCompletionTokens != nil {
		bound = b.MaxCompletionTokens
	}
	switch {
	case bound == nil && d.name == "anthropic-messages":
		return badRequest("max_tokens", "max_tokens: Field required")
	case bound != nil && *bound < 1:
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *bound)
	case b.MinTokens < 0 || bound != nil && b.MinTokens > *bound:
		return badRequest("min_tokens", "min_tokens must be at least 0 and at most max_tokens, got %d.", b.MinTokens)
	case b.N != nil && *b.N != 1:
		return badRequest("n", "n must be 1, got %d: this server answers with one choice.", *b.N)
	case b.Temperature != nil && (*b.Temperature < 0 || *b.Temperature > 2):
		return badRequest("temperature", "temperature must be between 0 and 2, got %v.", *b.Temperature)
	case b.StreamOptions != nil && !b.Stream:
		return badRequest("stream_options", "Stream options can only be defined when `stream=True`.")
	}
	if bound != nil {
		q.bound = *bound
	}
	if b.StreamOptions != nil {
		q.usage, q.every = b.StreamOptions.IncludeUsage, b.StreamOptions.Continuous
	}
	return nil
}

func (q *request) readPrompt(d *dialect, b body) *apiError {
	if d.name == "openai-completions" {
		if len(b.Prompt) == 0 {
			return badRequest("prompt", "prompt: Field required")
		}
		return q.readText("prompt", b.Prompt)
	}
	if len(b.Messages) == 0 {
		return badRequest("messages", "messages: Field required, with at least one message")
	}
	if len(b.System) > 0 {
		if e := q.readText("system", b.System); e != nil {
			return e
		}
	}
	for _, m := range b.Messages {
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return badRequest("messages", "messages: unexpected role %q", m.Role)
		}
		q.prompt.add(m.Role)
		if e := q.readText("messages", m.Content); e != nil {
			return e
		}
	}
	return nil
}

// readText adds a string, or a list of strings or of {"text": …} parts.
func (q *request) readText(param string, raw json.RawMessage) *apiError {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		q.prompt.add(s)
		return nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return badRequest(param, "%s: Input should be a string or a list", param)
	}
	var all []string
	for _, p := range parts {
		var part struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(p, &s) != nil {
			if json.Unmarshal(p, &part) != nil {
				return badRequest(param, "%s: Input should be a string or an object with text", param)
			}
			s = part.Text
		}
		all = append(all, s)
	}
	q.prompt.add(strings.Join(all, " "))
	return nil
}
