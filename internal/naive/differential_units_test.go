package naive_test

import (
	"testing"

	"github.com/wollax/cupel-go/internal/naive"
)

// TestEngineAgreesOnUnits compares the engine with the model on random cases
// with groups, smaller forms and versions.
func TestEngineAgreesOnUnits(t *testing.T) {
	cases := 120_000
	if testing.Short() || raceEnabled {
		cases = 2_000
	}
	compareCases(t, cases, 5000, generateUnits,
		"included Scored", "included Pinned", "included ZeroToken", "excluded Superseded", "excluded Deduplicated", "excluded PinnedOverride",
		"excluded NegativeTokens", "excluded CountCapExceeded", "error pinned_exceeds_budget", "error overflow", "error content",
		"smaller form", "group variant", "stale in", "older version in", "overflow event", "naive.MultipleChoice", "naive.CustomSlicer",
		"naive.Greedy", "naive.Knapsack", "naive.Diverse", "quota around naive.MultipleChoice", "quota around naive.Diverse", "count quota around naive.Diverse",
	)
}

// addUnits counts what a case with units led to.
func (t tally) addUnits(c testCase, r naive.Result) {
	for _, in := range r.Report.Included {
		candidate := c.items[in.Candidate]
		switch {
		case in.Form > len(candidate.Variants()):
			t["group variant"]++
		case in.Form > 0:
			t["smaller form"]++
		}
		if in.Stale {
			t["stale in"]++
			if candidate.Group() == "" && !candidate.Pinned() {
				t["older version in"]++
			}
		}
	}
}

// FuzzEngineAgreesOnUnits is the same comparison on cases of the fuzzer's
// choice.
func FuzzEngineAgreesOnUnits(f *testing.F) {
	fuzzCases(f, generateUnits)
}
