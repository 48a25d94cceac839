package naive_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/naive"
)

// TestEngineAgreesOnUnits compares the engine with the model on random cases
// with groups, smaller forms and versions.
func TestEngineAgreesOnUnits(t *testing.T) {
	cases := 120_000
	if testing.Short() || raceEnabled {
		cases = 6_000
	}
	seen := compareCases(t, cases, generateUnits)
	for _, what := range []string{
		"included Scored", "included Pinned", "included ZeroToken", "excluded Superseded", "excluded NearDuplicate", "excluded Deduplicated", "excluded PinnedOverride",
		"excluded NegativeTokens", "excluded CountCapExceeded", "error pinned_exceeds_budget", "error overflow", "error content",
		"smaller form", "group variant", "stale in", "older version in", "overflow event", "naive.MultipleChoice", "naive.CustomSlicer",
		"naive.Greedy", "naive.Knapsack", "naive.Diverse", "quota around naive.MultipleChoice", "quota around naive.Diverse", "count quota around naive.Diverse",
	} {
		if least := cases / 5000; seen[what] < least {
			t.Errorf("%q came up %d times in %d cases, want at least %d", what, seen[what], cases, least)
		}
	}
	t.Logf("outcomes: %v", seen)
}

// addUnits counts what a case with units led to.
func (t tally) addUnits(c testCase, r naive.Result) {
	groups := map[string]*cupel.ContextItem{}
	for i, d := range r.Included {
		candidate, in := c.items[d.Candidate], r.Report.Included[i].Item
		switch {
		case d.Form > len(candidate.Variants()):
			t["group variant"]++
		case d.Form > 0:
			t["smaller form"]++
		}
		if d.Stale {
			t["stale in"]++
			if candidate.Group() == "" && !candidate.Pinned() {
				t["older version in"]++
			}
		}
		groups[candidate.Group()] = in
	}
	if len(groups) > 2 {
		t["several groups"]++
	}
}

// FuzzEngineAgreesOnUnits is the same comparison on cases of the fuzzer's
// choice.
func FuzzEngineAgreesOnUnits(f *testing.F) {
	fuzzCases(f, generateUnits)
}
