package scorer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
)

// everyScorer returns each scorer of the package, in some of its settings.
func everyScorer() map[string]cupel.BatchScorer {
	w := func(s cupel.Scorer, weight float64) scorer.Weighted {
		return scorer.Weighted{Scorer: s, Weight: weight}
	}
	tags := map[string]float64{"tag-1": 1, "Tag-2": 0.5, "k": 0.25, "tag-7": 2}
	trusted := scorer.Must(scorer.NewMetadataTrust(0.5))
	boosted := scorer.Must(scorer.NewMetadataKey(cupel.MetadataPriority, "high", 1.5))
	fading := decay(scorer.Must(scorer.Exponential(30 * 24 * time.Hour)))
	blend := composite(w(scorer.Recency{}, 0.6), w(scorer.Priority{}, 0.3), w(scorer.Kind{}, 0.1), w(scorer.Frequency{}, 0.7))
	return map[string]cupel.BatchScorer{
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
}

// unbuilt are the zero value and the nil pointer of each type that needs a
// constructor, by the specification's name.
func unbuilt() map[string][2]cupel.BatchScorer {
	return map[string][2]cupel.BatchScorer{
		"TagScorer":           {&scorer.Tag{}, (*scorer.Tag)(nil)},
		"CompositeScorer":     {&scorer.Composite{}, (*scorer.Composite)(nil)},
		"ScaledScorer":        {&scorer.Scaled{}, (*scorer.Scaled)(nil)},
		"MetadataTrustScorer": {&scorer.MetadataTrust{}, (*scorer.MetadataTrust)(nil)},
		"MetadataKeyScorer":   {&scorer.MetadataKey{}, (*scorer.MetadataKey)(nil)},
		"DecayScorer":         {&scorer.Decay{}, (*scorer.Decay)(nil)},
	}
}

func TestScorersThatWereNotBuilt(t *testing.T) {
	all := items{tagged("a"), at(reference), nil}
	for component, pair := range unbuilt() {
		for i, s := range pair {
			t.Run(component+"/"+[]string{"zero", "nil"}[i], func(t *testing.T) {
				for what, err := range map[string]error{
					"Validate": s.(cupel.Validator).Validate(),
					"ScoreAll": s.ScoreAll(t.Context(), all, make([]float64, len(all))),
				} {
					var invalid *cupel.InvalidConfigError
					if !errors.As(err, &invalid) || invalid.Component != component {
						t.Errorf("%s: got %v, want an InvalidConfigError of %s", what, err, component)
					}
				}
				for _, it := range all {
					s.Score(it, all) // must not panic
				}
				if w, ok := s.(cupel.ScorerWrapper); ok {
					w.Scorers()
				}
				if err := cupel.ValidateScorer(s); !errors.Is(err, cupel.ErrInvalidConfig) {
					t.Errorf("ValidateScorer: got %v, want an InvalidConfigError", err)
				}
			})
		}
	}
	var nothing *scorer.Composite
	if _, err := nothing.ScoreParts(t.Context(), all); !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("ScoreParts of nil: got %v, want an InvalidConfigError", err)
	}
}

func TestEveryScorerIsValid(t *testing.T) {
	for name, s := range everyScorer() {
		if err := cupel.ValidateScorer(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestScoreAllWithTheWrongRoom(t *testing.T) {
	all := items{item(), item(), item()}
	for name, s := range everyScorer() {
		for _, room := range []int{0, 2, 4} {
			err := s.ScoreAll(t.Context(), all, make([]float64, room))
			if !errors.Is(err, cupel.ErrStrategy) || !strings.Contains(err.Error(), fmt.Sprintf("%d scores of 3 items", room)) {
				t.Errorf("%s: room for %d scores of 3 items: got %v", name, room, err)
			}
		}
	}
}

func TestScoreAllWithoutAContext(t *testing.T) {
	var none context.Context
	all := items{item(), item()}
	for name, s := range everyScorer() {
		if err := s.ScoreAll(none, all, make([]float64, 2)); !errors.Is(err, cupel.ErrStrategy) {
			t.Errorf("%s: got %v, want a StrategyError", name, err)
		}
	}
}

func TestScoreAllStopsWhenTheContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	all := items{tagged("a"), tagged("a")}
	for name, s := range everyScorer() {
		if err := s.ScoreAll(ctx, all, make([]float64, 2)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want the context's error", name, err)
		}
	}
	c := composite(scorer.Weighted{Scorer: scorer.Kind{}, Weight: 1})
	if _, err := c.ScoreParts(ctx, all); !errors.Is(err, context.Canceled) {
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

// TestLongBatchesLookAtTheContext counts how often a long list makes each
// scorer look, and then ends the context at some of those looks.
func TestLongBatchesLookAtTheContext(t *testing.T) {
	all := make(items, 10_000)
	for i := range all {
		all[i] = item(cupel.WithTags(fmt.Sprint("tag-", i%700), "Tag-2"), cupel.WithPriority(i), cupel.WithTimestamp(reference.Add(time.Duration(i))))
	}
	scores := make([]float64, len(all))
	for name, s := range everyScorer() {
		counting := &lateContext{Context: t.Context(), from: 1 << 30}
		if err := s.ScoreAll(counting, all, scores); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if counting.asked < 3 {
			t.Errorf("%s looked at the context %d times in %d items", name, counting.asked, len(all))
		}
		for from := 1; from <= counting.asked; from += 1 + counting.asked/6 {
			if err := s.ScoreAll(&lateContext{Context: t.Context(), from: from}, all, scores); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the context was done at look %d of %d: got %v", name, from, counting.asked, err)
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
			s.Score(all[0], all)
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
					if err := s.ScoreAll(context.WithoutCancel(t.Context()), mine, scores); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					i := worker % len(mine)
					if got := s.Score(mine[i], mine); !same(got, scores[i]) {
						t.Errorf("%s: Score gives %v and ScoreAll %v", name, got, scores[i])
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

// TestWarmPassesDoNotAllocate holds what the documentation says. TagScorer
// makes two closures a pass, for a list of any length.
func TestWarmPassesDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools drop things at random")
	}
	constant := map[string]float64{"Tag": 2, "Tag folding": 2}
	all := slices.DeleteFunc(richItems(newRand(22), 500), func(it *cupel.ContextItem) bool {
		v, _ := it.MetadataValue(cupel.MetadataTrust)
		return v == "1e999" // strconv's error about a number that is too large allocates
	})
	scores := make([]float64, len(all))
	for name, s := range everyScorer() {
		run := func() {
			if err := s.ScoreAll(t.Context(), all, scores); err != nil {
				t.Error(err)
			}
		}
		run()
		if got := testing.AllocsPerRun(50, run); got > constant[name] {
			t.Errorf("%s allocated %v times in a warm pass over %d items, want at most %v", name, got, len(all), constant[name])
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
