package sim

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// refuse answers with an error.
func (x *exchange) refuse(e *apiError) {
	x.rec.Outcome, x.rec.Status = e.outcome, e.status
	x.settle()
	e.write(x.w, x.d.fail(*e))
}

// canned answers as a class of failure with a status of its own does.
func (x *exchange) canned() {
	c := x.fate.class
	x.rec.Outcome, x.rec.Status = c.Outcome, c.status
	x.settle()
	switch c.Name {
	case "redirect":
		x.w.Header().Set("Location", "/login")
		x.w.WriteHeader(c.status)
	case "html_200", "http_502":
		x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		x.w.WriteHeader(c.status)
		io.WriteString(x.w, "<!DOCTYPE html>\n<html><head><title>Gateway</title></head><body>The upstream gave no answer.</body></html>\n") //nolint:errcheck // gone is gone
	default:
		e := apiError{status: c.status, kind: c.kind, message: "Fault " + c.Name + " is switched on."}
		if c.status == http.StatusTooManyRequests {
			e.header = http.Header{"Retry-After": {"1"}}
		}
		e.write(x.w, x.d.fail(e))
	}
}

// whole answers without a stream.
func (x *exchange) whole() (cut string) {
	for i := range x.plan.total {
		if err := x.await(i, nil); err != nil {
			return x.broken(err)
		}
	}
	p := x.plan
	f := x.d.frame(x.head())
	var thinking []byte
	if !p.hidden {
		thinking = words(nil, p.offset, 0, p.reasoning)
	}
	x.rec.FinishReason, x.rec.Tokens, x.rec.StreamedTokens = p.finish, p.total, 0
	body := f.whole(nil, words(nil, p.offset, p.reasoning, p.total), thinking, ending{p.finish, x.usage(p.total)})
	x.rec.FirstToken = time.Now()
	x.rec.LastToken, x.rec.Status, x.rec.Outcome = x.rec.FirstToken, http.StatusOK, "ok"
	if x.fate.class.Name == "json_200" {
		x.rec.Outcome = x.fate.class.Outcome
	}
	x.settle()
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.Write(body) //nolint:errcheck // gone is gone
	return ""
}
