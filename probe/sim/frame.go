package sim

import (
	"encoding/json"
	"strconv"
)

// dialect is one protocol: a path and how its answers look.
type dialect struct {
	name, path string
	frame      func(head) framer
	// fail renders the body of an error status.
	fail func(apiError) []byte
}

// dialects are all that is served. A new one is a line and a framer.
var dialects = []*dialect{
	{"openai-chat", "/v1/chat/completions", newChatFramer, openAIError},
	{"openai-completions", "/v1/completions", newCompletionsFramer, openAIError},
	{"anthropic-messages", "/v1/messages", newAnthropicFramer, anthropicError},
}

// head is what every event of one answer repeats.
type head struct {
	id      string // of the request, without the prefix of the protocol
	model   string
	created int64
	style   Style
	usage   bool // asked for by stream_options
	every   bool // running totals on every event
}

// usage is the bill of one answer.
type usage struct {
	prompt, output, cached, reasoning int
	caching                           bool // cached is known
}

// framer renders one answer. All methods append to b. The streamed calls come
// in the order open, delta…, close (or fail); whole stands alone.
type framer interface {
	// open is sent with the headers: the role, or the start of a message.
	open(b []byte, u usage) []byte
	// delta is one event that carries the given tokens.
	delta(b []byte, tokens []byte, thinking bool, u usage) []byte
	// close is all that follows the last token, the terminator included.
	close(b []byte, finish string, u usage) []byte
	// fail is an error object inside the stream.
	fail(b []byte, e apiError) []byte
	// whole is the answer to a request that did not ask for a stream.
	whole(b []byte, text, thinking []byte, end ending) []byte
}

type ending struct {
	finish string
	usage  usage
}

// quote renders a string as JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // cannot happen: invalid UTF-8 is replaced
		return `""`
	}
	return string(b)
}

// openAIUsage appends the usage object of the two OpenAI protocols.
func openAIUsage(b []byte, u usage) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(u.prompt), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(u.prompt+u.output), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(u.output), 10)
	if u.caching {
		b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
		b = strconv.AppendInt(b, int64(u.cached), 10)
		b = append(b, '}')
	}
	if u.reasoning > 0 {
		b = append(b, `,"completion_tokens_details":{"reasoning_tokens":`...)
		b = strconv.AppendInt(b, int64(u.reasoning), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}
