package naive_test

import (
	"context"
	"fmt"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// engineConfig builds the engine's strategies for a configuration of the
// model.
func engineConfig(config naive.Config) (pipeline.Config, error) {
	s, err := engineScorer(config.Scorer)
	if err != nil {
		return pipeline.Config{}, err
	}
	sl, err := engineSlicer(config.Slicer)
	if err != nil {
		return pipeline.Config{}, err
	}
	return pipeline.Config{
		Scorer: s, Slicer: sl, Placer: enginePlacer(config.Placer),
		KeepDuplicates: config.KeepDuplicates, Overflow: config.Overflow,
	}, nil
}

func enginePlacer(p naive.Placer) strategy.Placer {
	if _, ok := p.(naive.UShaped); ok {
		return placer.UShaped{}
	}
	return placer.Chronological{}
}

type customScorer struct{ naive.Custom }

func (s customScorer) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		scores[i] = s.Custom.Score(item)
	}
	return nil
}

// errTwice stands for what the engine's maps cannot express: the same name
// twice, letter for letter.
var errTwice = &cupel.InvalidConfigError{Reason: "given twice"}

func engineScorer(s naive.Scorer) (strategy.Scorer, error) {
	switch s := s.(type) {
	case naive.Custom:
		return customScorer{s}, nil
	case naive.Recency:
		return scorer.Recency{}, nil
	case naive.Priority:
		return scorer.Priority{}, nil
	case naive.Frequency:
		return scorer.Frequency{}, nil
	case naive.Reflexive:
		return scorer.Reflexive{}, nil
	case naive.Kind:
		if s.Weights == nil {
			return scorer.Kind{}, nil
		}
		weights := make(map[cupel.ContextKind]float64)
		for _, w := range s.Weights {
			if _, twice := weights[w.Kind]; twice {
				return nil, errTwice
			}
			weights[w.Kind] = w.Weight
		}
		return scorer.NewKind(weights)
	case naive.Tag:
		weights := make(map[string]float64)
		for _, w := range s.Weights {
			if _, twice := weights[w.Tag]; twice {
				return nil, errTwice
			}
			weights[w.Tag] = w.Weight
		}
		if s.FoldCase {
			return scorer.NewTag(weights, scorer.WithCaseInsensitiveTags())
		}
		return scorer.NewTag(weights)
	case naive.MetadataTrust:
		return scorer.NewMetadataTrust(s.DefaultScore)
	case naive.MetadataKey:
		return scorer.NewMetadataKey(s.Key, s.Value, s.Boost)
	case naive.Decay:
		curve, err := engineCurve(s.Curve)
		if err != nil {
			return nil, err
		}
		var clock func() time.Time
		if s.Now != nil {
			clock = func() time.Time { return *s.Now }
		}
		return scorer.NewDecay(clock, curve, scorer.WithNullTimestampScore(s.NullTimestampScore))
	case naive.Scaled:
		inner, err := engineScorer(s.Inner)
		if err != nil {
			return nil, err
		}
		return scorer.NewScaled(inner)
	case naive.Composite:
		var parts []scorer.Weighted
		for _, p := range s.Parts {
			part, err := engineScorer(p.Scorer)
			if err != nil {
				return nil, err
			}
			parts = append(parts, scorer.Weighted{Scorer: part, Weight: p.Weight})
		}
		return scorer.NewComposite(parts...)
	}
	panic(fmt.Sprintf("no engine scorer for %T", s))
}

func engineCurve(c naive.Curve) (scorer.Curve, error) {
	switch c := c.(type) {
	case naive.Exponential:
		return scorer.Exponential(c.HalfLife)
	case naive.Window:
		return scorer.Window(c.MaxAge)
	case naive.Step:
		windows := make([]scorer.StepWindow, len(c.Windows))
		for i, w := range c.Windows {
			windows[i] = scorer.StepWindow{MaxAge: w.MaxAge, Score: w.Score}
		}
		return scorer.Step(windows...)
	}
	panic(fmt.Sprintf("no engine curve for %T", c))
}

type customSlicer struct{ naive.CustomSlicer }

func (s customSlicer) Slice(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	forms := make([]int, len(items))
	for i, it := range items {
		forms[i] = len(it.Item.Forms())
	}
	return s.Choose(items, forms), nil
}

func (s customSlicer) Facts() strategy.Facts {
	return strategy.Facts{Of: s, LeftOver: s.LeftOver}
}

func engineSlicer(s naive.Slicer) (strategy.Slicer, error) {
	switch s := s.(type) {
	case naive.CustomSlicer:
		return customSlicer{s}, nil
	case naive.Greedy:
		return slicer.Greedy{}, nil
	case naive.ScoreGreedy:
		return slicer.ScoreGreedy{}, nil
	case naive.Knapsack:
		return engineKnapsack(s)
	case naive.MultipleChoice:
		if s.Exact {
			return slicer.NewMultipleChoice(slicer.WithExact()), nil
		}
		return slicer.NewMultipleChoice(), nil
	case naive.Diverse:
		d := slicer.Diverse{From: s.From}
		return d, d.Facts().Invalid
	case naive.Quota:
		inner, err := engineSlicer(s.Inner)
		if err != nil {
			return nil, err
		}
		entries := make([]slicer.QuotaEntry, len(s.Entries))
		for i, e := range s.Entries {
			entries[i] = slicer.Between(e.Kind, e.Require, e.Cap)
		}
		return slicer.NewQuota(inner, entries...)
	case naive.CountQuota:
		inner, err := engineSlicer(s.Inner)
		if err != nil {
			return nil, err
		}
		return slicer.NewCountQuota(inner, engineEntries(s.Entries), slicer.WithScarcity(engineScarcity(s.Throw)))
	case naive.CountConstrainedKnapsack:
		inner, err := engineKnapsack(s.Knapsack)
		if err != nil {
			return nil, err
		}
		return slicer.NewCountConstrainedKnapsack(inner, engineEntries(s.Entries), slicer.WithScarcity(engineScarcity(s.Throw)))
	}
	panic(fmt.Sprintf("no engine slicer for %T", s))
}

func engineKnapsack(s naive.Knapsack) (*slicer.Knapsack, error) {
	if s.BucketSize == nil {
		return slicer.NewKnapsack()
	}
	return slicer.NewKnapsack(slicer.WithBucketSize(*s.BucketSize))
}

func engineScarcity(throw bool) slicer.ScarcityBehavior {
	if throw {
		return slicer.ScarcityThrow
	}
	return slicer.ScarcityDegrade
}

func engineEntries(entries []naive.CountEntry) []slicer.CountQuotaEntry {
	list := make([]slicer.CountQuotaEntry, len(entries))
	for i, e := range entries {
		list[i] = slicer.CountQuotaEntry{Kind: e.Kind, RequireCount: e.RequireCount, CapCount: e.CapCount}
	}
	return list
}
