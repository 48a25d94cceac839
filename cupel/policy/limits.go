package policy

import (
	"fmt"

	"github.com/wollax/cupel-go/cupel/strategy"
)

const (
	// maxDepth bounds the nesting of strategies. It is far above practical use,
	// and ends the walk through a slice that contains itself.
	maxDepth = 100
	// maxStrategies bounds the number of strategies in a policy. It ends the walk
	// through a slice that contains itself more than once.
	maxStrategies = 10_000
)

var (
	tooDeep = fmt.Sprintf("strategies are nested more than %d deep", maxDepth)
	tooMany = fmt.Sprintf("a policy has at most %d strategies", maxStrategies)
)

// strategies counts the strategies of a policy.
type strategies int

// exceeds counts one more strategy. If that is too many or too deep, it returns
// the reason.
func (n *strategies) exceeds(depth int) string {
	*n++
	switch {
	case *n > maxStrategies:
		return tooMany
	case depth > maxDepth:
		return tooDeep
	}
	return ""
}

// checkSize returns a problem when a policy is nested too deep or too large, so
// that no other walk has to check.
func checkSize(p Policy) *Problem {
	var n strategies
	for _, part := range []struct {
		at   string
		role *role
		list []Strategy
	}{{"scorers", scorers, scorersOf(p.Scorers)}, {"slicer", slicers, []Strategy{p.Slicer}}, {"placer", placers, []Strategy{p.Placer}}} {
		if reason := sizeOf(&n, part.role, 0, part.list); reason != "" {
			return &Problem{Path: part.at, Reason: reason}
		}
	}
	return nil
}

func sizeOf(n *strategies, r *role, depth int, list []Strategy) string {
	for _, s := range list {
		if reason := n.exceeds(depth); reason != "" {
			return reason
		}
		for _, f := range r.fields(s.Type) {
			var inner []Strategy
			switch value := s.Settings[f.Name].(type) {
			case Strategy:
				if f.Type == strategy.Child {
					inner = []Strategy{value}
				}
			case []Strategy:
				inner = value
			case []Weighted:
				inner = scorersOf(value)
			}
			if reason := sizeOf(n, r, depth+1, inner); reason != "" {
				return reason
			}
		}
	}
	return ""
}

func scorersOf(parts []Weighted) []Strategy {
	// A slice that contains itself can be arbitrarily long: read only up to the
	// limit.
	parts = parts[:min(len(parts), maxStrategies+1)]
	list := make([]Strategy, len(parts))
	for i, part := range parts {
		list[i] = part.Scorer
	}
	return list
}
