package analysis

import (
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// IncludedUnit is a group in the window, or an item without one: its entries, at
// least one. Slicers and placers, and thus quotas and counts, see units.
type IncludedUnit []cupel.IncludedItem

// IncludedUnits returns the units of the window, in placed order. The entries of a
// group follow one another in every report of a pipeline; elsewhere neighbors of one
// group are a unit.
func IncludedUnits(report *cupel.SelectionReport) []IncludedUnit {
	if report == nil {
		return nil
	}
	var units []IncludedUnit
	for i, entry := range report.Included {
		group := entry.Item.Group()
		if i == 0 || group == "" || group != report.Included[i-1].Item.Group() {
			units = append(units, nil)
		}
		last := &units[len(units)-1]
		*last = append(*last, entry)
	}
	return units
}

// Kind returns the kind that has most of the unit's full tokens, the first of equal
// ones. The full size of a smaller form is its original tokens, and a group
// variant has the kind of the first item, since the window has nothing else of the
// group.
func (u IncludedUnit) Kind() cupel.ContextKind {
	tokens := make(map[string]exact.Sum)
	for _, entry := range u {
		full := entry.Item.Tokens()
		if entry.Form > 0 {
			full = sizeInFull(entry.Item)
		}
		key := entry.Item.Kind().Key()
		tokens[key] = tokens[key].Plus(exact.Of(full))
	}
	best := cupel.ContextKind("")
	for _, entry := range u {
		kind := entry.Item.Kind()
		if best == "" || tokens[kind.Key()].Minus(tokens[best.Key()]).Greater(0) {
			best = kind
		}
	}
	return best
}
