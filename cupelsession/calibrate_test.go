package cupelsession

import "testing"

// TestLooserBudgets: reports that differ by chance alone do not loosen a budget,
// those of a tokenizer that counts less do.
func TestLooserBudgets(t *testing.T) {
	var chance, sparse calibration
	for n := range keptReports {
		estimated := 1000 + 50*n
		chance = chance.with(report{estimated, estimated + (keptReports-n)*20})
		sparse = sparse.with(report{estimated, estimated * 8 / 10})
		if got := chance.most(4000, 0); got > 4000 {
			t.Errorf("%d reports that counted more: at most %d tokens, want 4000", n+1, got)
		}
		if got, want := sparse.most(4000, 0), 4999; n+1 >= looseReports && got < want {
			t.Errorf("%d reports that counted a fifth less: at most %d tokens, want %d", n+1, got, want)
		}
	}
}
