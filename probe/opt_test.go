package probe

import (
	"encoding/json"
	"testing"
)

func TestOptJSON(t *testing.T) {
	type doc struct {
		A Opt[float64] `json:"a,omitzero"`
		B Opt[float64] `json:"b,omitzero"`
		C Opt[string]  `json:"c"`
	}
	give := doc{A: Some(0.0)}
	got, err := json.Marshal(give)
	if want := `{"a":0,"c":null}`; err != nil || string(got) != want {
		t.Fatalf("got %s, %v; want %s: a known 0 is written, an unknown one is not", got, err, want)
	}
	var back doc
	if err := json.Unmarshal(got, &back); err != nil || back != give {
		t.Errorf("read back %+v, %v; want %+v", back, err, give)
	}
	if err := json.Unmarshal([]byte(`{"a":"x"}`), &back); err == nil || back.A.OK {
		t.Errorf("a string for a number: got %+v, %v; want an error and nothing known", back.A, err)
	}
}
