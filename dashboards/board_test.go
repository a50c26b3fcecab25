package dashboards

import (
	"encoding/json"
	"fmt"
	"testing"
)

// board is what the tests read of a dashboard's JSON: the file, not the code.
type board struct {
	UID         string
	Tags        []string
	Panels      []boardPanel
	Templating  struct{ List []boardVariable }
	Links       []struct{ Type, URL string }
	Annotations struct {
		List []struct{ Name, Expr string }
	}
}

type boardPanel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct {
		Defaults struct{ Unit, NoValue string }
	}
	Targets []struct{ Expr, LegendFormat, RefID string }
}

type boardVariable struct {
	Name, Type string
	Multi      bool
	Query      any
	AllValue   string
	Current    struct{ Value any }
}

// boards parses the generated files.
func boards(t *testing.T) []board {
	t.Helper()
	var list []board
	for _, f := range all(t) {
		var b board
		if err := json.Unmarshal(f.JSON, &b); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		list = append(list, b)
	}
	return list
}

// asked is one expression of a board and where it stands.
type asked struct {
	place, expr, legend string
	panel               string // board and panel; empty for annotations
}

// queries lists every expression of the board: of panels and of annotations.
func (b board) queries() []asked {
	var list []asked
	for _, p := range b.Panels {
		for _, q := range p.Targets {
			name := b.UID + " / " + p.Title
			list = append(list, asked{place: name + " / " + q.RefID, expr: q.Expr, legend: q.LegendFormat, panel: name})
		}
	}
	for _, a := range b.Annotations.List {
		list = append(list, asked{place: b.UID + " / annotation " + a.Name, expr: a.Expr})
	}
	return list
}

// variableQuery is the label_values(…) of a query variable, else empty.
func (v boardVariable) variableQuery() string {
	if m, ok := v.Query.(map[string]any); ok && v.Type == "query" {
		return fmt.Sprint(m["query"])
	}
	return ""
}
