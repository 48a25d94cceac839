package policy

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/compat"
)

// clone returns a copy of a policy that shares nothing that could change. The
// policy is valid, and so neither too deep nor too large.
func clone(p Policy) Policy {
	p.Scorers = cloneParts(p.Scorers)
	p.Slicer = cloneSlicer(p.Slicer)
	p.Placer = clonePlacer(p.Placer)
	return p
}

func cloneParts(parts []Weighted) []Weighted {
	return cloneEach(parts, func(part Weighted) Weighted { return Weighted{cloneScorer(part.Scorer), part.Weight} })
}

// cloneEach keeps nil apart from empty.
func cloneEach[T any](list []T, each func(T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = each(list[i])
	}
	return list
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return compat.New(*p)
}

func cloneScorer(s Scorer) Scorer {
	switch s := s.(type) {
	case Kind:
		return Kind{maps.Clone(s.Weights)}
	case Tag:
		s.Weights = maps.Clone(s.Weights)
		return s
	case Composite:
		return Composite{cloneParts(s.Scorers)}
	case Scaled:
		return Scaled{cloneScorer(s.Inner)}
	case Decay:
		if step, ok := s.Curve.(Step); ok {
			s.Curve = Step{slices.Clone(step.Windows)}
		}
		s.NullTimestampScore = clonePointer(s.NullTimestampScore)
		return s
	case CustomScorer:
		return CustomScorer{s.Type, cloneSettings(s.Settings), cloneEach(s.Children, cloneScorer)}
	}
	return s // there is nothing in it that could change
}

func cloneSlicer(s Slicer) Slicer {
	switch s := s.(type) {
	case Knapsack:
		return cloneKnapsack(s)
	case Quota:
		return Quota{cloneSlicer(s.Inner), cloneEach(s.Entries, func(e QuotaEntry) QuotaEntry {
			e.Cap = clonePointer(e.Cap)
			return e
		})}
	case CountQuota:
		return CountQuota{cloneSlicer(s.Inner), cloneCounts(s.Entries), s.Scarcity}
	case CountConstrainedKnapsack:
		return CountConstrainedKnapsack{cloneKnapsack(s.Knapsack), cloneCounts(s.Entries), s.Scarcity}
	case CustomSlicer:
		return CustomSlicer{s.Type, cloneSettings(s.Settings), cloneEach(s.Children, cloneSlicer)}
	}
	return s
}

func cloneKnapsack(k Knapsack) Knapsack {
	k.BucketSize, k.MemoryLimit = clonePointer(k.BucketSize), clonePointer(k.MemoryLimit)
	return k
}

func cloneCounts(entries []CountEntry) []CountEntry {
	return cloneEach(entries, func(e CountEntry) CountEntry {
		e.CapCount = clonePointer(e.CapCount)
		return e
	})
}

func clonePlacer(p Placer) Placer {
	if c, ok := p.(CustomPlacer); ok {
		return CustomPlacer{c.Type, cloneSettings(c.Settings), cloneEach(c.Children, clonePlacer)}
	}
	return p
}

func cloneSettings(settings json.RawMessage) json.RawMessage { return bytes.Clone(settings) }
