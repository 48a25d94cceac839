package scorer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// everyScorer returns each scorer of the package, in some of its settings. Those
// without a line here have the settings that their descriptor requires.
func everyScorer() map[string]strategy.Scorer {
	w := func(s strategy.Scorer, weight float64) scorer.Weighted {
		return scorer.Weighted{Scorer: s, Weight: weight}
	}
	tags := map[string]float64{"tag-1": 1, "Tag-2": 0.5, "k": 0.25, "tag-7": 2}
	trusted := scorer.Must(scorer.NewMetadataTrust(0.5))
	boosted := scorer.Must(scorer.NewMetadataKey(cupel.MetadataPriority, "high", 1.5))
	fading := decay(scorer.Must(scorer.Exponential(30 * 24 * time.Hour)))
	blend := composite(w(scorer.Recency{}, 0.6), w(scorer.Priority{}, 0.3), w(scorer.Kind{}, 0.1), w(scorer.Frequency{}, 0.7))
	all := map[string]strategy.Scorer{
		"Recency":             scorer.Recency{},
		"Priority":            scorer.Priority{},
		"Frequency":           scorer.Frequency{},
		"Reflexive":           scorer.Reflexive{},
		"Kind default":        scorer.Kind{},
		"Kind":                scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{"custom": 3, "Memory": 0.1})),
		"Tag":                 scorer.Must(scorer.NewTag(tags)),
		"Tag folding":         scorer.Must(scorer.NewTag(tags, scorer.WithCaseInsensitiveTags())),
		"Tag without weights": scorer.Must(scorer.NewTag(nil)),
		"MetadataTrust":       trusted,
		"MetadataKey":         boosted,
		"Decay exponential":   fading,
		"Decay step":          decay(scorer.Must(scorer.Step(scorer.StepWindow{MaxAge: time.Hour, Score: 1}, scorer.StepWindow{MaxAge: 99 * time.Hour, Score: 0.3}))),
		"Decay window":        decay(scorer.Must(scorer.Window(time.Hour)), scorer.WithNullTimestampScore(0.25)),
		"Composite":           blend,
		"Composite nested":    composite(w(blend, 2), w(scaled(blend), 1), w(boosted, 3), w(rawHint, 1)),
		"Scaled":              scaled(scorer.Recency{}),
		"Scaled hints":        scaled(rawHint),
		"Scaled nested":       scaled(composite(w(scaled(scaled(blend)), 1), w(scaled(trusted), 2), w(fading, 3), w(scaled(rawHint), 0.1))),
	}
	for _, d := range scorer.Descriptors() {
		listed := false
		for _, s := range all {
			_, of := d.Settings(s)
			listed = listed || of
		}
		if !listed {
			all[d.Name] = plain(d)
		}
	}
	return all
}

// plain builds a scorer with nothing but its required settings.
func plain(d strategy.Descriptor) strategy.Scorer {
	given := make(map[string]any)
	for _, f := range d.Fields {
		if !f.Required {
			continue
		}
		within := func(x float64) float64 {
			if f.Range != nil {
				x = min(max(x, f.Range.Min), f.Range.Max)
			}
			return x
		}
		switch f.Type {
		case strategy.Number:
			given[f.Name] = within(0.5)
		case strategy.Int:
			given[f.Name] = int(within(7))
		case strategy.Text, strategy.Kind:
			given[f.Name] = "a"
		case strategy.Enum:
			given[f.Name] = f.Values[0]
		case strategy.Duration:
			given[f.Name] = time.Hour
		case strategy.Weights:
			given[f.Name] = map[string]float64{"a": 1}
		case strategy.Child:
			given[f.Name] = scorer.Recency{}
		case strategy.Parts:
			given[f.Name] = []strategy.Part{{Strategy: scorer.Recency{}, Weight: 1}}
		case strategy.Bool, strategy.List, strategy.Variant, strategy.Children, strategy.Texts, strategy.Object: // Build reports what is missing
		}
	}
	clock := func() time.Time { return reference }
	return scorer.Must(d.Build(strategy.Args{Given: given, Fields: d.Fields, Clock: clock})).(strategy.Scorer)
}

