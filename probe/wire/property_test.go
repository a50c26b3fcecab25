package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestAgainstEncodingJSON makes chunks at random, members in any order, values
// of any type in any place, and compares what the walker takes from them with
// a plain reading of the same text by encoding/json.
func TestAgainstEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tokens, finishes := 0, 0
	for range 3000 {
		text := randomChunk(r)
		var chunk map[string]any
		if text[0] != '{' {
			continue
		}
		if err := json.Unmarshal([]byte(text), &chunk); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := plainChat(chunk)
		d := newDecoder(strings.NewReader("data: "+text+"\n\n"+doneLine), chatMember, nil)
		ev, err := d.Next()
		if err != nil && err != io.EOF {
			t.Fatalf("%s: %v", text, err)
		}
		got := fmt.Sprintf("%q %q %q %v %v %v", ev.Text, ev.Reasoning, ev.Finish, ev.Token, ev.Content, ev.Thinking)
		if got != want {
			t.Fatalf("%s:\n got %s\nwant %s", text, got, want)
		}
		if ev.Token {
			tokens++
		}
		if ev.Finish != nil {
			finishes++
		}
	}
	if tokens < 500 || finishes < 200 {
		t.Errorf("only %d tokens and %d finish reasons: the chunks are too tame", tokens, finishes)
	}
}

// plainChat is the rule of what a token is, read slowly.
func plainChat(chunk map[string]any) string {
	var text, reasoning, finish string
	var token, content, thinking bool
	choices, _ := chunk["choices"].([]any)
	for n, el := range choices {
		choice, _ := el.(map[string]any)
		delta, _ := choice["delta"].(map[string]any)
		say, _ := delta["content"].(string)
		think, _ := delta["reasoning_content"].(string)
		if think == "" {
			think, _ = delta["reasoning"].(string)
		}
		calls, _ := delta["tool_calls"].([]any)
		for _, el := range calls {
			call, _ := el.(map[string]any)
			function, _ := call["function"].(map[string]any)
			arguments, _ := function["arguments"].(string)
			token = token || arguments != ""
		}
		content, thinking = content || say != "", thinking || think != ""
		index := float64(n)
		if i, ok := choice["index"].(float64); ok && i >= 0 {
			index = i
		}
		if index == 0 {
			text, reasoning = text+say, reasoning+think
			if f, _ := choice["finish_reason"].(string); f != "" {
				finish = f
			}
		}
	}
	return fmt.Sprintf("%q %q %q %v %v %v", text, reasoning, finish, token || content || thinking, content, thinking)
}

func randomChunk(r *rand.Rand) string {
	return object(r, map[string]func() string{
		"id": func() string { return anything(r) },
		"choices": func() string {
			return list(r, func() string {
				return object(r, map[string]func() string{
					"index":         func() string { return strconv.Itoa(r.IntN(2)) },
					"finish_reason": func() string { return or(r, `"stop"`) },
					"logprobs":      func() string { return anything(r) },
					"delta":         func() string { return randomDelta(r) },
				})
			})
		},
		"usage": func() string { return anything(r) },
	})
}

func randomDelta(r *rand.Rand) string {
	return object(r, map[string]func() string{
		"role":              func() string { return anything(r) },
		"content":           func() string { return words(r) },
		"reasoning_content": func() string { return words(r) },
		"reasoning":         func() string { return words(r) },
		"tool_calls": func() string {
			return list(r, func() string {
				return object(r, map[string]func() string{"name": func() string { return anything(r) }, "function": func() string {
					return object(r, map[string]func() string{"arguments": func() string { return words(r) }})
				}})
			})
		},
	})
}

// object writes some of the members in random order, one in sixteen times
// something else.
func object(r *rand.Rand, members map[string]func() string) string {
	if r.IntN(16) == 0 {
		return anything(r)
	}
	var names []string
	for _, name := range []string{"id", "choices", "usage", "index", "finish_reason", "logprobs", "delta", "role", "content", "reasoning_content", "reasoning", "tool_calls", "function", "name", "arguments"} {
		if members[name] != nil && r.IntN(3) > 0 {
			names = append(names, name)
		}
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var out bytes.Buffer
	out.WriteString("{")
	for i, name := range names {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%s :%s", quote(r, name), members[name]())
	}
	out.WriteString("}")
	return out.String()
}

func list(r *rand.Rand, element func() string) string {
	var out []string
	for range r.IntN(4) {
		out = append(out, element())
	}
	return "[" + strings.Join(out, ",\t") + "]"
}

func or(r *rand.Rand, usual string) string {
	if r.IntN(3) == 0 {
		return anything(r)
	}
	return usual
}

// words are strings as they come in deltas.
func words(r *rand.Rand) string {
	return or(r, quote(r, []string{"", " ", "\n", "calm", "世界", "🌍 \"q\" \\", strings.Repeat("long ", 20)}[r.IntN(7)]))
}

// anything is a value that belongs nowhere; no list, which content may be.
func anything(r *rand.Rand) string {
	return []string{"null", "17", "-0.5e3", "true", `""`, `{"content":"no","x":[{},[1]]}`, `{}`}[r.IntN(7)]
}

// quote writes a string with some characters as escapes.
func quote(r *rand.Rand, s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range s {
		switch {
		case c > 0xffff && r.IntN(2) == 0:
			fmt.Fprintf(&out, `\u%04x\u%04X`, 0xd800+(c-0x10000)>>10, 0xdc00+(c-0x10000)&0x3ff)
		case c < ' ', c == '"', c == '\\', c < 0x10000 && r.IntN(8) == 0:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			out.WriteRune(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
