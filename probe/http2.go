package probe

import (
	"errors"
	"fmt"
	"strings"
)

// streamReset is one HTTP/2 stream that failed. net/http keeps its own type to
// itself, but fills any struct of these three fields that errors.As is given
// (see its h2_error.go).
type streamReset struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamReset) Error() string { return fmt.Sprintf("stream error %d", e.Code) }

// fromPeer is what net/http names as the cause of a stream that was reset.
const fromPeer = "received from peer"

// byPeer says whether the server sent RST_STREAM; otherwise it broke the rules
// of HTTP/2 and our own side ended the stream.
func (e streamReset) byPeer() bool {
	return e.Cause != nil && e.Cause.Error() == fromPeer
}

// resetCodes are the names of RFC 9113, section 7.
var resetCodes = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

func (e streamReset) failure() failure {
	code := fmt.Sprintf("code %d", e.Code)
	if int(e.Code) < len(resetCodes) {
		code = resetCodes[e.Code]
	}
	if e.byPeer() {
		return failure{Reset, "the server reset the HTTP/2 stream: " + code}
	}
	text := "broken HTTP/2: " + code
	if e.Cause != nil {
		text += ", " + e.Cause.Error()
	}
	return failure{BadStream, text}
}

// asStream finds the reset of a stream in err. Where a request could not be
// repeated net/http puts the reset into words only.
func asStream(err error) (streamReset, bool) {
	var s streamReset
	if errors.As(err, &s) {
		return s, true
	}
	_, text, ok := strings.Cut(err.Error(), "stream error: stream ID ")
	if !ok {
		return s, false
	}
	s.Code = uint32(len(resetCodes)) // unknown
	for code, name := range resetCodes {
		if strings.Contains(text, "; "+name) {
			s.Code = uint32(code)
		}
	}
	if strings.Contains(text, fromPeer) {
		s.Cause = errors.New(fromPeer)
	}
	return s, true
}

// plainHTTP2 is an error without what net/http says to programmers.
func plainHTTP2(err error) string {
	text := err.Error()
	if _, inner, ok := strings.Cut(text, "cannot retry err ["); ok {
		if inner, _, ok = strings.Cut(inner, "] after"); ok {
			return inner
		}
	}
	return text
}

// isGone says whether an HTTP/2 connection ended under its stream: by GOAWAY,
// or without a word. These errors have neither types nor values that can be
// compared, so their words have to do.
func isGone(err error) bool {
	text := err.Error()
	for _, words := range []string{"GOAWAY", "client connection lost", "connection force closed", "use of closed network connection"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
