package rules

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupelchat/internal/cases"
)

// TestDocs wants a row in docs/chat-rules.md, with a source, for each rule of
// each API, and a body that breaks each rule that has a row.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "chat-rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(data), "\n## ")
	titles := map[string]string{
		"openai": "OpenAI Chat Completions", "responses": "OpenAI Responses", "anthropic": "Anthropic Messages",
		"gemini": "Gemini generateContent", "bedrock": "Bedrock Converse", "ollama": "Ollama",
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|(.*)\\|$")
	// These have a row under "Every API", or a test of their own.
	everywhere := map[string]bool{ruleSyntax: true, ruleNameTwice: true, ruleBodyType: true}
	for _, format := range cases.Formats {
		at := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, titles[format]+"\n") })
		if at < 0 {
			t.Errorf("no section %s", titles[format])
			continue
		}
		broken := map[string]bool{}
		for _, c := range cases.Load(t, root, format, "bad") {
			broken[c.Rule] = true
		}
		documented := map[string]bool{}
		for _, m := range row.FindAllStringSubmatch(sections[at], -1) {
			documented[m[1]] = true
			if !strings.Contains(m[2], "](https://") {
				t.Errorf("%s: the rule %s has no source", format, m[1])
			}
			if !broken[m[1]] && m[1] != ruleListLong {
				t.Errorf("%s: no body breaks the rule %s", format, m[1])
			}
		}
		for _, rule := range slices.Sorted(maps.Keys(broken)) {
			if !documented[rule] && !everywhere[rule] {
				t.Errorf("%s: the rule %s has no row in docs/chat-rules.md", format, rule)
			}
		}
	}
}

// TestEveryAPI breaks the rules that are the same for all.
func TestEveryAPI(t *testing.T) {
	tests := []struct{ why, body, path, rule string }{
		{"cut off", `{"messages":[`, "", ruleSyntax},
		{"no text", ``, "", ruleSyntax},
		{"another encoding", "\xff\xfe{\x00}\x00", "", ruleSyntax},
		{"not UTF-8", "{\"a\":\"\xff\"}", "", ruleSyntax},
		{"a string", `"hi"`, "", ruleBodyType},
		{"null", `null`, "", ruleBodyType},
		{"a name given twice", `{"model":"a","model":"b"}`, "model", ruleNameTwice},
	}
	for _, tt := range tests {
		for format, check := range checks {
			got := check([]byte(tt.body))
			found := slices.ContainsFunc(got, func(v Violation) bool { return v.Path == tt.path && v.Rule == tt.rule })
			if !found || tt.path == "" && len(got) > 1 {
				t.Errorf("%s, %s: got %q, want %s %s", format, tt.why, got, tt.path, tt.rule)
			}
		}
	}
	got := OpenAI([]byte("{\"messages\": [\n  {\"role\": \"user\",}]}"))
	if len(got) != 1 || !strings.Contains(got[0].Message, "line 2") {
		t.Errorf("a syntax error must name its line, got %q", got)
	}
}

// TestShapes checks the same messages as a request, as an array, and one per
// line.
func TestShapes(t *testing.T) {
	messages := []string{`{"role":"user","content":"hi"}`, `{"role":"tool","tool_call_id":"x","content":"y"}`}
	list := "[" + strings.Join(messages, ",") + "]"
	want := `[{"messages[1].role" "result-without-call"}]`
	for _, body := range []string{`{"model":"m","messages":` + list + "}", list, strings.Join(messages, "\n") + "\n", "\xef\xbb\xbf" + list} {
		var got []string
		for _, v := range OpenAI([]byte(body)) {
			got = append(got, fmt.Sprintf("{%q %q}", v.Path, v.Rule))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s of\n%s", got, want, body)
		}
	}
}

// TestListLong has more messages than Anthropic takes.
func TestListLong(t *testing.T) {
	body := "[" + strings.Repeat(`{"role":"user","content":"x"},`, 100_000) + `{"role":"user","content":"x"}]`
	got := Anthropic([]byte(body))
	if len(got) != 1 || got[0].Rule != ruleListLong || got[0].Path != "messages[100000]" {
		t.Errorf("got %q", got)
	}
	if got := Anthropic([]byte("[" + body[len(`[{"role":"user","content":"x"},`):])); len(got) > 0 {
		t.Errorf("100,000 messages: got %q", got)
	}
}

// TestLongNames has names in paths and messages that do not fill a screen, and
// are cut between characters.
func TestLongNames(t *testing.T) {
	for _, long := range []string{strings.Repeat("é", 100), "x" + strings.Repeat("é", 100), strings.Repeat("語", 100)} {
		got := Anthropic([]byte(`[{"role":"user","content":"hi","` + long + `":1},{"role":"` + long + `"}]`))
		if len(got) != 2 {
			t.Fatalf("got %q", got)
		}
		for _, v := range got {
			if !strings.HasSuffix(v.Path, "…") && !strings.Contains(v.Message, "…") || !utf8.ValidString(v.Path+v.Message) || len(v.Path)+len(v.Message) > 250 {
				t.Errorf("got %q", v)
			}
		}
	}
}
