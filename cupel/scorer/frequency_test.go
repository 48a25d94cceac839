package scorer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wollax/cupel-go/cupel/scorer"
)

func TestFrequency(t *testing.T) {
	s := scorer.Frequency{}
	twice := tagged("a")
	runScoreCases(t, []scoreCase{
		{name: "no items", scorer: s, why: "an empty list has no scores"},
		{name: "only item", scorer: s, items: items{tagged("a")}, want: one(0), why: "there are no peers"},
		{name: "no tags", scorer: s, items: items{item(), tagged("a"), tagged("a")}, want: []float64{0, 0.5, 0.5},
			why: "an item without tags scores 0, and stays in the denominator of the others"},
		{name: "nothing shared", scorer: s, items: items{tagged("a"), tagged("b"), tagged("c")}, want: []float64{0, 0, 0},
			why: "no peer shares a tag"},
		{name: "all share", scorer: s, items: items{tagged("a"), tagged("a", "b"), tagged("c", "a")}, want: []float64{1, 1, 1},
			why: "every peer shares a tag"},
		{name: "some share", scorer: s, items: items{tagged("a", "b"), tagged("b"), tagged("c"), tagged("a"), item()},
			want: []float64{0.5, 0.25, 0, 0.25, 0}, why: "two of four peers, one, none, one"},
		{name: "several in common", scorer: s, items: items{tagged("a", "b", "c"), tagged("a", "b", "c"), tagged("x")},
			want: []float64{0.5, 0.5, 0}, why: "a peer counts once, however many tags it shares"},
		{name: "ASCII case", scorer: s, items: items{tagged("Important"), tagged("important"), tagged("IMPORTANT")},
			want: []float64{1, 1, 1}, why: "tags compare without ASCII case, unlike those of TagScorer"},
		{name: "Unicode case", scorer: s, items: items{tagged("k", "s"), tagged("\u212a"), tagged("\u017f"), tagged("ä"), tagged("Ä")},
			want: []float64{0, 0, 0, 0, 0}, why: "the Kelvin sign, the long s and umlauts fold in Unicode only (R2)"},
		{name: "duplicate tags", scorer: s, items: items{tagged("a", "a", "A"), tagged("A"), tagged("b")},
			want: []float64{0.5, 0.5, 0}, why: "a tag that an item has twice makes no second peer"},
		{name: "equal contents", scorer: s, items: items{tagged("a"), tagged("a")}, want: []float64{1, 1},
			why: "an equal copy is a peer; identity is the pointer (R1)"},
		{name: "same pointer twice", scorer: s, items: items{twice, twice}, want: []float64{0, 0},
			why: "both positions hold the item itself (R1)"},
		{name: "same pointer among others", scorer: s, items: items{twice, tagged("a", "b"), twice, tagged("b"), tagged("A")},
			want: []float64{0.5, 1, 0.5, 0.25, 0.75},
			why:  "positions of the item are skipped and stay in the denominator; for others each of them is a peer (R1)"},
		{name: "long lists", scorer: s,
			items: items{tagged("a", "b", "c", "d", "e", "f"), tagged("f"), tagged("g", "h", "i", "j", "k", "b"), tagged("z")},
			want:  []float64{2.0 / 3, 1.0 / 3, 1.0 / 3, 0}, why: "any number of tags"},
		{name: "empty tag", scorer: s, items: items{tagged(""), tagged("", "x"), tagged("y")}, want: []float64{0.5, 0.5, 0},
			why: "the empty string is a tag like any other"},
		{name: "nil item", scorer: s, items: items{nil, tagged("a"), tagged("a")}, want: []float64{0, 0.5, 0.5},
			why: "a nil item has no tags"},
	})
}

func TestFrequencyOfAnAbsentItem(t *testing.T) {
	all := items{tagged("a"), tagged("a"), tagged("b")}
	if got := (scorer.Frequency{}).Score(tagged("A"), all); got != 1 {
		t.Errorf("got %v, want 2 / (3 - 1): nothing is skipped", got)
	}
	if got := (scorer.Frequency{}).Score(tagged("a"), all[:1]); got != 0 {
		t.Errorf("got %v, want 0 for a list of one item", got)
	}
}

// doneAfter is done from a look at its error on, and counts the looks.
type doneAfter struct {
	context.Context
	looks, most int
}

func (c *doneAfter) Err() error {
	if c.looks++; c.looks > c.most {
		return context.Canceled
	}
	return nil
}

// A pass that is cut short must say so: half of the scores are no scores.
func TestFrequencyStopsInMidPass(t *testing.T) {
	all := make(items, 5000)
	for i := range all {
		all[i] = tagged(fmt.Sprint(i%7), fmt.Sprint(i%11), fmt.Sprint(i%13), fmt.Sprint(i%17), fmt.Sprint(i%19), fmt.Sprint(i%23))
	}
	scores := make([]float64, len(all))
	whole := &doneAfter{t.Context(), 0, 1 << 30}
	if err := (scorer.Frequency{}).ScoreAll(whole, all, scores); err != nil {
		t.Fatal(err)
	}
	if whole.looks < len(all)/1024 || whole.looks > len(all)/4 {
		t.Errorf("%d looks at the context for %d items; it must look now and then", whole.looks, len(all))
	}
	for most := range whole.looks {
		ctx := &doneAfter{t.Context(), 0, most}
		if err := (scorer.Frequency{}).ScoreAll(ctx, all, scores); !errors.Is(err, context.Canceled) || ctx.looks > most+1 {
			t.Errorf("done at look %d of %d: %v after %d looks, want to stop there", most+1, whole.looks, err, ctx.looks)
		}
	}
}
