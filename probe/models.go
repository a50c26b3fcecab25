package probe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	maxModels  = 5000 // a list is for people and for finding near misses
	maxModelID = 200  // bytes of one id
)

// parseModels reads the shapes that lists of models come in:
//
//	{"data": [{"id": "a"}]}      OpenAI, vLLM, Anthropic
//	{"models": [{"name": "a"}]}  Ollama, llama.cpp, Gemini ("models/a")
//	[{"id": "a"}], ["a"]         small servers; also inside data and models
//	{"models": {"a": {…}}}       proxies
func parseModels(body []byte) ([]string, error) {
	var list json.RawMessage = body
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) == nil {
		list = object["data"]
		if len(list) == 0 {
			list = object["models"]
		}
	}
	if !json.Valid(body) {
		return nil, fmt.Errorf("GET /v1/models: the answer is not JSON")
	}
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		var byName map[string]json.RawMessage
		if json.Unmarshal(list, &byName) != nil {
			return nil, fmt.Errorf("GET /v1/models: the answer holds no list of models")
		}
		ids := slices.Sorted(maps.Keys(byName))
		return cleanIDs(ids), nil
	}
	ids := make([]string, 0, len(items))
	for _, item := range items {
		ids = append(ids, modelID(item))
	}
	return cleanIDs(ids), nil
}

func modelID(item json.RawMessage) string {
	var id string
	if json.Unmarshal(item, &id) == nil {
		return id
	}
	var named struct{ ID, Name, Model any } // any: one odd member must not hide the others
	if json.Unmarshal(item, &named) != nil {
		return ""
	}
	for _, v := range []any{named.ID, named.Name, named.Model} {
		if id, _ = v.(string); id != "" {
			return id
		}
	}
	return ""
}

// cleanIDs drops what is no id and what is there twice, and bounds the rest.
func cleanIDs(ids []string) []string {
	seen := make(map[string]bool, min(len(ids), maxModels))
	clean := make([]string, 0, min(len(ids), maxModels))
	for _, id := range ids {
		id = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(id, "?"))
		if id == "" || len(id) > maxModelID || seen[id] {
			continue
		}
		if len(clean) == maxModels {
			break
		}
		seen[id] = true
		clean = append(clean, id)
	}
	return clean
}

// Nearest returns up to n of the ids, those most like model first. Case and the
// signs between words do not count, and neither does an owner in front: for
// "gpt4o" the first is "openai/GPT-4o".
func Nearest(model string, ids []string, n int) []string {
	type candidate struct {
		id          string
		folded, raw int // edit distances
	}
	model = model[:min(len(model), maxModelID)]
	list := make([]candidate, len(ids))
	for i, id := range ids {
		short := id[:min(len(id), maxModelID)]
		folded := min(distance(fold(model), fold(short)), distance(fold(base(model)), fold(base(short))))
		list[i] = candidate{id, folded, distance(model, short)}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.folded, b.folded), cmp.Compare(a.raw, b.raw), strings.Compare(a.id, b.id))
	})
	near := make([]string, 0, max(0, min(n, len(list))))
	for _, c := range list[:cap(near)] {
		near = append(near, c.id)
	}
	return near
}

// fold keeps letters and digits, in lower case.
func fold(id string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, id)
}

func base(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// distance is the number of insertions, deletions and substitutions that turn
// a into b (Levenshtein), in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
