package cupelchat

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
)

// The window that a pipeline chose, given piece by piece, makes the same body.
func TestComposeWritesTheSelectedBody(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, f := range fixtures {
		c := read(t, f, fixture(t, name), WithoutPins(), WithForms(func(_, text string) []cupel.Variant {
			return []cupel.Variant{{Content: "short", Worth: 0.5}}
		}))
		for range 80 {
			share := rng.Float64()
			p := chooser(t, func(unit *cupel.ContextItem) int {
				if rng.Float64() > share {
					return -1
				}
				return rng.IntN(1 + len(unit.Forms()))
			})
			w, err := c.Select(t.Context(), p, budget(t, 1e6))
			if errors.Is(err, errEmpty) {
				continue
			}
			require.NoError(t, err)
			want, err := w.Body()
			require.NoError(t, err)
			for _, note := range w.Notes {
				if strings.Contains(note, "restored") || strings.Contains(note, "the API may refuse the turn") {
					want = nil // Select had room for what it restored, or pinned the newest message
				}
			}
			if want == nil {
				continue
			}
			got, _, err := c.Compose(pieces(w.Report), 1e6)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "%s, %q", name, w.Notes)
		}
	}
}

// pieces are the entries of a report, those of one note together.
func pieces(report *cupel.SelectionReport) []Piece {
	var list []Piece
	for i, e := range report.Included {
		p := Piece{Candidates: []int{e.Candidate}}
		if e.Form > 0 {
			p.Content = e.Item.Content()
			before := i - 1
			if e.Item.Tokens() == 0 && before >= 0 && report.Included[before].Item.Group() == e.Item.Group() && list[len(list)-1].Content == p.Content {
				list[len(list)-1].Candidates = append(list[len(list)-1].Candidates, e.Candidate)
				continue
			}
		}
		list = append(list, p)
	}
	return list
}

func TestComposeRefuses(t *testing.T) {
	c := read(t, OpenAI, fixture(t, "openai-chat.json"))
	for _, test := range []struct {
		pieces []Piece
		want   string
		why    string
	}{
		{[]Piece{{Candidates: []int{0}, Breakpoint: "2h"}}, `pieces[0] has the breakpoint "2h"`, "no cache holds so long"},
		{[]Piece{{}}, "pieces[0] has 0 candidates", "it stands for nothing"},
		{[]Piece{{Candidates: []int{0, 1}}}, "pieces[0] has 2 candidates", "two items cannot be one as it is"},
		{[]Piece{{Candidates: []int{0}}, {Candidates: []int{0}}}, "pieces[1] has the candidate 0", "an item is in once"},
		{[]Piece{{Candidates: []int{-1}}}, "pieces[0] has the candidate -1", "there is none"},
		{[]Piece{{Candidates: []int{1e6}}}, "pieces[0] has the candidate 1000000", "there are not so many"},
	} {
		_, _, err := c.Compose(test.pieces, 1e6)
		assert.ErrorAs(t, err, new(*Error), test.why)
		assert.ErrorContains(t, err, test.want, test.why)
	}
	_, _, err := c.Compose(nil, 100)
	require.ErrorIs(t, err, errEmpty)
	require.ErrorAs(t, err, new(*TooLargeError), "no message is too few")
	_, _, err = c.Compose([]Piece{{Candidates: []int{0}}, {Candidates: []int{1}}}, 10)
	require.ErrorAs(t, err, new(*TooLargeError), "there is no room for two")
}

