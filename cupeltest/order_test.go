package cupeltest_test

import (
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// grouped is an included entry of one token in the group "g".
func grouped(content string, score float64) cupel.IncludedItem {
	return cupel.IncludedItem{Item: cupeltest.Item(content, 1, cupel.WithKind("A"), cupel.WithGroup("g")), Score: score, Reason: cupel.IncludeScored}
}

// placed is a report with these scores, in placed order.
func placed(scores ...float64) report {
	var r report
	for _, s := range scores {
		r.Included = append(r.Included, in("A", 1, s))
	}
	return r
}

func TestPlaceItemAtEdge(t *testing.T) {
	edge := func(predicate func(cupel.IncludedItem) bool) func(c *chain) *chain {
		return func(c *chain) *chain { return c.PlaceItemAtEdge(predicate) }
	}
	score := func(s float64) func(c *chain) *chain {
		return edge(func(i cupel.IncludedItem) bool { return i.Score == s })
	}
	check(t, []assertion{
		{"first", "position 0 is an edge", placed(1, 2, 3, 4), score(1), ""},
		{"last of several that match", "the edges are asked, not the first match (R43)", placed(1, 2, 3, 2), score(2), ""},
		{"nothing included", "an empty list has no edges", report{}, edge(func(cupel.IncludedItem) bool { return true }),
			"PlaceItemAtEdge failed: no item in Included matched the predicate."},
		{"no predicate, nothing included", "a mistake in the test, first of all", report{}, edge(nil), "PlaceItemAtEdge failed: the predicate is nil."},
	})
}

func TestPlaceTopNScoredAtEdges(t *testing.T) {
	top := func(n int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.PlaceTopNScoredAtEdges(n) }
	}
	check(t, []assertion{
		{"group", "the score of a group is its best", report{Included: []cupel.IncludedItem{
			grouped("call", 0.1), grouped("result", 0.9), in("B", 1, 0.5),
		}}, top(1), ""},
		{"negative", "no item is asked about", placed(1, 2, 3), top(-2), ""},
		{"more than there are", "the message says how many there are", placed(2, 1), top(3),
			"PlaceTopNScoredAtEdges(3) failed: 1 of the top-3 scored items were not at expected edge positions. Top-3 items (by score): [(kind=A, score=2, idx=0), (kind=A, score=1, idx=1)]. Expected edge positions: [0, 1]. Included had only 2 items."},
		{"very many of nothing", "n is not a size of anything", report{}, top(math.MaxInt),
			"PlaceTopNScoredAtEdges(9223372036854775807) failed: 9223372036854775807 of the top-9223372036854775807 scored items were not at expected edge positions. Top-9223372036854775807 items (by score): []. Expected edge positions: []. Included had only 0 items."},
	})
}
