package fakeapi

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupelchat/internal/cases"
	"github.com/wollax/cupel-go/cupelchat/internal/randchat"
	"github.com/wollax/cupel-go/cupelchat/internal/rules"
)

var checks = map[string]func([]byte) []rules.Violation{
	"openai": rules.OpenAI, "responses": rules.Responses, "anthropic": rules.Anthropic,
	"gemini": rules.Gemini, "bedrock": rules.Bedrock, "ollama": rules.Ollama,
}

// compare asks the server and the rules about a body, and returns whether the
// server refuses it. The two share no code, so what one of them gets wrong the
// other tells.
func compare(t *testing.T, format string, body []byte) bool {
	t.Helper()
	status, says := post(t, &API{}, paths[format], body)
	found := checks[format](body)
	if (status == http.StatusOK) != (len(found) == 0) {
		t.Fatalf("%s: the server says %d %sthe rules find %q\n%s", format, status, says, found, body)
	}
	return status != http.StatusOK
}

// TestCompareConversations compares on random conversations with accidents.
func TestCompareConversations(t *testing.T) {
	n := 5_000
	if testing.Short() {
		n = 500
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, format := range cases.Formats {
		refused := 0
		for i := range n {
			faults := i % 4
			body := randchat.Body(rng, format, faults)
			if compare(t, format, body) {
				refused++
				if faults == 0 {
					t.Fatalf("%s: a conversation without accidents is refused\n%s", format, body)
				}
			}
		}
		if format != "ollama" && (refused < n/10 || refused > n*9/10) {
			t.Errorf("%s: %d of %d conversations are refused, which tells little", format, refused, n)
		}
	}
}

// TestCompareValues compares on bodies with one value that is lost or another
// than it was.
func TestCompareValues(t *testing.T) {
	n := 3_000
	if testing.Short() {
		n = 300
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, format := range cases.Formats {
		good := cases.Load(t, root, format, "good")
		for i := range n {
			data := randchat.Body(rng, format, 0)
			if i%2 == 0 {
				data = good[rng.IntN(len(good))].Body
			}
			var body map[string]any
			if err := json.Unmarshal(data, &body); err != nil {
				t.Fatal(err)
			}
			for _, list := range []string{"messages", "input", "contents"} {
				if body[list] != nil {
					at := 1 + rng.IntN(count(body[list]))
					body[list] = change(rng, body[list], &at)
				}
			}
			data, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, format, data)
		}
	}
}

// count returns how many values a value has, with itself.
func count(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			n += count(member)
		}
	case []any:
		for _, element := range v {
			n += count(element)
		}
	}
	return n
}

// change gives the value that is number at another value, or takes it out of its
// object.
func change(rng *rand.Rand, v any, at *int) any {
	if *at--; *at == 0 {
		others := []any{nil, "", " ", "x", 1, true, []any{}, []any{"x"}, object{}, object{"type": "text"}, "user", "assistant", "tool"}
		return others[rng.IntN(len(others))]
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if *at == 1 && rng.IntN(3) == 0 {
				*at = 0
				delete(v, name)
			}
			if *at <= 0 {
				break
			}
			v[name] = change(rng, v[name], at)
		}
	case []any:
		for i := 0; i < len(v) && *at > 0; i++ {
			v[i] = change(rng, v[i], at)
		}
	}
	return v
}
