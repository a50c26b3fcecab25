package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
)

// EndpointConfig describes one target. Only BaseURL is needed.
type EndpointConfig struct {
	Target string
	// BaseURL has scheme and host, perhaps a path prefix, and no /v1.
	BaseURL string
	// Vendor is the provider of the target: taotoken, vllm, openai or
	// anthropic. ignore_eos is sent only for vllm (or with ForceLength).
	Vendor string
	// Headers returns the credentials and custom headers of one request. It
	// runs before t0 (phase auth), bounded by the connect limit; its error
	// is outcome auth and nothing is sent. nil sends none.
	Headers func(context.Context) (http.Header, error)
	// Key returns the API key of one request, to be sent in the header that
	// the request's dialect names (Bearer or x-api-key). Like Headers it runs
	// before t0 and its error is outcome auth. nil, or an empty key without an
	// error, sends none. Headers win where both give the same header.
	Key func(context.Context) (string, error)
	// KeySource says for the hint where the key comes from: "environment
	// variable TAOTOKEN_API_KEY". It never holds the key.
	KeySource string
	TLS       *tls.Config
	Proxy     func(*http.Request) (*url.URL, error)
	// ProxyHeader goes with every CONNECT to the proxy.
	ProxyHeader http.Header
	HTTP2       bool
	UserAgent   string // empty means "tokprobe"
	// Lag measures our own scheduling lag; nil reports none.
	Lag *Sentinel
	// DialContext and Transport replace the network in tests.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
	Transport   http.RoundTripper
}
