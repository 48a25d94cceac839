package naive_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/naive"
)

// TestUnitsOfOneItemChangeNothing holds the model's pipeline over units to its
// pipeline over items: where each item is a version of its own, or the only
// member of its group, both give the same report.
func TestUnitsOfOneItemChangeNothing(t *testing.T) {
	alone := map[string]func(i int) cupel.ItemOption{
		"versions": func(i int) cupel.ItemOption { return cupel.WithVersionOf(fmt.Sprint(i)) },
		"groups":   func(i int) cupel.ItemOption { return cupel.WithGroup(fmt.Sprint(i)) },
	}
	cases := uint64(10_000)
	if testing.Short() || raceEnabled {
		cases = 1_000
	}
	for name, option := range alone {
		t.Run(name, func(t *testing.T) {
			for seed := range cases {
				c := generate(caseData(seed))
				var items, same []*cupel.ContextItem
				for i, it := range c.items {
					if !slices.Contains(items, it) { // the same pointer twice would be two versions
						items = append(items, it)
						same = append(same, must(it.With(option(i))))
					}
				}
				want, wantErr := naive.Run(c.config, items, c.budget)
				got, err := naive.Run(c.config, same, c.budget)
				if class(err) != class(wantErr) {
					t.Fatalf("seed %d: error %v, want %v", seed, err, wantErr)
				}
				if class(err) == naive.ClassInvalidConfig || class(err) == naive.ClassTooLarge {
					continue
				}
				if g, w := positions(got.Items, same), positions(want.Items, items); !slices.Equal(g, w) {
					t.Fatalf("seed %d: window %v, want %v", seed, g, w)
				}
				if g, w := reportLines(got.Report, same), reportLines(want.Report, items); !slices.Equal(g, w) {
					t.Fatalf("seed %d: report\n%q, want\n%q", seed, g, w)
				}
			}
		})
	}
}

func positions(window, items []*cupel.ContextItem) []int {
	list := make([]int, len(window))
	for i, it := range window {
		list[i] = slices.Index(items, it)
	}
	return list
}

// reportLines has everything of a report but the tokens of groups.
func reportLines(r *cupel.SelectionReport, items []*cupel.ContextItem) []string {
	lines := []string{fmt.Sprint(r.TotalCandidates, r.TotalTokensConsidered, r.Events, r.CountRequirementShortfalls)}
	for _, in := range r.Included {
		lines = append(lines, fmt.Sprint("in ", slices.Index(items, in.Item), in.Score, in.Reason))
	}
	for _, out := range r.Excluded {
		d := out.Reason.Data()
		d.GroupTokens, d.Survivor = 0, nil
		lines = append(lines, fmt.Sprintf("out %d %v %s %+v", slices.Index(items, out.Item), out.Score, out.Reason.Code, d))
	}
	if r.Overflow != nil {
		lines = append(lines, fmt.Sprint("over ", r.Overflow.TokensOverBudget, positions(r.Overflow.OverflowingItems, items)))
	}
	return lines
}

// TestUnitsStayWhole looks at the model alone: no group is split, each
// candidate is reported once, and the tokens of the window are those of the
// report.
func TestUnitsStayWhole(t *testing.T) {
	cases := uint64(20_000)
	if testing.Short() || raceEnabled {
		cases = 2_000
	}
	seen := tally{}
	for seed := range cases {
		c := generateUnits(caseData(seed))
		result, err := naive.Run(c.config, c.items, c.budget)
		seen["error "+string(class(err))]++
		if err != nil {
			continue
		}
		in := map[string]bool{}
		reported := map[int]bool{}
		tokens := 0
		for i, d := range result.Included {
			if reported[d.Candidate] {
				t.Fatalf("seed %d: candidate %d is there twice", seed, d.Candidate)
			}
			reported[d.Candidate] = true
			tokens += result.Report.Included[i].Item.Tokens()
			if g := c.items[d.Candidate].Group(); g != "" {
				in[g] = true
			}
			if d.Form > 0 {
				seen["smaller"]++
			}
			if d.Stale {
				seen["stale in"]++
				if c.items[d.Candidate].Group() == "" && !c.items[d.Candidate].Pinned() {
					seen["older in"]++
				}
			}
		}
		for _, d := range result.Excluded {
			if reported[d.Candidate] {
				t.Fatalf("seed %d: candidate %d is there twice", seed, d.Candidate)
			}
			reported[d.Candidate] = true
			if g := c.items[d.Candidate].Group(); g != "" && in[g] {
				t.Fatalf("seed %d: group %q is split", seed, g)
			}
		}
		if want := len(reported); result.Included != nil && want != len(c.items) {
			t.Fatalf("seed %d: %d of %d candidates reported", seed, want, len(c.items))
		}
		for _, it := range result.Items {
			tokens -= it.Tokens()
		}
		if len(result.Included) > 0 && tokens != 0 {
			t.Fatalf("seed %d: the report has %d tokens more than the window", seed, tokens)
		}
	}
	t.Logf("%v", seen)
}

// TestUnitsNoticeEveryFault plants each fault of the Units chapter in the model
// and expects that the random cases of the chapter tell it from the model.
func TestUnitsNoticeEveryFault(t *testing.T) {
	// The vectors notice these.
	except := []naive.Fault{
		naive.FaultFitPinnedTieFirst,      // next to no random case has pinned units that lose exactly the same
		naive.FaultOriginalTokensReplaced, // no random item has original tokens: sameItem knows smaller forms by them
	}
	chosen := func(fault naive.Fault) bool { return fault.Chapter() == "Units" && !slices.Contains(except, fault) }
	noticeFaults(t, chosen, func(data []byte, fault naive.Fault) bool {
		c := generateUnits(data)
		want, wantErr := naive.Run(c.config, c.items, c.budget)
		c.config.Fault = fault
		got, err := naive.Run(c.config, c.items, c.budget)
		return class(err) != class(wantErr) || err == nil && differModels(want, got)
	})
}

func differModels(a, b naive.Result) bool {
	return !slices.EqualFunc(a.Items, b.Items, sameItem) ||
		!slices.Equal(a.Included, b.Included) || !slices.Equal(a.Excluded, b.Excluded) ||
		!slices.EqualFunc(a.Report.Included, b.Report.Included, func(a, b cupel.IncludedItem) bool {
			return sameItem(a.Item, b.Item) && sameScore(a.Score, b.Score) && a.Reason == b.Reason
		}) ||
		!slices.EqualFunc(a.Report.Excluded, b.Report.Excluded, func(a, b cupel.ExcludedItem) bool {
			return a.Item == b.Item && sameScore(a.Score, b.Score) && a.Reason.Equal(b.Reason)
		})
}
