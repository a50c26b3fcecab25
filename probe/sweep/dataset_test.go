package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/wire"
)

func user(text string) []wire.Message { return []wire.Message{{Role: "user", Content: text}} }

func TestReadDataset(t *testing.T) {
	lines := "\n" + `{"prompt": "one"}
{"prompt": ""}

not json
{"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "two"}]}, {"role": "assistant", "content": "…"}]}
{"conversations": [{"from": "human", "value": "three"}, {"from": "gpt", "value": "…"}]}
{"conversations": [{"from": "gpt", "value": "…"}]}
{"messages": "four"}
{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}
{"prompt": "five"}`
	d, err := ReadDataset(strings.NewReader(lines), Sampling{Name: "set", MaxTokens: 9})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]wire.Message{user("one"), {{Role: "system", Content: "be brief"}, {Role: "user", Content: "two"}}, user("three"), user("five")}
	var got [][]wire.Message
	for _, p := range d.Prompts {
		got = append(got, p.Messages)
		if p.Name != "set" || p.MaxTokens != 9 {
			t.Errorf("prompt %+v", p)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || d.Good != 4 {
		t.Errorf("got %v, want %v", got, want)
	}
	wantBad := []BadLine{{3, "has none of conversations, messages and prompt, or an empty one"}, {5, "no valid JSON: want one object a line, or one array of them"},
		{8, "conversations has no human turn with a value"}, {9, "messages is a string where another type belongs"},
		{10, `messages[0].content: a part of type "image_url", and only texts can be sent`}}
	if !slices.Equal(d.Bad, wantBad) || d.Skipped != 5 {
		t.Errorf("bad lines %+v, want %+v", d.Bad, wantBad)
	}
}

func TestReadDatasetArray(t *testing.T) {
	d, err := ReadDataset(strings.NewReader("\xef\xbb\xbf\n [\n {\"prompt\": \"one\"},\n\n {\"id\": 1},\n {\"prompt\":\n \"two\"}, 7, {\"prompt\": oops} ]"), Sampling{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Good != 2 || d.Prompts[1].Messages[0].Content != "two" {
		t.Errorf("%d good: %+v", d.Good, d.Prompts)
	}
	var at []int
	for _, b := range d.Bad {
		at = append(at, b.Line)
	}
	if !slices.Equal(at, []int{5, 7, 7}) {
		t.Errorf("bad entries %+v, want them at lines 5, 7 and 7", d.Bad)
	}
}

func TestDatasetWithoutGoodLines(t *testing.T) {
	for give, want := range map[string]string{
		"":                     "the data set is empty",
		" \n\n":                "the data set is empty",
		"[]":                   "the data set is empty",
		"{\"id\": 1}\nrubbish": "no usable entry: 2 were skipped, the first at line 1: has none of",
		"[{\"id\": 1}]":        "no usable entry: 1 were skipped, the first at line 1",
	} {
		if _, err := ReadDataset(strings.NewReader(give), Sampling{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", give, err, want)
		}
	}
}

// TestLongLine: a line beyond 16 MiB is skipped, those around it are not.
func TestLongLine(t *testing.T) {
	src := "{\"prompt\": \"a\"}\n" + `{"prompt": "` + strings.Repeat("x", maxEntry) + "\"}\n{\"prompt\": \"b\"}\n"
	d, err := ReadDataset(strings.NewReader(src), Sampling{})
	if err != nil || d.Good != 2 || !slices.Equal(d.Bad, []BadLine{{2, "longer than 16 MiB"}}) {
		t.Errorf("%d good, bad %+v, %v", d.Good, d.Bad, err)
	}
}

// TestSample: 10 of 1,000 drawn by seed, over the whole file.
func TestSample(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "{\"prompt\": \"%04d\"}\n", i)
	}
	draw := func(seed uint64) string {
		d, err := ReadDataset(strings.NewReader(b.String()), Sampling{Seed: seed, Most: 10})
		if err != nil || len(d.Prompts) != 10 || d.Good != 1000 {
			t.Fatalf("%d of %d, %v", len(d.Prompts), d.Good, err)
		}
		var texts []string
		for _, p := range d.Prompts {
			texts = append(texts, p.Messages[0].Content)
		}
		return strings.Join(texts, " ")
	}
	if first, again := draw(1), draw(1); first != again || first == draw(2) {
		t.Error("the sample does not follow the seed")
	}
	if last := draw(1); !strings.ContainsAny(strings.Join(strings.Fields(last), "\n"), "56789") {
		t.Errorf("only the beginning was drawn: %s", last)
	}
}

// TestScenarios: T4 asks what T3 asks, and the forecasts of scheduled sweeps
// know the sizes.
func TestScenarios(t *testing.T) {
	tokens := map[string]int{"T1": 16, "T2": 64, "T3": 512, "T4": 2048}
	for _, lang := range Languages() {
		texts := map[string]string{}
		for _, name := range Scenarios() {
			p, err := ScenarioPrompt(name, lang)
			if err != nil || p.MaxTokens != tokens[name] || p.Name != name || p.Cache != "" {
				t.Errorf("%s %s: %+v, %v", name, lang, p, err)
			}
			texts[name] = p.Messages[0].Content
			one := roster.Sweep{Scenario: name, Mode: "concurrency", Ladder: []float64{1}, Requests: 1}.OneRun()
			if got := float64(roster.EstimateInput(p)); one.InputTokens < 2*got || one.InputTokens > 3*got || one.OutputTokens != 2*float64(tokens[name]) {
				t.Errorf("%s %s: forecast of %g input tokens for two requests of %g, %g output", name, lang, one.InputTokens, got, one.OutputTokens)
			}
		}
		if texts["T3"] != texts["T4"] || texts["T1"] == texts["T2"] {
			t.Errorf("%s: T3 and T4 must ask the same, T1 and T2 must not", lang)
		}
	}
	if _, err := ScenarioPrompt("T5", ""); err == nil {
		t.Error("T5 exists")
	}
	if _, err := ScenarioPrompt("T1", "de"); err == nil {
		t.Error("German exists")
	}
}

func TestPromptsHash(t *testing.T) {
	a, b := prompt(8), prompt(16)
	if promptsHash([]probe.Prompt{a}) != a.Hash() {
		t.Error("the hash of one prompt is not its own")
	}
	if promptsHash([]probe.Prompt{a, b}) != promptsHash([]probe.Prompt{b, a}) || promptsHash([]probe.Prompt{a, b}) == a.Hash() {
		t.Error("the hash of several prompts depends on their order")
	}
}

// TestHugeDataset: what does not end is refused, as lines, as an array and as
// one line without an end; what just fits is read.
func TestHugeDataset(t *testing.T) {
	for text, most := range map[string]int64{
		strings.Repeat("{\"prompt\": \"x\"}\n", 9000):               100_000,
		"[" + strings.Repeat("{\"prompt\": \"x\"},", 9000):          100_000,
		"[{\"prompt\": \"" + strings.Repeat("x", 200_000):           100_000,
		strings.Repeat("\x00", 200_000):                             100_000,
		strings.Repeat("\n", 200_000):                               100_000,
		"[" + strings.Repeat("\n", 200_000) + "{\"prompt\":\"x\"}]": 100_000,
	} {
		_, err := readDataset(&cappedReader{src: strings.NewReader(text), left: most}, Sampling{})
		if err != errHugeDataset {
			t.Errorf("%.20q: %v, want %v", text, err, errHugeDataset)
		}
	}
	text := "{\"prompt\": \"x\"}\n"
	d, err := readDataset(&cappedReader{src: strings.NewReader(text), left: int64(len(text))}, Sampling{})
	if err != nil || d.Good != 1 {
		t.Errorf("a data set that just fits: %d good, %v", d.Good, err)
	}
}

// TestReadDatasetEncoding: what is no UTF-8 would reach the endpoint as other
// characters than the file has.
func TestReadDatasetEncoding(t *testing.T) {
	d, err := ReadDataset(strings.NewReader("{\"prompt\": \"caf\xe9\"}\n{\"prompt\": \"café\"}\n"), Sampling{})
	if err != nil || d.Good != 1 || !slices.Equal(d.Bad, []BadLine{{1, "no valid UTF-8"}}) {
		t.Errorf("%+v, %v", d, err)
	}
}
