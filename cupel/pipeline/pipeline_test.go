package pipeline_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func overflow(s pipeline.OverflowStrategy) func(*pipeline.Config) {
	return func(c *pipeline.Config) { c.Overflow = s }
}

func withSlicer(s strategy.Slicer) func(*pipeline.Config) {
	return func(c *pipeline.Config) { c.Slicer = s }
}
func withPlacer(p strategy.Placer) func(*pipeline.Config) {
	return func(c *pipeline.Config) { c.Placer = p }
}
func withScorer(s strategy.Scorer) func(*pipeline.Config) {
	return func(c *pipeline.Config) { c.Scorer = s }
}

func TestConcurrentRuns(t *testing.T) {
	p := newPipeline(t)
	var items []*cupel.ContextItem
	for i := range 200 {
		items = append(items, item(t, strings.Repeat("x", 1+i%50), i%7, hint(float64(i%13))))
	}
	budget := budgetOf(t, 300, 200)
	want, err := p.Run(t.Context(), items, budget)
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := p.Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				got, err := p.Run(t.Context(), items, budget)
				again, err2 := prepared.Run(t.Context(), budget)
				if err != nil || err2 != nil || contents(got) != contents(want) || contents(again) != contents(want) {
					t.Errorf("got %q and %q, errors %v and %v", contents(got), contents(again), err, err2)
				}
			}
		}()
	}
	wg.Wait()
}

func TestInvalidItems(t *testing.T) {
	tests := []struct {
		name string
		bad  *cupel.ContextItem
		why  string
	}{
		{"nil", nil, "there is nothing to score"},
		{"not constructed", new(cupel.ContextItem), "its content is empty, which the constructor refuses"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for at := range 2 {
				items := []*cupel.ContextItem{item(t, "a", 3), item(t, "b", 3)}
				items[at] = tt.bad
				report, err := newPipeline(t).DryRun(t.Context(), items, budgetOf(t, 9, 9))
				var invalid *cupel.InvalidItemError
				if !errors.As(err, &invalid) || invalid.Index != at {
					t.Fatalf("got %v, want an InvalidItemError at index %d: %s", err, at, tt.why)
				}
				equal(t, "candidates", report.TotalCandidates, 2)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	good := pipeline.Config{Scorer: byHint{}, Slicer: inOrder, Placer: asMerged}
	tests := []struct {
		name, field string
		change      func(*pipeline.Config)
	}{
		{"nil function as scorer", "Scorer", func(c *pipeline.Config) { c.Scorer = scoreFunc(nil) }},
		{"nil pointer as scorer", "Scorer", func(c *pipeline.Config) { c.Scorer = (*byHint)(nil) }},
		{"a share above 1", "NearDuplicates", func(c *pipeline.Config) { c.NearDuplicates = 1.1 }},
		{"no share", "NearDuplicates", func(c *pipeline.Config) { c.NearDuplicates = math.NaN() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := good
			tt.change(&config)
			_, err := pipeline.New(config)
			var invalid *cupel.InvalidConfigError
			if !errors.As(err, &invalid) || invalid.Field != tt.field || !errors.Is(err, cupel.ErrInvalidConfig) {
				t.Fatalf("got %v, want an InvalidConfigError for %s", err, tt.field)
			}
		})
	}
}

// TestConfigReportsAll: a configuration with several mistakes is repaired in one go.
func TestConfigReportsAll(t *testing.T) {
	_, err := pipeline.New(pipeline.Config{Overflow: 17})
	var got []string
	for _, e := range strategy.All(err) {
		var invalid *cupel.InvalidConfigError
		if !errors.As(e, &invalid) {
			t.Fatalf("%v is no InvalidConfigError", e)
		}
		got = append(got, invalid.Component+"."+invalid.Field)
	}
	equal(t, "settings", strings.Join(got, " "), "Config.Scorer Config.Slicer Config.Placer Config.Overflow")
	if !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("%v does not match ErrInvalidConfig", err)
	}
}
