package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"

	"tokprobe/probe/capacity"
)

// csvKey is a column: a key of a level in JSON and what its absence means there
// where that is not "unknown" (counts and marks are left out while 0 or false).
type csvKey struct{ key, zero string }

// csvKeys are fixed, so that files of many sweeps can be joined.
func csvKeys() []csvKey {
	keys := []csvKey{{"load", ""}, {"mode", ""}, {"state", ""}, {"trusted", ""}, {"request_rate", ""}, {"max_concurrency", ""}, {"max_concurrent_requests", ""},
		{"duration", ""}, {"completed", ""}, {"failed", ""}, {"cut", "0"}, {"service_failures", "0"},
		{"total_input_tokens", ""}, {"total_output_tokens", ""}, {"request_throughput", ""}, {"output_throughput", ""},
		{"total_token_throughput", ""}, {"tokens_per_minute", ""}, {"steady_seconds", ""}, {"steady_output_throughput", ""},
		{"steady_request_throughput", ""}, {"steady_offered_rate", ""}, {"achieved_rate", ""}, {"attainment", ""},
		{"request_goodput", ""}, {"error_ratio", ""}, {"client_lag_p99_ms", ""}, {"too_short", "false"}, {"few_requests", "false"},
		{"ended_early", "false"}, {"in_flight_capped", "false"}, {"early_answers", "0"}, {"coalesced", "0"}, {"cache_suspect", "0"},
		{"repeats", "1"}, {"spread", ""}}
	for _, m := range []struct{ name, unit string }{{"ttft", "_ms"}, {"tpot", "_ms"}, {"itl", "_ms"}, {"e2el", "_ms"},
		{"first_content", "_ms"}, {"send_delay", "_ms"}, {"generation", "_tokens_per_second"}} {
		keys = append(keys, csvKey{m.name + "_samples", "0"})
		for _, stat := range []string{"mean", "median", "std", "p50", "p90", "p95", "p99"} {
			keys = append(keys, csvKey{stat + "_" + m.name + m.unit, ""})
		}
	}
	return append(keys, csvKey{"run_throughputs", ""}, csvKey{"outcomes", ""}, csvKey{"finish_reasons", ""}, csvKey{"warnings", ""})
}

// writeCSV writes one row a level under the keys of the JSON report, unknown
// values empty. The lists at the end are JSON inside their cells.
func writeCSV(b *bytes.Buffer, r capacity.Report) error {
	keys := csvKeys()
	out := csv.NewWriter(b)
	out.UseCRLF = true // as RFC 4180 has it
	row := make([]string, len(keys))
	for i, k := range keys {
		row[i] = k.key
	}
	out.Write(row) // errors stay until Error
	for _, l := range byLoad(r.WithoutSamples()) {
		raw, err := json.Marshal(l)
		if err != nil {
			return err
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(raw, &values); err != nil {
			return err
		}
		for i, k := range keys {
			row[i] = csvCell(values[k.key], k.zero)
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// csvCell turns a JSON value into a cell. Texts are cleaned, and one that a
// spreadsheet would run as a formula gets a quote in front.
func csvCell(raw json.RawMessage, zero string) string {
	switch text := string(raw); {
	case text == "":
		return zero
	case text == "null":
		return ""
	case text[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return ""
		}
		if s = clean(s); s != "" && strings.ContainsAny(s[:1], "=+-@") {
			s = "'" + s
		}
		return s
	case text[0] == '{' || text[0] == '[':
		return clean(text)
	default:
		return text
	}
}
