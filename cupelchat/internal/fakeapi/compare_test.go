package fakeapi

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/wollax/cupel-go/cupelchat/internal/cases"
	"github.com/wollax/cupel-go/cupelchat/internal/randchat"
	"github.com/wollax/cupel-go/cupelchat/internal/rules"
)

// TestCompare asks the server and the rules about random conversations. They
// share no code, so what one of them gets wrong the other tells.
func TestCompare(t *testing.T) {
	checks := map[string]func([]byte) []rules.Violation{
		"openai": rules.OpenAI, "responses": rules.Responses, "anthropic": rules.Anthropic,
		"gemini": rules.Gemini, "bedrock": rules.Bedrock, "ollama": rules.Ollama,
	}
	n := 5_000
	if testing.Short() {
		n = 500
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, format := range cases.Formats {
		refused, differ := 0, 0
		for i := range n {
			faults := i % 4
			body := randchat.Body(rng, format, faults)
			status, says := post(t, &API{}, paths[format], body)
			found := checks[format](body)
			if status != http.StatusOK {
				refused++
			}
			if (status == http.StatusOK) != (len(found) == 0) {
				if differ++; differ <= 3 {
					t.Errorf("%s: the server says %d %sthe rules find %q\n%s", format, status, says, found, body)
				}
			}
			if faults == 0 && len(found) > 0 {
				t.Errorf("%s: a conversation without accidents has %q\n%s", format, found, body)
			}
		}
		if format != "ollama" && (refused < n/10 || refused > n*9/10) {
			t.Errorf("%s: %d of %d conversations are refused, which tells little", format, refused, n)
		}
	}
}
