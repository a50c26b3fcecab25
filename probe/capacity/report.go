package capacity

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"tokprobe/probe"
)

// SchemaVersion of the reports this package writes. It grows when a key changes
// its meaning or goes away, not when one is added.
const SchemaVersion = 1

// Report is one sweep: a ladder of levels, the judgement, and everything that
// another person needs to repeat it.
type Report struct {
	SchemaVersion int        `json:"schema_version"`
	Mode          Mode       `json:"mode"`
	Conditions    Conditions `json:"conditions"`
	// Aborted says why the sweep ended before its last level; empty if not.
	Aborted string  `json:"aborted,omitempty"`
	Levels  []Level `json:"levels"`

	Knee        Knee         `json:"knee"`
	KneeRuns    *KneeRuns    `json:"knee_runs,omitempty"` // where levels were repeated
	Recommended *Recommended `json:"recommended,omitempty"`
	// MostLoadUnderSLO is the highest load at which every promise of the SLO
	// held, absent without an SLO or if none did.
	MostLoadUnderSLO probe.Opt[float64] `json:"most_load_under_slo,omitzero"`
	// PeakOutputThroughput is the highest steady output of a valid level,
	// tokens per second.
	PeakOutputThroughput probe.Opt[float64] `json:"peak_output_throughput,omitzero"`
	Limits               []Wall             `json:"limits"`
	USL                  *USL               `json:"usl,omitempty"`
	Warnings             []string           `json:"warnings"`
}

// Recommended is a load to run production at: the lower of Factor × knee and
// the most load that meets the SLO, rounded down (a concurrency to a whole
// number of at least 1, a rate to two digits).
type Recommended struct {
	Load   float64 `json:"load"`
	Factor float64 `json:"factor"`
	By     string  `json:"by"` // "knee" or "slo": which of the two bound it
}

// Conditions say under which circumstances a report was made. What does not
// apply stays empty and is left out. They never hold a secret.
type Conditions struct {
	Version   string `json:"version,omitempty"` // of tokprobe
	GoVersion string `json:"go_version,omitempty"`
	Host      string `json:"host,omitempty"` // where the load came from: name, system, cores
	Location  string `json:"location,omitempty"`

	Sweep       string `json:"sweep,omitempty"`
	Target      string `json:"target,omitempty"`
	Endpoint    string `json:"endpoint,omitempty"` // base URL, without user info
	Protocol    string `json:"protocol,omitempty"`
	Model       string `json:"model,omitempty"`
	ServedModel string `json:"served_model,omitempty"`
	ServerInfo  string `json:"server_info,omitempty"`

	Scenario    string `json:"scenario,omitempty"`
	Prompt      string `json:"prompt,omitempty"` // name of the prompt or of the dataset
	PromptHash  string `json:"prompt_hash,omitempty"`
	Language    string `json:"language,omitempty"`
	Cache       string `json:"cache,omitempty"`
	InputTokens int    `json:"input_tokens,omitempty"` // asked for; 0 if the prompt is a text
	MaxTokens   int    `json:"max_tokens,omitempty"`
	ForceLength bool   `json:"force_length,omitempty"`
	// PromptTokensP50 is the median size that the endpoint reported.
	PromptTokensP50 probe.Opt[float64] `json:"prompt_tokens_p50,omitzero"`

	// Params are what requests asked for besides, as name=value. A text that
	// may be a key is not among them.
	Params []string `json:"params,omitempty"`

	Ladder []float64 `json:"ladder"`
	// Search is how the ladder was found: "auto up to 64, tolerance 5%".
	Search     string  `json:"search,omitempty"`
	Arrival    string  `json:"arrival,omitempty"`
	Burstiness float64 `json:"burstiness,omitempty"`
	Seed       uint64  `json:"seed"`
	Requests   int     `json:"requests,omitempty"` // per level; 0: by rule or by duration
	LevelS     float64 `json:"level_seconds,omitempty"`
	// CoolDownS is 0 where none was asked for, and absent where it is not known.
	CoolDownS probe.Opt[float64] `json:"cool_down_seconds,omitzero"`
	Repeats   int                `json:"repeats,omitempty"`
	SLO       string             `json:"slo,omitempty"`
	// Limits are those of a request, Abort is what ends the sweep early.
	Limits         string  `json:"limits,omitempty"`
	LevelDeadlineS float64 `json:"level_deadline_seconds,omitempty"` // 0: by rule
	MaxDurationS   float64 `json:"max_duration_seconds,omitempty"`
	Abort          string  `json:"abort,omitempty"`
	// Thresholds are those of the judgement that are not the defaults, as
	// name=value.
	Thresholds []string `json:"thresholds,omitempty"`

	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
}

// WithoutSamples returns the report without the requests themselves, as it is
// printed; saved reports hold them.
func (r Report) WithoutSamples() Report {
	levels := make([]Level, len(r.Levels))
	for i, l := range r.Levels {
		l.Samples = nil
		levels[i] = l
	}
	r.Levels = levels
	return r
}

// Write writes the report as indented JSON with a final line feed.
func (r Report) Write(w io.Writer) error {
	r.SchemaVersion = SchemaVersion
	if r.Levels == nil {
		r.Levels = []Level{}
	}
	if r.Limits == nil {
		r.Limits = []Wall{}
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// ReadReport reads a report that Write wrote, with samples or without. It
// refuses one of a newer schema and one without levels.
func ReadReport(src io.Reader) (Report, error) {
	var r Report
	if err := json.NewDecoder(src).Decode(&r); err != nil {
		return Report{}, fmt.Errorf("not a sweep report: %w", err)
	}
	switch {
	case r.SchemaVersion == 0:
		return Report{}, fmt.Errorf("not a sweep report: no schema_version; write one with `tokprobe sweep --format json` or --save")
	case r.SchemaVersion > SchemaVersion:
		return Report{}, fmt.Errorf("schema_version %d is newer than %d, the newest this version reads: use a newer tokprobe", r.SchemaVersion, SchemaVersion)
	case r.Mode != Concurrency && r.Mode != Rate:
		return Report{}, fmt.Errorf("mode %q is neither %s nor %s", r.Mode, Concurrency, Rate)
	case len(r.Levels) == 0:
		return Report{}, fmt.Errorf("the report has no levels")
	}
	return r, nil
}
