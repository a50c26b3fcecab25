// Package wire speaks the three streaming dialects of LLM endpoints: it encodes
// a request body and decodes the bytes of the answer into events.
//
// It knows no clock, no HTTP exchange and no metrics. A decoder pulls from an
// io.Reader only while it holds no complete event, so a caller that stamps
// every Read knows when the read that completed an event returned.
package wire

import "io"

// Dialect is one request and stream format. Adding one is a file, a line in the
// table of dialects.go and a folder of test data.
type Dialect struct {
	// Name is the value of `protocol` in the configuration and on the
	// command line: openai-chat, openai-completions or anthropic-messages.
	Name string
	// Path is what follows the base URL, with a leading slash:
	// "/v1/chat/completions".
	Path string
	// KeyHeader names the header that carries an API key: "Authorization"
	// (as "Bearer KEY") or "x-api-key" (the bare key).
	KeyHeader string
	// Headers are sent with every request, such as anthropic-version.
	Headers map[string]string
	// Encode writes the JSON body of a streaming request.
	Encode func(Request) ([]byte, error)
	// NewDecoder reads one response body from its first byte.
	NewDecoder func(io.Reader) Decoder
}

// Message is one turn of a conversation.
type Message struct {
	Role    string // system, user or assistant
	Content string
}

// Request is what every dialect can express. The zero value of a field leaves
// it out of the body (except where the dialect demands it).
type Request struct {
	Model    string
	Messages []Message
	// MaxTokens bounds the output. 0 leaves it to the server; Anthropic
	// demands a bound and gets 64.
	MaxTokens int
	// MaxTokensField renames the bound for openai-chat, where some models
	// accept only "max_completion_tokens". Empty means "max_tokens".
	MaxTokensField string
	// NoStreamOptions leaves out stream_options.include_usage for servers
	// that refuse it.
	NoStreamOptions bool
	// IgnoreEOS and MinTokens ask for an exact output length (vLLM).
	IgnoreEOS bool
	MinTokens int
	// Params are merged verbatim into the top level of the body, last, so
	// that they win over everything above.
	Params map[string]any
}

// Decoder reads the events of one answer.
//
// Next returns the next event; its byte slices are valid until the next call.
// The error is
//   - io.EOF when the answer is complete: after [DONE], after message_stop, or
//     at the proper end of the body after a finish reason;
//   - io.ErrUnexpectedEOF when the body ended before that;
//   - *ErrorObject for an error object inside the stream;
//   - *FormatError for bytes that are no event stream of this dialect;
//   - the reader's own error otherwise, unchanged, so that errors.Is works.
//
// After an error every further call returns the same error.
type Decoder interface {
	Next() (Event, error)
}

// Event is one server-sent event that carried something worth knowing.
type Event struct {
	// Text and Reasoning are the visible text and the thinking of choice 0
	// in this event; nil if there was none.
	Text, Reasoning []byte
	// Token says that some choice carried a non-empty piece of text,
	// reasoning or tool-call arguments: a token event.
	Token bool
	// Content says that some choice carried visible answer text.
	Content bool
	// Streamed reasoning of any choice (hidden thinking has none).
	Thinking bool
	// Finish is the non-empty finish reason of choice 0, as received.
	Finish []byte
	// ID is the response id of the body and Model the model that says it
	// answers; empty if this event has none.
	ID, Model []byte
	// HasUsage says that this event carried a usage object with a count in
	// it: Usage. The last one counts, count by count: Anthropic gives the
	// prompt in its first event and the output in its last.
	HasUsage bool
	Usage    Usage
}

// Usage is one usage object. Counts that were not reported (or are 0 where 0
// means unknown) are not Known.
type Usage struct {
	Prompt    Count // whole prompt, cached part included
	Output    Count // reasoning included; 0 beside received tokens is a server that does not count
	Cached    Count // part of Prompt
	Reasoning Count // part of Output
}

// Count is a number of tokens, or unknown.
type Count struct {
	N     int64
	Known bool
}

// ErrorObject is an error that the endpoint reported in JSON, inside a stream
// or as the body of an error status.
type ErrorObject struct {
	Class   string // rate_limited, overloaded, content_filter or stream_error
	Type    string
	Code    string
	Param   string
	Message string
}

func (e *ErrorObject) Error() string {
	switch {
	case e.Message != "":
		return "error object in the stream: " + e.Message
	case e.Code != "":
		return "error object in the stream: code " + e.Code
	case e.Type != "":
		return "error object in the stream: type " + e.Type
	}
	return "error object in the stream"
}

// FormatError says what was read instead of an event stream, with the first
// bytes of it.
type FormatError struct {
	What   string // "HTML instead of a stream", "data that is not JSON", …
	Sample string // at most 200 bytes
}

func (e *FormatError) Error() string {
	if e.Sample == "" {
		return e.What
	}
	return e.What + ": " + e.Sample
}
