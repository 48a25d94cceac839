package cupelchat

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// members calls a function for each member of the objects in a value, with its path.
func members(value any, path string, do func(path string, o object, name string)) {
	switch v := value.(type) {
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			members(v[name], at, do)
			do(at, v, name)
		}
	case []any:
		for i, element := range v {
			members(element, fmt.Sprintf("%s[%d]", path, i), do)
		}
	}
}

// TestMembers holds which rules a fixture breaks, and whether it can be read, if any
// of its members is missing (-) or has another value. Members that may be anything
// have no line, and elements of lists no number.
func TestMembers(t *testing.T) {
	index := regexp.MustCompile(`\[[0-9]+\]`)
	broken := func(f Format, body any) []Violation {
		data, err := json.Marshal(body)
		require.NoError(t, err)
		violations := Check(data, f)
		if _, err := Read(data, f, bytesCounter{}); err != nil {
			violations = append(violations, Violation{Rule: "unreadable"})
		}
		return violations
	}
	under := func(path string, violations []Violation) (rules []string) {
		for _, v := range violations {
			rules = append(rules, strings.TrimSpace(index.ReplaceAllString(strings.TrimPrefix(v.Path, path), "")+" "+v.Rule))
		}
		return rules
	}
	var got strings.Builder
	for _, name := range []string{"openai-chat.json", "openai-responses.json", "anthropic.json", "gemini.json", "bedrock.json", "ollama.json"} {
		f := fixtures[name]
		fmt.Fprintf(&got, "== %s\n", f)
		var body any
		require.NoError(t, json.Unmarshal(fixture(t, name), &body))
		whole, seen := broken(f, body), map[string]bool{"": true}
		members(body, "", func(path string, o object, name string) {
			was, usual := o[name], under(path, whole)
			outcomes := map[string]string{}
			for i, value := range []any{nil, nil, 7, "", object{}, []any{}} {
				o[name] = value
				if i == 0 {
					delete(o, name)
				}
				rules := slices.DeleteFunc(under(path, broken(f, body)), func(rule string) bool { return slices.Contains(usual, rule) })
				outcomes[strings.Join(rules, ", ")] += []string{"-", "null", "7", `""`, "{}", "[]"}[i] + " "
			}
			o[name] = was
			line := ""
			for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
				if outcome != "" {
					line += "; " + outcomes[outcome] + outcome
				}
			}
			if at := index.ReplaceAllString(path, ""); line != "" && !seen[at+line] {
				got.WriteString(at + line + "\n")
				seen[at+line] = true
			}
		})
	}
	golden(t, "members.txt", got.String())
}
