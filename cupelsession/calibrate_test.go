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

// TestWhatStillFits: what fits by the last report stays, though the line allows less.
func TestWhatStillFits(t *testing.T) {
	for _, test := range []struct{ last, limit, now, want int }{
		{130, 130, 100, 100},
		{130, 130, 101, 80},
		{131, 130, 100, 80},
		{100, 100, 100, 100},
		{100, 100, 101, 50},
		{90, 100, 50, 50},
	} {
		c := calibration{[]report{{100, 150}, {100, 150}, {100, test.last}}}
		if got := c.most(test.limit, test.now); got != test.want {
			t.Errorf("after a last report of %d tokens for 100, %d tokens of %d: at most %d, want %d", test.last, test.now, test.limit, got, test.want)
		}
	}
}
