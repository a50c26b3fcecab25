package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"tokprobe/probe"
)

// printResult writes one probe for a human: where the time went, what was
// measured, how the parts add up, and what to do if it is not good.
func printResult(w io.Writer, r probe.Result) {
	fmt.Fprintf(w, "%s  %s  model %s  (%s)\n", strings.ToUpper(string(r.Outcome)), r.Target, r.Model, r.Protocol)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if r.HTTPStatus > 0 {
		fmt.Fprintf(tw, "  response\tHTTP/%s %d\t%s connection\n", r.HTTPVersion, r.HTTPStatus, connectionWord(r))
	}
	printPhases(tw, r)
	row(tw, "TTFT", r.TTFT, "request ready to first token")
	if r.FirstContent != r.TTFT {
		row(tw, "first content", r.FirstContent, "first visible text, after the thinking")
	}
	row(tw, "TPOT", r.TPOT, "time per output token after the first")
	row(tw, "max gap", r.MaxGap, "longest pause between token events")
	row(tw, "E2E", r.E2E, sumLine(r))
	printTokens(tw, r)
	tw.Flush()
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", warning)
	}
	if r.Err != "" {
		fmt.Fprintf(w, "  error: %s\n", r.Err)
	}
	if r.Hint != "" {
		fmt.Fprintf(w, "  hint: %s\n", r.Hint)
	}
	printText(w, r)
	fmt.Fprintln(w)
}

func connectionWord(r probe.Result) string {
	word := "fresh"
	if r.Reused {
		word = "reused"
	}
	if r.StaleConnections > 0 {
		word += fmt.Sprintf(" (%d stale one replaced)", r.StaleConnections)
	}
	return word
}

// printPhases lists what lies before t0, its sum, and the two phases behind it.
func printPhases(w io.Writer, r probe.Result) {
	p := r.Phases
	row(w, "auth", p.Auth, "")
	row(w, "dns", p.DNS, "")
	row(w, "connect", p.Connect, "")
	row(w, "tls", p.TLS, "")
	row(w, "setup", r.Setup, "everything before the request; not part of TTFT")
	row(w, "send", p.Send, "")
	row(w, "headers", p.Headers, "")
}

func row(w io.Writer, name string, d probe.Opt[time.Duration], note string) {
	if v, ok := d.Get(); ok {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", name, seconds(v), note)
	}
}

// seconds prints ms below ten seconds and s above, with the digits that a
// measurement over a network can carry.
func seconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 2, 64) + " ms"
	case ms < 10_000:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
}

// sumLine shows the identity that every complete answer obeys, so that a
// reader can check the figures against each other.
func sumLine(r probe.Result) string {
	ttft, ok1 := r.TTFT.Get()
	tpot, ok2 := r.TPOT.Get()
	tail, ok3 := r.Tail.Get()
	e2e, ok4 := r.E2E.Get()
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return ""
	}
	n := int64(math.Round(float64(e2e-ttft-tail) / float64(tpot))) // TPOT is at least a millisecond over N−1
	return fmt.Sprintf("= TTFT %s + %d × TPOT %s + tail %s", seconds(ttft), n, seconds(tpot), seconds(tail))
}

func printTokens(w io.Writer, r probe.Result) {
	var parts []string
	add := func(o probe.Opt[int64], what string) {
		if v, ok := o.Get(); ok {
			parts = append(parts, fmt.Sprintf("%d %s", v, what))
		}
	}
	add(r.PromptTokens, "prompt")
	add(r.CachedTokens, "cached")
	add(r.OutputTokens, "output")
	add(r.ReasoningTokens, "reasoning")
	if len(parts) > 0 {
		source := ""
		if r.OutputTokensSource != "" {
			source = fmt.Sprintf("output counted by %s, %d token events", r.OutputTokensSource, r.Chunks)
		}
		fmt.Fprintf(w, "  tokens\t%s\t%s\n", strings.Join(parts, ", "), source)
	}
	if r.FinishReason != "" {
		fmt.Fprintf(w, "  finish reason\t%s\t\n", r.FinishReason)
	}
	if r.RequestID != "" {
		fmt.Fprintf(w, "  request id\t%s\t\n", r.RequestID)
	}
	if r.Coalesced {
		fmt.Fprintf(w, "  coalesced\tyes\tseveral token events came in one read: something on the way buffers\n")
	}
}

func printText(w io.Writer, r probe.Result) {
	if r.ReasoningText != "" {
		fmt.Fprintf(w, "  --- reasoning\n%s\n", printable(r.ReasoningText))
	}
	if r.Text != "" {
		fmt.Fprintf(w, "  --- text\n%s\n", printable(r.Text))
	}
}

// printable keeps an answer from driving the terminal: control characters but
// line feeds and tabs are shown as escapes.
func printable(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c != '\n' && c != '\t' && !strconv.IsPrint(c) {
			q := strconv.QuoteRune(c)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// printSummary closes a run of several probes.
func printSummary(w io.Writer, results []probe.Result) {
	good := 0
	var ttft, e2e []time.Duration
	for _, r := range results {
		if r.Outcome != probe.OK {
			continue
		}
		good++
		if v, ok := r.TTFT.Get(); ok {
			ttft = append(ttft, v)
		}
		if v, ok := r.E2E.Get(); ok {
			e2e = append(e2e, v)
		}
	}
	fmt.Fprintf(w, "%d of %d ok", good, len(results))
	for _, s := range []struct {
		name string
		list []time.Duration
	}{{"TTFT", ttft}, {"E2E", e2e}} {
		if len(s.list) > 0 {
			slices.Sort(s.list)
			fmt.Fprintf(w, "; %s min %s, median %s, max %s", s.name, seconds(s.list[0]), seconds(median(s.list)), seconds(s.list[len(s.list)-1]))
		}
	}
	fmt.Fprintln(w)
}

// median of a sorted list: the mean of the two middle ones if it is even.
func median(sorted []time.Duration) time.Duration {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
