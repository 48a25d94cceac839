package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupelchat/internal/cases"
)

// TestHostileBodies checks bodies that take minutes, at these sizes, if time
// grows with the square of the size.
func TestHostileBodies(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 5_000
	}
	list := func(format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	tests := []struct {
		name, why, text string
		least           int // violations
	}{
		{"names twice", "an error with a line counts the lines before it", `[` + list(`{"role":"user","content":"%d","content":"x"}`) + `]`, n},
		{"long object", "names are looked up in a map", `[{` + list(`"a%d":1`) + `}]`, 1},
		{"many calls", "each result is put to its call by id", `[{"role":"user","content":"q"},{"role":"assistant","content":[` + list(`{"type":"tool_use","id":"t%d","name":"f","input":{}}`) +
			`],"tool_calls":[` + list(`{"id":"t%d","type":"function","function":{"name":"f","arguments":"{}"}}`) + `]},` + list(`{"role":"tool","tool_call_id":"t%d","content":"x"}`) + `]`, 0},
		{"open calls", "each call without a result is said once", `[` + list(`{"type":"function_call","call_id":"%d","name":"f","arguments":""}`) + `]`, n},
		{"cache controls", "each of them too many is said", `[{"role":"user","content":[` + list(`{"type":"text","text":"%d","cache_control":{"type":"ephemeral"}}`) + `]}]`, n - 4},
		{"users", "roles that do not alternate", `[` + list(`{"role":"user","content":[{"text":"%d"}]}`) + `]`, n - 1},
		{"reasoning", "what follows is looked at once", `[` + list(`{"type":"reasoning","id":"rs_%d","summary":[]}`) + `]`, 1},
		{"calls of Gemini", "neighbours only", `[` + list(`{"role":"model","parts":[{"functionCall":{"name":"f%d"},"thoughtSignature":"a"}]}`) + `]`, n},
		{"deep", "the scanner does not recurse", strings.Repeat(`{"messages":`, 9_000) + "1" + strings.Repeat("}", 9_000), 1},
		{"too deep", "nor does it fail", strings.Repeat("[", 100_000), 1},
		{"lines", "one message per line", strings.Repeat("{\"role\":\"user\",\"content\":\"x\"}\n", n), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			most := 0
			for _, check := range checks {
				most = max(most, len(check([]byte(tt.text))))
			}
			if most < tt.least {
				t.Errorf("%s: %d violations, want %d", tt.why, most, tt.least)
			}
		})
	}
}

// FuzzCheck looks for panics, and for paths and messages that cannot be printed.
func FuzzCheck(f *testing.F) {
	for i, format := range cases.Formats {
		for _, kind := range []string{"bad", "good"} {
			for _, c := range cases.Load(f, root, format, kind) {
				f.Add(uint8(i), c.Body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		check := checks[cases.Formats[int(which)%len(cases.Formats)]]
		got := check(body)
		for _, v := range got {
			if v.Rule == "" || v.Message == "" || !utf8.ValidString(v.Path) || !utf8.ValidString(v.Message) || len(v.Path) > 1000 || len(v.Message) > 2000 {
				t.Fatalf("%q of %q", v, body)
			}
		}
		if again := check(body); !slices.Equal(got, again) {
			t.Fatalf("%q, and then %q", got, again)
		}
	})
}
