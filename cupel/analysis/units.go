package analysis

import (
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// IncludedUnit is a group in the window, or an item without one: its entries, at
// least one. Slicers and placers, and thus quotas and counts, see units.
type IncludedUnit []cupel.IncludedItem

// IncludedUnits returns the units of the window, in placed order. The entries of a
// group follow one another in every report of a pipeline; elsewhere each run of
// neighbours is a unit. The units share the memory of the report.
func IncludedUnits(report *cupel.SelectionReport) []IncludedUnit {
	if report == nil {
		return nil
	}
	units := make([]IncludedUnit, 0, len(report.Included))
	from := 0
	for i := range report.Included {
		group := report.Included[i].Item.Group()
		if i+1 < len(report.Included) && group != "" && group == report.Included[i+1].Item.Group() {
			continue
		}
		units = append(units, report.Included[from:i+1:i+1])
		from = i + 1
	}
	return units
}

// Kind returns the kind of the unit: that of most of its tokens in full, of equal
// ones the first. The full size of a smaller form is its original tokens, and a
// group variant has the kind of the first item, since the window has nothing else
// of the group.
func (u IncludedUnit) Kind() cupel.ContextKind {
	if len(u) == 1 {
		return u[0].Item.Kind()
	}
	tokens := make(map[string]exact.Sum)
	for _, entry := range u {
		full := entry.Item.Tokens()
		if original, ok := entry.Item.OriginalTokens(); ok && entry.Form() > 0 {
			full = original
		}
		key := entry.Item.Kind().Key()
		sum := tokens[key]
		sum.Add(full)
		tokens[key] = sum
	}
	best := cupel.ContextKind("")
	for i, entry := range u {
		if kind := entry.Item.Kind(); i == 0 || tokens[kind.Key()].Minus(tokens[best.Key()]).Greater(0) {
			best = kind
		}
	}
	return best
}
