package cupelchat

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
)

// structure are the rules about places of messages, and nothing those about
// messages that say nothing.
var (
	structure = []string{
		"alternation", "call-id-twice", "call-place", "call-without-result", "first-role", "last-role",
		"result-without-call", "result-twice", "results-first", "thinking-first", "signature", "reasoning-follow",
	}
	nothing = []string{"content-empty", "content-required", "parts-empty", "part-data"}
)

// TestWrittenBodiesPass selects from random conversations, with the accidents
// that real ones have, and wants what is written to pass Check, unless the
// conversation failed in the same way. With CUPEL_CHAT_BODIES it writes the
// bodies to a file of that name as well, for make chat-types.
func TestWrittenBodiesPass(t *testing.T) {
	n := 3_000
	switch {
	case testing.Short():
		n = 50
	case os.Getenv("CUPEL_LONG") != "":
		n = 170_000
	}
	var out []string
	for _, f := range writable {
		rng := rand.New(rand.NewPCG(7, uint64(f)))
		wrong := 0
		for i := range n {
			data := randomBody(rng, f, i%3)
			text, notes, ok := randomWindow(t, rng, f, data)
			if !ok {
				continue
			}
			// With pins of the caller a selection may lose what a turn began with; a
			// note says so.
			pinned := hasNote(notes, "the API may refuse the turn")
			forgiven := map[string]bool{"thinking-first": pinned, "signature": pinned}
			for _, v := range Check(data, f) {
				forgiven[v.Rule] = true
				// Messages that are out of place in the conversation, or nothing,
				// are so in what is written, if only in another way.
				for _, rule := range structure {
					forgiven[rule] = forgiven[rule] || slices.Contains(structure, v.Rule) || slices.Contains(nothing, v.Rule)
				}
			}
			for _, v := range Check([]byte(text), f) {
				if !forgiven[v.Rule] {
					if wrong++; wrong <= 3 {
						t.Errorf("%s: %v\nin %s\nof %s", f, v, text, data)
					}
					break
				}
			}
			if i%3 == 0 && i < 300 {
				line, err := json.Marshal(map[string]any{"format": f.String(), "name": "written", "body": json.RawMessage(text)})
				require.NoError(t, err)
				out = append(out, string(line)+"\n")
			}
		}
	}
	if name := os.Getenv("CUPEL_CHAT_BODIES"); name != "" {
		require.NoError(t, os.WriteFile(filepath.Clean(name), []byte(strings.Join(out, "")), 0o600))
	}
}

// randomWindow reads a conversation and writes random units of it in random
// forms. It returns false for a conversation that cannot be read.
func randomWindow(t *testing.T, rng *rand.Rand, f Format, data []byte) (string, []string, bool) {
	t.Helper()
	var opts []Option
	if rng.IntN(2) == 0 {
		opts = append(opts, WithForms(func(string, string) []cupel.Variant { return []cupel.Variant{{Content: "short", Worth: 0.5}} }))
	}
	switch rng.IntN(4) {
	case 0:
		opts = append(opts, WithoutPins())
	case 1:
		opts = append(opts, WithPins(rng.IntN(2) == 0, rng.IntN(2) == 0))
	}
	c, err := Read(data, f, bytesCounter{}, opts...)
	if err != nil {
		return "", nil, false
	}
	share := rng.Float64()
	text, notes := body(t, c, func(unit *cupel.ContextItem) int {
		if rng.Float64() > share {
			return -1
		}
		return rng.IntN(1 + len(unit.Forms()))
	})
	return text, notes, text != ""
}

func hasNote(notes []string, text string) bool {
	return slices.ContainsFunc(notes, func(note string) bool { return strings.Contains(note, text) })
}
