package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	pushLimit  = 10 * time.Second // one push, all its requests; never over the interval
	flushLimit = 3 * time.Second  // the last push: with the 25 s of grace under the 30 s until a SIGKILL
	// batch is how many probes go into one request: with 5 data points of
	// 1.2 KB each some 1.2 MB before compression. Receivers refuse over 20 MB.
	batch     = 200
	maxAnswer = 64 << 10 // of a receiver that is read
)

// Run pushes once an interval until ctx ends, and then once more. Pushes never
// overlap, and one that failed is not repeated: the next carries all of it.
func (r *Recorder) Run(ctx context.Context) {
	if r == nil {
		return
	}
	defer r.client.CloseIdleConnections()
	ticker := time.NewTicker(r.cfg.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			r.push(context.WithoutCancel(ctx), flushLimit)
			return
		case <-ticker.C:
			r.push(ctx, min(pushLimit, r.cfg.Interval))
		}
	}
}

// push sends everything and reports how that ended. Without a measurement
// there is nothing to send and nothing to report.
func (r *Recorder) push(ctx context.Context, limit time.Duration) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	sent, err := r.sendAll(within)
	switch {
	case err == nil && !sent:
		return
	case ctx.Err() != nil:
		return // cut by our own shutdown, which pushes again
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no answer within %v", limit)
	}
	changed := !r.known || r.failing != (err != nil)
	r.known, r.failing = true, err != nil
	if r.cfg.Pushed != nil {
		r.cfg.Pushed(err, changed)
	}
}

// sendAll returns whether anything was sent.
func (r *Recorder) sendAll(ctx context.Context) (sent bool, err error) {
	header, err := r.headers()
	if err != nil {
		return true, err
	}
	r.mu.Lock()
	left := r.order
	r.mu.Unlock()
	for len(left) > 0 {
		n := min(batch, len(left))
		r.mu.Lock()
		msg, some := r.message(left[:n], time.Now())
		r.mu.Unlock()
		left = left[n:]
		if !some {
			continue
		}
		sent = true
		if err := r.send(ctx, msg, header); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

func (r *Recorder) send(ctx context.Context, msg request, header http.Header) error {
	var body bytes.Buffer
	packer, err := gzip.NewWriterLevel(&body, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := errors.Join(json.NewEncoder(packer).Encode(msg), packer.Close()); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url.String(), &body)
	if err != nil {
		return err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("User-Agent", "tokprobe")
	resp, err := r.client.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return verdict(resp)
}

// verdict reads the answer. What the receiver wrote is not repeated.
func verdict(resp *http.Response) error {
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("the receiver answers %d: check the key in --otlp.headers-file", code)
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		return fmt.Errorf("the receiver answers %d: no OTLP metrics are taken at the path of --otlp.endpoint", code)
	case code == http.StatusUnsupportedMediaType || code == http.StatusBadRequest:
		return fmt.Errorf("the receiver answers %d: it has to take OTLP/HTTP in its JSON form with gzip", code)
	case code >= 300 && code < 400:
		return fmt.Errorf("the receiver answers %d: redirects are not followed, write the final URL in --otlp.endpoint", code)
	case code < 200 || code > 299:
		return fmt.Errorf("the receiver answers %d", code)
	case err != nil:
		return err
	}
	var said struct {
		PartialSuccess struct {
			Rejected any `json:"rejectedDataPoints"`
		} `json:"partialSuccess"`
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") || json.Unmarshal(answer, &said) != nil {
		return nil // it took everything and says so in its own way
	}
	switch n := fmt.Sprint(said.PartialSuccess.Rejected); n { // "3" or 3
	case "<nil>", "0", "":
		return nil
	}
	return errors.New("the receiver rejected part of the data points")
}
