package cupelchat

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocs wants a line in docs/chat-rules.md, with a source, for each rule of
// each API, and a body that breaks each rule that has a line.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "docs", "chat-rules.md"))
	require.NoError(t, err)
	sections := strings.Split(string(data), "\n## ")
	titles := map[Format]string{
		OpenAI: "OpenAI Chat Completions", Responses: "OpenAI Responses", Anthropic: "Anthropic Messages",
		Gemini: "Gemini generateContent", Bedrock: "Bedrock Converse", Ollama: "Ollama",
	}
	line := regexp.MustCompile("(?m)^- `([a-z-]+)`: (.*)$")
	// These have a line under "Every API", or a test of their own.
	everywhere := map[string]bool{"syntax": true, "name-twice": true, "body-type": true}
	for _, format := range writable {
		at := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, titles[format]+"\n") })
		require.GreaterOrEqual(t, at, 0, "no section %s", titles[format])
		broken := map[string]bool{}
		for _, c := range casesOf(t, format, "bad") {
			broken[c.Rule] = true
		}
		documented := map[string]bool{}
		for _, m := range line.FindAllStringSubmatch(sections[at], -1) {
			documented[m[1]] = true
			assert.Contains(t, m[2], "](https://", "%s: the rule %s has no source", format, m[1])
			assert.True(t, broken[m[1]] || m[1] == "list-long", "%s: no body breaks the rule %s", format, m[1])
		}
		for _, rule := range slices.Sorted(maps.Keys(broken)) {
			assert.True(t, documented[rule] || everywhere[rule], "%s: the rule %s has no line in docs/chat-rules.md", format, rule)
		}
	}
}

// TestEveryAPI breaks the rules that are the same for all.
func TestEveryAPI(t *testing.T) {
	tests := []struct{ why, body, path, rule string }{
		{"cut off", `{"messages":[`, "", "syntax"},
		{"no text", ``, "", "syntax"},
		{"another encoding", "\xff\xfe{\x00}\x00", "", "syntax"},
		{"not UTF-8", "{\"a\":\"\xff\"}", "", "syntax"},
		{"a string", `"hi"`, "", "body-type"},
		{"null", `null`, "", "body-type"},
		{"a name given twice", `{"model":"a","model":"b"}`, "model", "name-twice"},
	}
	for _, tt := range tests {
		for _, format := range writable {
			got := Check([]byte(tt.body), format)
			found := slices.ContainsFunc(got, func(v Violation) bool { return v.Path == tt.path && v.Rule == tt.rule })
			assert.True(t, found, "%s, %s: got %q, want %s %s", format, tt.why, got, tt.path, tt.rule)
			if tt.path == "" {
				assert.Len(t, got, 1, tt.why)
			}
		}
	}
	got := Check([]byte("{\"messages\": [\n  {\"role\": \"user\",}]}"), OpenAI)
	require.Len(t, got, 1)
	require.Contains(t, got[0].Message, "line 2")
}

// TestListLong has more messages than Anthropic takes.
func TestListLong(t *testing.T) {
	body := "[" + strings.Repeat(`{"role":"user","content":"x"},`, 100_000) + `{"role":"user","content":"x"}]`
	got := Check([]byte(body), Anthropic)
	require.Len(t, got, 1)
	require.Equal(t, "list-long", got[0].Rule)
	require.Equal(t, "messages[100000]", got[0].Path)
	r := newReader(Anthropic, nil, settings{})
	r.size = 100_000 // as many as it takes
	r.codec.end(r)
	require.Empty(t, r.found)
}

// TestLongNames has names in paths and messages that do not fill a screen, and
// are cut between characters.
func TestLongNames(t *testing.T) {
	for _, long := range []string{strings.Repeat("é", 100), "x" + strings.Repeat("é", 100), strings.Repeat("語", 100)} {
		got := Check([]byte(`[{"role":"user","content":"hi","`+long+`":1},{"role":"`+long+`"}]`), Anthropic)
		require.Len(t, got, 2)
		for _, v := range got {
			if !strings.HasSuffix(v.Path, "…") && !strings.Contains(v.Message, "…") || !utf8.ValidString(v.Path+v.Message) || len(v.Path)+len(v.Message) > 250 {
				t.Errorf("got %q", v)
			}
		}
	}
}

// TestBad wants the documented violation of each body, and no other.
func TestBad(t *testing.T) {
	n := 0
	for _, format := range writable {
		for _, c := range casesOf(t, format, "bad") {
			n++
			t.Run(format.String()+"/"+c.Name, func(t *testing.T) {
				var got []string
				for _, v := range Check(c.Body, format) {
					got = append(got, v.Path+" "+v.Rule)
					assert.NotEmpty(t, v.Message, v.Rule)
					assert.NotContains(t, v.Message, "%!", v.Rule)
				}
				want := append([]string{c.Path + " " + c.Rule}, c.Also...)
				slices.Sort(got)
				slices.Sort(want)
				assert.Equal(t, want, got)
			})
		}
	}
	require.GreaterOrEqual(t, n, 150)
}

// TestGood wants no violation in unusual bodies.
func TestGood(t *testing.T) {
	n := 0
	for _, format := range writable {
		for _, c := range casesOf(t, format, "good") {
			n++
			t.Run(format.String()+"/"+c.Name, func(t *testing.T) {
				require.Empty(t, Check(c.Body, format), "%s:\n%s", c.Why, c.Body)
			})
		}
	}
	require.GreaterOrEqual(t, n, 50)
}

// FuzzCheck looks for panics, and for paths and messages that cannot be printed.
func FuzzCheck(f *testing.F) {
	for i, format := range writable {
		for _, kind := range []string{"bad", "good"} {
			for _, c := range casesOf(f, format, kind) {
				f.Add(uint8(i), c.Body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		format := writable[int(which)%len(writable)]
		got := Check(body, format)
		for _, v := range got {
			if v.Rule == "" || v.Message == "" || !utf8.ValidString(v.Path) || !utf8.ValidString(v.Message) || len(v.Path) > 1000 || len(v.Message) > 2000 {
				t.Fatalf("%q of %q", v, body)
			}
		}
		require.Equal(t, got, Check(body, format))
	})
}
