package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupelchat/internal/cases"
)

// root is the folder of the module.
const root = "../../.."

var checks = map[string]func([]byte) []Violation{
	"openai": OpenAI, "responses": Responses, "anthropic": Anthropic,
	"gemini": Gemini, "bedrock": Bedrock, "ollama": Ollama,
}

// TestBad wants the documented violation of each body, and no other.
func TestBad(t *testing.T) {
	n := 0
	for _, format := range cases.Formats {
		for _, c := range cases.Load(t, root, format, "bad") {
			n++
			t.Run(format+"/"+c.Name, func(t *testing.T) {
				var got []string
				for _, v := range checks[format](c.Body) {
					got = append(got, v.Path+" "+v.Rule)
					if v.Message == "" || strings.Contains(v.Message, "%!") {
						t.Errorf("the message of %s is %q", v.Rule, v.Message)
					}
				}
				want := append([]string{c.Path + " " + c.Rule}, c.Also...)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("the API says %q\n got %q\nwant %q\n%s", c.Says, got, want, c.Body)
				}
			})
		}
	}
	if n < 150 {
		t.Errorf("%d bodies, want 150", n)
	}
}

// TestGood wants no violation in unusual bodies.
func TestGood(t *testing.T) {
	n := 0
	for _, format := range cases.Formats {
		for _, c := range cases.Load(t, root, format, "good") {
			n++
			t.Run(format+"/"+c.Name, func(t *testing.T) {
				if got := checks[format](c.Body); len(got) > 0 {
					t.Errorf("%s:\n got %q\n%s", c.Why, got, c.Body)
				}
			})
		}
	}
	if n < 50 {
		t.Errorf("%d bodies, want 50", n)
	}
}