func TestScorersThatWereNotBuilt(t *testing.T) {
	all := items{tagged("a"), at(reference), nil}
	for component, pair := range map[string][2]strategy.Scorer{
		"TagScorer":           {&scorer.Tag{}, (*scorer.Tag)(nil)},
		"CompositeScorer":     {&scorer.Composite{}, (*scorer.Composite)(nil)},
		"ScaledScorer":        {&scorer.Scaled{}, (*scorer.Scaled)(nil)},
		"MetadataTrustScorer": {&scorer.MetadataTrust{}, (*scorer.MetadataTrust)(nil)},
		"MetadataKeyScorer":   {&scorer.MetadataKey{}, (*scorer.MetadataKey)(nil)},
		"DecayScorer":         {&scorer.Decay{}, (*scorer.Decay)(nil)},
	} {
		for _, s := range pair {
			facts := strategy.FactsOf(s)
			for _, err := range []error{facts.Invalid, s.Score(t.Context(), all, make([]float64, len(all)))} {
				var invalid *cupel.InvalidConfigError
				if !errors.As(err, &invalid) || invalid.Component != component || facts.Of != s {
					t.Errorf("%T: got %v, want an InvalidConfigError of %s", s, err, component)
				}
			}
			outer := ownOverDescribed{s.(described)}
			if facts := strategy.FactsOf(outer); facts.Invalid != nil || strategy.ValidateScorer(outer) == nil {
				t.Errorf("%T: a type that embeds it has the facts %+v; it is invalid for what is inside it", s, facts)
			}
		}
	}
	if _, err := new(scorer.Composite).ScoreParts(t.Context(), all); !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("ScoreParts: got %v, want an InvalidConfigError", err)
	}
}

// described is a scorer with facts, to embed.
type described interface {
	strategy.Scorer
	strategy.Describer
}

// These embed a scorer and have their own Score. The first promotes the facts of
// what it embeds.
type (
	ownOverDescribed struct{ described }
)

func (ownOverDescribed) Score(context.Context, []*cupel.ContextItem, []float64) error { return nil }

func TestScoreRefusesInvalidCalls(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	all := items{tagged("a"), tagged("a")}
	for name, s := range everyScorer() {
		for _, tt := range []struct {
			ctx  context.Context
			room int
			want error
			why  string
		}{
			{t.Context(), 1, cupel.ErrStrategy, "there is room for one score of two"},
			{t.Context(), 3, cupel.ErrStrategy, "there is room for three scores of two"},
			{nil, 2, cupel.ErrStrategy, "there is no context"},
			{canceled, 2, context.Canceled, "the context is done"},
		} {
			if err := s.Score(tt.ctx, all, make([]float64, tt.room)); !errors.Is(err, tt.want) {
				t.Errorf("%s: got %v, want %v: %s", name, err, tt.want, tt.why)
			}
		}
	}
	c := composite(scorer.Weighted{Scorer: scorer.Kind{}, Weight: 1})
	if _, err := c.ScoreParts(canceled, all); !errors.Is(err, context.Canceled) {
		t.Errorf("ScoreParts: got %v, want the context's error", err)
	}
}

// lateContext is done from the nth time on that somebody asks.
type lateContext struct {
	context.Context
	asked, from int
}

func (c *lateContext) Err() error {
	if c.asked++; c.asked >= c.from {
		return context.DeadlineExceeded
	}
	return nil
}

