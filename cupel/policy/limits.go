package policy

import "fmt"

const (
	// maxDepth bounds how deep strategies are nested. It is far beyond use, and
	// ends the walk through a slice that contains itself.
	maxDepth = 100
	// maxStrategies bounds how many strategies a policy has, which ends the walk
	// where a slice contains itself more than once.
	maxStrategies = 10_000
)

var (
	tooDeep = fmt.Sprintf("strategies are nested more than %d deep", maxDepth)
	tooMany = fmt.Sprintf("a policy has at most %d strategies", maxStrategies)
)

// strategies counts the strategies of a policy.
type strategies int

// exceeds counts one strategy more, and returns why that is one too many.
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
// that all other walks need not look.
func checkSize(p Policy) *Problem {
	var n strategies
	if problem := sizeOf(&n, "scorers", 0, scorersOf(p.Scorers), childrenOfScorer); problem != nil {
		return problem
	}
	if problem := sizeOf(&n, "slicer", 0, []Slicer{p.Slicer}, childrenOfSlicer); problem != nil {
		return problem
	}
	return sizeOf(&n, "placer", 0, []Placer{p.Placer}, childrenOfPlacer)
}

func sizeOf[S any](n *strategies, at string, depth int, list []S, children func(S) []S) *Problem {
	for _, s := range list {
		if _, read := any(s).(unreadable); read {
			continue // the reader has counted it
		}
		if reason := n.exceeds(depth); reason != "" {
			return &Problem{Path: at, Reason: reason}
		}
		if problem := sizeOf(n, at, depth+1, children(s), children); problem != nil {
			return problem
		}
	}
	return nil
}

func scorersOf(parts []Weighted) []Scorer {
	// A slice that contains itself can be as long as memory: what is beyond the
	// limit need not be seen.
	parts = parts[:min(len(parts), maxStrategies+1)]
	list := make([]Scorer, len(parts))
	for i, part := range parts {
		list[i] = part.Scorer
	}
	return list
}

func childrenOfScorer(s Scorer) []Scorer {
	switch s := s.(type) {
	case Composite:
		return scorersOf(s.Scorers)
	case Scaled:
		return []Scorer{s.Inner}
	case CustomScorer:
		return s.Children
	}
	return nil
}

func childrenOfSlicer(s Slicer) []Slicer {
	switch s := s.(type) {
	case Quota:
		return []Slicer{s.Inner}
	case CountQuota:
		return []Slicer{s.Inner}
	case CustomSlicer:
		return s.Children
	}
	return nil
}

func childrenOfPlacer(p Placer) []Placer {
	if c, ok := p.(CustomPlacer); ok {
		return c.Children
	}
	return nil
}
