package probe

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"tokprobe/probe/wire"
)

// failure is an outcome with the words for it; the zero value is none.
type failure struct {
	outcome Outcome
	text    string
}

// limitFailure tells the limits after t0 apart by which was reached.
func limitFailure(e *limitError) failure {
	switch e.limit {
	case limitFirstToken:
		return failure{TimeoutFirstToken, "no token within " + e.value.String()}
	case limitStall:
		return failure{Stall, "no further token for " + e.value.String()}
	case limitTotal:
		return failure{TimeoutTotal, "not complete within " + e.value.String()}
	}
	return failure{Connect, e.Error()}
}

// setupFailure classifies what happened before the connection was ready.
func setupFailure(err error, m moments) failure {
	var limit *limitError
	if errors.As(err, &limit) {
		where := map[setupPhase]failure{
			phaseDNS:     {DNS, "name lookup"},
			phaseConnect: {Connect, "TCP connect"},
			phaseTLS:     {TLS, "TLS handshake"},
		}[m.phase]
		return failure{where.outcome, where.text + " not done within the connect limit of " + limit.value.String()}
	}
	if isExhausted(err) {
		return exhausted(err)
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return failure{DNS, err.Error()}
	}
	if isTLS(err) || m.phase == phaseTLS {
		return failure{TLS, err.Error()}
	}
	return failure{Connect, err.Error()}
}

// isTLS says whether err comes from the TLS layer. A client certificate that
// is refused shows only with the first read after the handshake, as an alert:
// its type is not exported, the operation that net.OpError names tells.
func isTLS(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") {
		return true
	}
	var (
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid)
}

// requestFailure classifies what happened between t0 and the response headers.
func requestFailure(err error, m moments) failure {
	var (
		limit   *limitError
		interim *interimError
	)
	stream, isStream := asStream(err)
	switch {
	case errors.As(err, &limit):
		return limitFailure(limit)
	case isTLS(err):
		return failure{TLS, err.Error()}
	case isStream:
		return stream.failure()
	case isOversized(err):
		return failure{BadStream, "the headers of the response are longer than 1 MiB"}
	case errors.As(err, &interim):
		return failure{BadStream, interim.Error()}
	case m.firstByte.IsZero():
		return failure{Reset, "connection lost before any byte of a response: " + plainHTTP2(err)}
	case isReset(err):
		return failure{Reset, err.Error()}
	case isEOF(err):
		return failure{Truncated, "the response broke off inside its headers: " + err.Error()}
	}
	return failure{BadStream, "the answer is no HTTP: " + err.Error()}
}

// bodyFailure classifies what ended the reading of a 2xx body.
func bodyFailure(err error, http2 bool) failure {
	var (
		limit  *limitError
		object *wire.ErrorObject
		format *wire.FormatError
	)
	stream, isStream := asStream(err)
	switch {
	case errors.As(err, &limit):
		return limitFailure(limit)
	case isStream:
		return stream.failure()
	case errors.As(err, &object):
		return failure{objectOutcome(object), object.Error()}
	case errors.As(err, &format):
		return failure{BadStream, format.Error()}
	case isCorrupt(err):
		return failure{BadStream, "compressed body: " + err.Error()}
	case isReset(err):
		return failure{Reset, err.Error()}
	case isEOF(err):
		return failure{Truncated, "the body ended before the answer did"}
	case http2 && isGone(err):
		return failure{Reset, err.Error()}
	case http2:
		return failure{BadStream, "broken HTTP/2: " + err.Error()}
	}
	return failure{BadStream, "broken transfer encoding: " + err.Error()}
}

func objectOutcome(e *wire.ErrorObject) Outcome {
	switch o := Outcome(e.Class); o {
	case RateLimited, Overloaded, ContentFilter:
		return o
	}
	return StreamError
}

func isReset(err error) bool {
	var op *net.OpError
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &op)
}

func isEOF(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func isCorrupt(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt) ||
		errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zlib.ErrDictionary)
}

// statusOutcome is the class of a response that is not 2xx. Only two codes
// that machines put into the body override the status.
func statusOutcome(status int, code string) Outcome {
	switch {
	case code == "content_filter":
		return ContentFilter
	case code == "model_not_found":
		return NotFound
	case status >= 300 && status < 400:
		return Redirect
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Auth
	case http.StatusNotFound:
		return NotFound
	case http.StatusTooManyRequests:
		return RateLimited
	case http.StatusServiceUnavailable, 529:
		return Overloaded
	case http.StatusRequestTimeout: // a gateway whose upstream was slow
		return ServerError
	}
	switch {
	case status >= 500:
		return ServerError
	case status >= 400:
		return BadRequest
	}
	return BadStream // 1xx as a final answer
}

// finishOutcome is the class of a complete answer.
func finishOutcome(s *stream) failure {
	switch {
	case s.finish == "content_filter" || s.finish == "refusal":
		return failure{ContentFilter, "the answer ended with finish reason " + s.finish}
	case s.chunks == 0 && s.finish == "":
		return failure{Empty, "the answer ended without a token"}
	case s.chunks == 0:
		return failure{Empty, "the answer ended without a token, finish reason " + s.finish}
	}
	return failure{}
}

// authFailure classifies a failure to get the credentials.
func authFailure(err error) failure {
	var limit *limitError
	if isExhausted(err) {
		return exhausted(err)
	}
	if errors.As(err, &limit) {
		return failure{Auth, "credentials not there within the connect limit of " + limit.value.String()}
	}
	return failure{Auth, err.Error()}
}
