package sweep

import (
	"fmt"
	"slices"
	"strings"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/wire"
)

// scenario is one of the fixed workloads. T3 and T4 ask the very same, so that
// only the length of the output differs between them.
type scenario struct {
	name, what string
	tokens     int
	text       map[string]string // by language
}

var explain = map[string]string{
	"en": "Explain in depth how a large language model is served to many users at once. Begin with what happens to a request " +
		"from its arrival to its last token: waiting in the queue, prefill of the prompt, decoding token by token. Then explain " +
		"continuous batching, the memory for keys and values and what happens when it is full, chunked prefill, prefix caching and " +
		"speculative decoding. For each, say what it does to the time to first token and to the time per output token, and give an " +
		"example with numbers. Write whole paragraphs and do not stop early.",
	"zh": "请深入讲解大语言模型如何同时为许多用户提供推理服务。先说明一个请求从到达到最后一个词元经历了什么：在队列中等待、对提示词做预填充、" +
		"逐个词元解码。然后讲解连续批处理、键值缓存以及它被占满时会发生什么、分块预填充、前缀缓存和投机解码。对每一项都说明它如何影响首个词元的" +
		"时间和每个输出词元的时间，并给出带数字的例子。请写成完整的段落，不要提前结束。",
}

var scenarios = []scenario{
	{"T1", "a greeting, 16 tokens: scheduling and prefill only", 16, map[string]string{
		"en": "Hello! Please greet me back in one short sentence.",
		"zh": "你好！请用一句简短的话向我问好。",
	}},
	{"T2", "a short answer, 64 tokens: chat", 64, map[string]string{
		"en": "In one sentence, what does continuous batching change for the users of an inference server?",
		"zh": "请用一句话说明：连续批处理给推理服务的用户带来了什么变化？",
	}},
	{"T3", "a long explanation, 512 tokens: the main comparison", 512, explain},
	{"T4", "the prompt of T3 with 2048 tokens: only the length of the output differs", 2048, explain},
}

// Languages of the scenarios' prompts, the default first.
func Languages() []string { return roster.Languages() }

// Scenarios returns the names of the fixed workloads.
func Scenarios() []string {
	names := make([]string, len(scenarios))
	for i, s := range scenarios {
		names[i] = s.name
	}
	return names
}

// ScenarioPrompt is the prompt of a scenario in a language (empty is English).
func ScenarioPrompt(name, language string) (probe.Prompt, error) {
	if language == "" {
		language = Languages()[0]
	}
	i := slices.IndexFunc(scenarios, func(s scenario) bool { return strings.EqualFold(s.name, name) })
	if i < 0 {
		return probe.Prompt{}, fmt.Errorf("scenario %q: want one of %s", name, strings.Join(Scenarios(), ", "))
	}
	text, ok := scenarios[i].text[language]
	if !ok {
		return probe.Prompt{}, fmt.Errorf("language %q: scenarios are in %s", language, strings.Join(Languages(), " and "))
	}
	return probe.Prompt{Name: scenarios[i].name, MaxTokens: scenarios[i].tokens,
		Messages: []wire.Message{{Role: "user", Content: text}}}, nil
}
