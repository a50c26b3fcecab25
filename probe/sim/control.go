package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
)

// SetFaults replaces all faults; none makes the endpoint healthy. Of several,
// the first that names a request's model (or no model) counts. Speeds change
// from the next engine step on, everything else with the next request. On an
// error nothing changes.
func (s *Server) SetFaults(list ...Faults) error {
	for _, f := range list {
		if err := f.Check(); err != nil {
			return err
		}
	}
	list = append([]Faults{}, list...)
	s.faults.Store(&list)
	return nil
}

// Faults returns the faults in force.
func (s *Server) Faults() []Faults {
	if p := s.faults.Load(); p != nil {
		return *p
	}
	return []Faults{}
}

// faultsFor returns the faults of one model.
func (s *Server) faultsFor(model string) Faults {
	for _, f := range s.Faults() {
		if len(f.Models) == 0 || slices.Contains(f.Models, model) {
			return f
		}
	}
	return Faults{}
}

// putFaults takes one object or a list.
func (s *Server) putFaults(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	var list []Faults
	if err == nil {
		if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
			err = json.Unmarshal(raw, &list)
		} else {
			list = make([]Faults, 1)
			err = json.Unmarshal(raw, &list[0])
		}
	}
	if err == nil {
		err = s.SetFaults(list...)
	}
	if err != nil {
		http.Error(w, "faults: "+err.Error(), http.StatusBadRequest)
		return
	}
	writeJSON(w, s.Faults())
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // gone is gone
}
