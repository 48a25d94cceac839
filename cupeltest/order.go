package cupeltest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// PlaceItemAtEdge holds if the predicate is true for the first or the last
// included entry. Positions count, not scores. The meaning of an edge depends
// on the placer: with the UShapedPlacer, the best item is first and the second
// best last. A group counts as one item, which matches if one of its items
// does.
//
// It implements pattern 12 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) PlaceItemAtEdge(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("PlaceItemAtEdge", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		units := analysis.IncludedUnits(r)
		matches := func(unit analysis.IncludedUnit) bool { return slices.ContainsFunc(unit, predicate) }
		last, at := len(units)-1, slices.IndexFunc(units, matches)
		switch {
		case at < 0:
			return failure(c.nearIncluded(r, predicate), "PlaceItemAtEdge failed: no item in Included matched the predicate.")
		case at == 0 || matches(units[last]):
			return nil
		}
		return failure(c.atPlaces(r, []int{0, len(r.Included) - 1}),
			"PlaceItemAtEdge failed: item matching predicate was at index %d (not at edge). Edge positions: 0 and %d. Included had %d items.%s",
			at, last, len(units), unitsNote(r, units))
	})
}

// PlaceTopNScoredAtEdges holds if the n included items with the highest scores
// are at the n outermost positions: the first, the last, the second, the last
// but one, and so on. Any of the items that tie for the last of the n places is
// accepted. It always holds for n of 0 or less and never for n greater than the
// number of included items. NaN is the lowest score. The meaning of an edge
// depends on the placer. A group counts as one item.
//
// It implements pattern 13 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) PlaceTopNScoredAtEdges(n int) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("PlaceTopNScoredAtEdges", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		units := analysis.IncludedUnits(r)
		best := make([]cupel.IncludedItem, len(units)) // of each unit
		for i, unit := range units {
			best[i] = slices.MaxFunc(unit, func(a, b cupel.IncludedItem) int { return cmp.Compare(a.Score, b.Score) })
		}
		count := len(units)
		outsideIn := outsideIn(count)
		edges := outsideIn[:max(0, min(n, count))]
		// Among items that tie for the last place, one at an edge comes first, in favor
		// of the placer.
		top := slices.Clone(outsideIn)
		slices.SortStableFunc(top, func(a, b int) int { return cmp.Compare(best[b].Score, best[a].Score) })
		top = top[:len(edges)]
		failed := max(0, n-count) // places without an item
		var items, positions []string
		for _, at := range top {
			if !slices.Contains(edges, at) {
				failed++
			}
			entry := best[at]
			items = append(items, fmt.Sprintf("(kind=%s, score=%s, idx=%d)", entry.Item.Kind(), score(entry.Score), at))
		}
		if failed == 0 {
			return nil
		}
		for _, at := range edges {
			positions = append(positions, fmt.Sprint(at))
		}
		message := fmt.Sprintf("PlaceTopNScoredAtEdges(%d) failed: %d of the top-%d scored items were not at expected edge positions. Top-%d items (by score): [%s]. Expected edge positions: [%s].",
			n, failed, n, n, joined(items), joined(positions))
		if n > count {
			message += fmt.Sprintf(" Included had only %d items.", count)
		}
		message += unitsNote(r, units)
		return failure(c.atEdges(r, units, edges, top), "%s", message)
	})
}

// outsideIn returns the positions 0, count-1, 1, count-2 and so on.
func outsideIn(count int) []int {
	order := make([]int, count)
	for i := range order {
		order[i] = i / 2
		if i%2 == 1 {
			order[i] = count - 1 - i/2
		}
	}
	return order
}

// atEdges names the items at the edges that are not among the best.
func (c *SelectionReportAssertionChain) atEdges(r *cupel.SelectionReport, units []analysis.IncludedUnit, edges, top []int) []string {
	var places []int
	for _, edge := range edges {
		if slices.Contains(top, edge) {
			continue
		}
		at := 0
		for _, unit := range units[:edge] {
			at += len(unit)
		}
		places = append(places, at)
	}
	return c.atPlaces(r, places)
}
