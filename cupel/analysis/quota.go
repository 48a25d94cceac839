package analysis

import (
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// QuotaUnit says what a quota counts.
type QuotaUnit string

// The units.
const (
	QuotaTokens QuotaUnit = "tokens" // a QuotaSlice's percentages, as tokens of the target
	QuotaItems  QuotaUnit = "items"  // the numbers of a count slicer
)

// KindQuotaUtilization compares what a kind got with what an entry of a slicer
// requires for it.
type KindQuotaUtilization struct {
	Kind     cupel.ContextKind `json:"kind"` // in the entry's spelling
	Unit     QuotaUnit         `json:"unit"`
	Used     int               `json:"used"`     // by included items that are not pinned, in Unit
	Required int               `json:"required"` // the minimum, in Unit; Used is lower if candidates are missing
	Cap      int               `json:"cap"`      // the maximum, in Unit
}

// QuotaUtilization returns a row for each entry of each QuotaSlice,
// CountQuotaSlice and CountConstrainedKnapsackSlice in a slicer: outer slicers
// first, and the entries of a slicer in order. It returns nil if there are none.
//
// report and budget must be those of the same run. Pinned items do not count:
// slicers never see them, and their tokens are subtracted from the target. A group
// counts as one item, of the kind that [IncludedUnit.Kind] returns.
// Percentages refer to the target of the whole slicer. That is approximate for a
// QuotaSlice inside a count slicer, whose target is what the outer commitments
// leave, because the report does not record it.
func QuotaUtilization(report *cupel.SelectionReport, budget cupel.ContextBudget, of strategy.Slicer) []KindQuotaUtilization {
	if report == nil {
		return nil
	}
	type usage struct {
		items  int
		tokens exact.Sum
	}
	used := make(map[string]usage) // by kind
	var pinned exact.Sum
	for _, unit := range IncludedUnits(report) {
		var tokens exact.Sum
		for _, i := range unit {
			tokens.Add(i.Item.Tokens())
		}
		if unit[0].Reason == cupel.IncludePinned {
			pinned = pinned.Plus(tokens)
			continue
		}
		key := unit.Kind().Key()
		used[key] = usage{used[key].items + 1, used[key].tokens.Plus(tokens)}
	}
	target := budget.Effective(pinned.Int()).TargetTokens

	var rows []KindQuotaUtilization
	for s := range strategy.AllSlicers(of) {
		var counts []slicer.CountQuotaEntry
		switch s := s.(type) {
		case *slicer.Quota:
			for _, e := range s.Entries() {
				row := KindQuotaUtilization{Kind: e.Kind(), Unit: QuotaTokens, Used: used[e.Kind().Key()].tokens.Int()}
				row.Required, row.Cap = e.Tokens(target)
				rows = append(rows, row)
			}
		case *slicer.CountQuota:
			counts = s.Entries()
		case *slicer.CountConstrainedKnapsack:
			counts = s.Entries()
		}
		for _, e := range counts {
			rows = append(rows, KindQuotaUtilization{e.Kind, QuotaItems, used[e.Kind.Key()].items, e.RequireCount, e.CapCount})
		}
	}
	return rows
}
