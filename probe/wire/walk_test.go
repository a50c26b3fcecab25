package wire

import (
	"strings"
	"testing"
)

// jsonTexts are texts and what the walker says of them.
var jsonTexts = []struct {
	give string
	want fault
}{
	{`{}`, sound},
	{` [ ] `, sound},
	{`{"a":[1,{"b":null}],"c":"d"}`, sound},
	{`"plain"`, sound},
	{`"\"\\\/\b\f\n\r\t\u00e9\ud83c\udf0d"`, sound},
	{`"\ud83c alone, \udf0d alone, \ud83c\u0041"`, sound},
	{"\"\xff\xfe\"", sound}, // not UTF-8, as encoding/json
	{`-0.5e+10`, sound},
	{`1E400`, sound},
	{strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), sound},
	{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), wrong},
	{strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1), wrong},
	{``, short},
	{`{`, short},
	{`{"a"`, short},
	{`{"a":`, short},
	{`{"a":1`, short},
	{`{"a":1,`, short},
	{`[1`, short},
	{`[1,`, short},
	{`"abc`, short},
	{`"\`, short},
	{`"\u12`, short},
	{`tru`, short},
	{`-`, short},
	{`1.`, short},
	{`1e`, short},
	{`{,}`, wrong},
	{`{"a":1,}`, wrong},
	{`[1,]`, wrong},
	{`[1 2]`, wrong},
	{`{"a" 1}`, wrong},
	{`{a:1}`, wrong},
	{`{'a':1}`, wrong},
	{`{"a":1}}`, wrong},
	{`{} {}`, wrong},
	{`01`, wrong},
	{`.5`, wrong},
	{`+1`, wrong},
	{`NaN`, wrong},
	{`[DONE]`, wrong},
	{"\"a\nb\"", wrong},
	{"\"a\x00b\"", wrong},
	{"\x00", wrong},
	{"{\x00}", wrong},
	{"{} \x00", wrong},
	{`"\x41"`, wrong},
	{`"\u00g0"`, wrong},
	{"\uFEFF{}", wrong},
}

func TestWalker(t *testing.T) {
	for _, c := range jsonTexts {
		var w walker
		w.reset([]byte(c.give))
		w.skip()
		w.end()
		if w.fault != c.want {
			t.Errorf("%.60q: fault %d, want %d", c.give, w.fault, c.want)
		}
		checkWalker(t, []byte(c.give))
	}
}

func TestUnescape(t *testing.T) {
	for _, c := range []struct{ give, want string }{
		{`a\"\\\/\b\f\n\r\t`, "a\"\\/\b\f\n\r\t"},
		{`\u00e9\u4e16`, "é世"},
		{`\ud83c\udf0d!`, "🌍!"},
		{`\uD83C`, "\uFFFD"},
		{`\ud83cx`, "\uFFFDx"},
		{`\ud83c\u0041`, "\uFFFDA"},
		{`\udf0d\ud83c\udf0d`, "\uFFFD🌍"},
		{`\u0000`, "\x00"},
		{"\xe3\x81", "\xe3\x81"}, // half a character; the other half is in the next event
	} {
		if got := string(unescape(nil, []byte(c.give))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.give, got, c.want)
		}
	}
}