// Notes and summaries are messages of the model like any other.
func TestComposeNotes(t *testing.T) {
	const begins = `{"role":"model","parts":[{"functionCall":{"name":"g"`
	_, rest, _ := strings.Cut(signedTurns, begins)
	unsigned := begins + rest
	greeting := `[{"role":"model","parts":[{"text":"hi"}` + "%s" + `{"role":"user","parts":[{"text":"u"}]},` + unsigned
	note := Piece{Candidates: []int{1, 2}, Content: "f said A"}
	request := `{"system":"s","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"},{"role":"user","content":"v"}]}`
	alone := `[{"role":"user","content":"u"},{"type":"function_call","call_id":"a","name":"f","arguments":"{\"q\":\"%s\"}"}]`
	lines := `{"role":"user","content":"u"}` + "\n" + `{"role":"user","content":"v"}`
	for _, tt := range []struct {
		f      Format
		text   string
		pieces []Piece
		want   string
		why    string
	}{
		{Gemini, signedTurns, []Piece{{Candidates: []int{0}}, note, {Candidates: []int{5}}, {Candidates: []int{6}}},
			`[{"role":"user","parts":[{"text":"q"}]},{"role": "model", "parts": [{"text": "f said A"}, ` + unsigned[len(`{"role":"model","parts":[`):], "a note has no call that could be signed"},
		{Gemini, fmt.Sprintf(greeting, `]},`+signedExchange+`,`), []Piece{{Candidates: []int{0}}, note, {Candidates: []int{4}}, {Candidates: []int{5}}},
			fmt.Sprintf(greeting, `, {"text": "f said A"}]},`), "nor one that must follow a message of the user, as the next one must"},
		{Anthropic, request, []Piece{{Candidates: []int{0, 1, 2}, Content: "so far"}, {Candidates: []int{3}}},
			`{"messages":[{"role": "user", "content": [{"type": "text", "text": "[earlier messages left out]"}]},{"role": "assistant", "content": [{"type": "text", "text": "so far"}]},{"role":"user","content":"v"}]}`, "a summary is no system prompt"},
		{Anthropic, `{"tools":[{"name":"f"}],` + request[1:], []Piece{{Candidates: []int{2}}, {Candidates: []int{4}}},
			`{"tools":[{"name":"f"}],"messages":[{"role":"user","content":[{"type": "text", "text": "u"}, {"type": "text", "text": "v"}]}]}`, "definitions of tools are always sent"},
		{Responses, fmt.Sprintf(alone, "a long question"), []Piece{{Candidates: []int{0}}, {Candidates: []int{1}, Content: `f({"q":"a…[15 characters left out]"})`}},
			fmt.Sprintf(alone, "a…[15 characters left out]"), "a call that is alone and has shorter arguments is no note"},
		{Anthropic, lines, []Piece{{Candidates: []int{0}, Breakpoint: "1h"}, {Candidates: []int{1}, Breakpoint: "5m"}}, lines, "lines are not sent, and have no breakpoints"},
	} {
		got, _, err := read(t, tt.f, []byte(tt.text)).Compose(tt.pieces, 1000)
		require.NoError(t, err)
		assert.Equal(t, tt.want, string(got), tt.why)
	}
}

// A transcript has the words, calls and results of a conversation in any format.
func TestTranscript(t *testing.T) {
	for seed := range uint64(40) {
		turns := randomTurns(rand.New(rand.NewPCG(seed, 3)))
		for _, f := range writable {
			data, err := json.Marshal(render(turns, f))
			require.NoError(t, err)
			var got []chatMessage
			for _, said := range read(t, f, data).Transcript() {
				var m chatMessage
				require.NoError(t, json.Unmarshal(said.JSON, &m))
				got = append(got, m)
			}
			require.Equal(t, transcriptOf(turns, f), got, "%s, seed %d", f, seed)
		}
	}
}

func transcriptOf(turns []randomTurn, f Format) (want []chatMessage) {
	name := func(id string) string {
		if f == Gemini {
			return "function f" // it has no ids
		}
		return id
	}
	for _, turn := range turns {
		for _, id := range turn.results {
			text := output(id)
			want = append(want, chatMessage{Role: "tool", Content: &text, Answers: name(id)})
		}
		m := chatMessage{Role: turn.role}
		if text := strings.Join(turn.texts, "\n"); text != "" {
			m.Content = &text
		}
		for _, id := range turn.calls {
			m.Calls = append(m.Calls, chatCall{name(id), "function", chatFunction{"f", `{"id":"` + id + `"}`}})
		}
		if m.Content != nil || m.Calls != nil {
			want = append(want, m)
		}
	}
	return want
}
