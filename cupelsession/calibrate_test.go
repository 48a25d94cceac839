package cupelsession

import "testing"

// TestOddReports puts one report that makes no sense among good ones, at each place:
// the budget gets no looser, and a little tighter at most.
func TestOddReports(t *testing.T) {
	for reports := fewReports; reports <= keptReports; reports++ {
		for at := range reports {
			for _, odd := range []int{1, 100, 700, 5_000, 1 << 30} {
				var c calibration
				for n := range reports {
					r := report{1000 + 100*n, 1000 + 100*n}
					if n == at {
						r.Counted = odd
					}
					c = c.with(r)
				}
				const limit = 4000
				most := c.most(limit, limit)
				if most > limit {
					t.Errorf("%d reports, the one at %d says %d: the budget of %d is loosened to %d", reports, at, odd, limit, most)
				}
				if reports >= 6 && most < limit*9/10 {
					t.Errorf("%d reports, the one at %d says %d: the budget of %d is tightened to %d", reports, at, odd, limit, most)
				}
			}
		}
	}
}

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

// TestCalibrationAloneBreaksNothing: the reports before say that a window is too
// large, the last one that it fits.
func TestCalibrationAloneBreaksNothing(t *testing.T) {
	var c calibration
	for n := range 8 {
		c = c.with(report{1000 + 100*n, 1300 + 130*n})
	}
	c = c.with(report{3500, 3600}) // the line says 4550
	for _, test := range []struct {
		now, want int
		why       string
	}{
		{3500, 3500, "it was counted, and fits"},
		{3700, 3700, "with 200 more by the slope it still fits"},
		{3900, 3076, "by the slope it does not: 4000/1.3"},
		{3400, 3400, "less than what was counted, and that fits"},
		{3000, 3076, "it fits by the line"},
	} {
		if got := c.most(4000, test.now); got < test.want || got > test.want+1 {
			t.Errorf("%d tokens: at most %d, want %d (%s)", test.now, got, test.want, test.why)
		}
	}
}
