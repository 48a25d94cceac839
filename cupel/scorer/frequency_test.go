package scorer_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel/scorer"
)

func TestFrequency(t *testing.T) {
	s := scorer.Frequency{}
	twice := tagged("a")
	runScoreCases(t, []scoreCase{
		{"only item", s, items{tagged("a")}, one(0), "there are no peers"},
		{"Unicode case", s, items{tagged("k", "s"), tagged("\u212a"), tagged("\u017f"), tagged("ä"), tagged("Ä")}, []float64{0, 0, 0, 0, 0}, "the Kelvin sign, the long s and umlauts fold in Unicode only (R2)"},
		{"same pointer among others", s, items{twice, tagged("a", "b"), twice, tagged("b"), tagged("A")}, []float64{0.5, 1, 0.5, 0.25, 0.75}, "positions of the item are skipped and stay in the denominator; for others each of them is a peer (R1)"},
		{"nil item", s, items{nil, tagged("a"), tagged("a")}, []float64{0, 0.5, 0.5}, "a nil item has no tags"},
	})
}
