package cupelchat

import (
	"errors"
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
		for range 200 {
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
}