// TestPassesStopAtOnce counts looks at the context: one before the pass, one for
// each 4096 items where each takes long, and none after the one that found it done.
func TestPassesStopAtOnce(t *testing.T) {
	all := make(items, 2*4096+1) // the third look is at the last item
	for i := range all {
		all[i] = item(cupel.WithPriority(i), cupel.WithTags(fmt.Sprint(i%7), fmt.Sprint(i%11), fmt.Sprint(i%13), fmt.Sprint(i%17), fmt.Sprint(i%19)))
	}
	for _, tt := range []struct {
		scorer strategy.Scorer
		looks  int // at least
		why    string
	}{
		{scorer.Reflexive{}, 4, "three looks in 8193 items"},
		{scorer.Priority{}, 2, "one before sorting and one after"},
		{scorer.Frequency{}, 6, "the same, and some while it counts"},
	} {
		whole := &lateContext{Context: t.Context(), from: math.MaxInt}
		if err := tt.scorer.Score(whole, all, make([]float64, len(all))); err != nil || whole.asked < tt.looks || whole.asked > len(all)/4 {
			t.Errorf("%T: %d looks, error %v: %s", tt.scorer, whole.asked, err, tt.why)
		}
		for from := 1; from <= whole.asked; from += 1 + whole.asked/20 {
			ctx := &lateContext{Context: t.Context(), from: from}
			if err := tt.scorer.Score(ctx, all, make([]float64, len(all))); !errors.Is(err, context.DeadlineExceeded) || ctx.asked > from {
				t.Errorf("%T: done at look %d: asked %d times, error %v: %s", tt.scorer, from, ctx.asked, err, tt.why)
			}
		}
	}
}

// TestScorersKeepNoItems lets the items of a pass be collected.
func TestScorersKeepNoItems(t *testing.T) {
	for name, s := range everyScorer() {
		collected := make([]weak.Pointer[cupel.ContextItem], 0, 200)
		func() {
			var all items
			for i := range cap(collected) {
				it := item(cupel.WithTags(fmt.Sprint("tag-", i)), cupel.WithPriority(i), cupel.WithTimestamp(reference))
				all = append(all, it)
				collected = append(collected, weak.Make(it))
			}
			scoreAll(t, s, all)
		}()
		runtime.GC()
		for i, p := range collected {
			if p.Value() != nil {
				t.Errorf("%s keeps item %d alive", name, i)
				break
			}
		}
	}
}

func TestScorersAreSafeForConcurrentUse(t *testing.T) {
	all := richItems(newRand(21), 300)
	for name, s := range everyScorer() {
		want := scoreAll(t, s, all)
		var group sync.WaitGroup
		for worker := range 4 {
			group.Add(1)
			go func() {
				defer group.Done()
				mine := all[:len(all)-worker] // lists of different lengths share the pools
				scores := make([]float64, len(mine))
				for range 3 {
					if err := s.Score(context.WithoutCancel(t.Context()), mine, scores); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
				}
				if worker > 0 {
					return
				}
				for i, got := range scores {
					if !same(got, want[i]) {
						t.Errorf("%s: item %d scores %v among others and %v alone", name, i, got, want[i])
					}
				}
			}()
		}
		group.Wait()
	}
}

// TestWarmPassesDoNotAllocate holds what the documentation says.
func TestWarmPassesDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools drop things at random")
	}
	all := slices.DeleteFunc(richItems(newRand(22), 500), func(it *cupel.ContextItem) bool {
		v, _ := it.MetadataValue(cupel.MetadataTrust)
		return v == "1e999" // strconv's error about a number that is too large allocates
	})
	scores := make([]float64, len(all))
	for name, s := range everyScorer() {
		run := func() {
			if err := s.Score(t.Context(), all, scores); err != nil {
				t.Error(err)
			}
		}
		run()
		if got := testing.AllocsPerRun(50, run); got > 0 {
			t.Errorf("%s allocated %v times in a warm pass over %d items", name, got, len(all))
		}
	}
}

func TestMustPanics(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("recovered %v, want the constructor's error", err)
		}
	}()
	scorer.Must(scorer.NewMetadataTrust(2))
}
