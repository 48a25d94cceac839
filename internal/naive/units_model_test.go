package naive_test

import (
	"testing"

	"github.com/wollax/cupel-go/internal/naive"
)

// TestUnitsStayWhole looks at the model alone: no group is split, each
// candidate is reported once, and the tokens of the window are those of the
// report.
func TestUnitsStayWhole(t *testing.T) {
	for seed := range uint64(2_000) {
		c := generateUnits(caseData(seed))
		result, err := naive.Run(c.config, c.items, c.budget)
		if err != nil {
			continue
		}
		reported := map[int]bool{}
		groups := map[string]bool{"": true} // those that are in
		tokens := 0
		for _, d := range result.Report.Included {
			reported[d.Candidate] = true
			groups[c.items[d.Candidate].Group()] = true
			tokens += d.Item.Tokens()
		}
		for _, d := range result.Report.Excluded {
			reported[d.Candidate] = true
			if g := c.items[d.Candidate].Group(); g != "" && groups[g] {
				t.Fatalf("seed %d: group %q is split", seed, g)
			}
		}
		if len(reported) != len(c.items) || len(result.Report.Included)+len(result.Report.Excluded) != len(c.items) {
			t.Fatalf("seed %d: %d of %d candidates reported", seed, len(reported), len(c.items))
		}
		for _, it := range result.Items {
			tokens -= it.Tokens()
		}
		if tokens != 0 {
			t.Fatalf("seed %d: the report has %d tokens more than the window", seed, tokens)
		}
	}
}
