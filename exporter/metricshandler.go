package exporter

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is how many scrapes may wait or be sent at once. The page of a
// thousand probes is 20 MB: one more is told to come back.
const maxScrapes = 8

// metricsHandler serves /metrics. It renders one page at a time on one
// goroutine, so that a second Prometheus cannot take the core that the
// streams need, and it holds nothing while the bytes go out: a slow reader
// keeps nobody waiting.
type metricsHandler struct {
	page     http.Handler
	inFlight chan struct{}
	turn     chan *gzip.Writer  // holds one: who has it may render
	free     chan *bytes.Buffer // bodies to be used again
}

func newMetricsHandler(e *Exporter, openMetrics bool) http.Handler {
	h := &metricsHandler{
		page: promhttp.HandlerForTransactional(&gatherer{exporter: e}, promhttp.HandlerOpts{
			DisableCompression: true, // done here, at the fastest level
			EnableOpenMetrics:  openMetrics,
			ErrorHandling:      promhttp.ContinueOnError,
		}),
		inFlight: make(chan struct{}, maxScrapes),
		turn:     make(chan *gzip.Writer, 1),
		free:     make(chan *bytes.Buffer, 2),
	}
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // fails only for an unknown level
	h.turn <- z
	return h
}

// ServeHTTP implements http.Handler.
func (h *metricsHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case h.inFlight <- struct{}{}:
		defer func() { <-h.inFlight }()
	default:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many scrapes at once, try again later", http.StatusServiceUnavailable)
		return
	}
	select {
	case z := <-h.turn:
		h.send(w, h.render(r, z))
	case <-r.Context().Done():
	}
}

func (h *metricsHandler) render(r *http.Request, z *gzip.Writer) *pageWriter {
	defer func() { h.turn <- z }() // also after a panic: net/http goes on, and so must scrapes
	p := &pageWriter{header: http.Header{}, status: http.StatusOK}
	select {
	case p.body = <-h.free:
		p.body.Reset()
	default:
		p.body = &bytes.Buffer{}
	}
	p.header.Add("Vary", "Accept-Encoding")
	p.out = p.body
	if acceptsGzip(r) {
		p.header.Set("Content-Encoding", "gzip")
		z.Reset(p.body)
		p.out = z
	}
	h.page.ServeHTTP(p, r)
	if p.out == z {
		z.Close() //nolint:errcheck // a bytes.Buffer takes everything
	}
	return p
}

func (h *metricsHandler) send(w http.ResponseWriter, p *pageWriter) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.WriteHeader(p.status)
	w.Write(p.body.Bytes()) //nolint:errcheck // the reader went away; there is nobody to tell
	select {
	case h.free <- p.body:
	default:
	}
}

// acceptsGzip reads Accept-Encoding; "gzip;q=0" declines.
func acceptsGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.TrimRight(strings.TrimSpace(q), ".0") != "q="
		}
	}
	return false
}

// pageWriter collects a page in memory, compressed on the way.
type pageWriter struct {
	header  http.Header
	status  int
	body    *bytes.Buffer
	out     io.Writer // body, or what compresses into it
	written int
}

func (p *pageWriter) Header() http.Header { return p.header }

func (p *pageWriter) WriteHeader(status int) { p.status = status }

// Write lets others run after every 64 KB, which is under a millisecond of
// work: a stream whose bytes have come must not wait for a page.
func (p *pageWriter) Write(b []byte) (int, error) {
	before := p.written >> 16
	p.written += len(b)
	if p.written>>16 != before {
		runtime.Gosched()
	}
	return p.out.Write(b)
}
