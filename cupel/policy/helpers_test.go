package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
)

// problemsOf returns the problems of an error as lines, "" for none.
func problemsOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var invalid *policy.ValidationError
	if !errors.As(err, &invalid) {
		t.Fatalf("the error is a %T, no ValidationError: %v", err, err)
	}
	if !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("%v does not match ErrInvalidConfig", err)
	}
	var lines []string
	for _, p := range invalid.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// lines removes the indentation of a raw string.
func lines(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// noon is the fixed time of these tests.
var noon = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// items is a list in which every built-in scorer has something to tell apart.
func items(t testing.TB) []*cupel.ContextItem {
	t.Helper()
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, cupel.KindSystemPrompt, "Note"}
	var all []*cupel.ContextItem
	for i := range 60 {
		opts := []cupel.ItemOption{
			cupel.WithKind(kinds[i%len(kinds)]),
			cupel.WithPriority(i * 7 % 11),
			cupel.WithTimestamp(noon.Add(-time.Duration(i*i) * time.Minute)),
			cupel.WithFutureRelevanceHint(float64(i*13%29) / 29),
			cupel.WithTags(fmt.Sprint("tag", i%5), fmt.Sprint("TAG", i%3)),
			cupel.WithMetadata(map[string]any{cupel.MetadataTrust: fmt.Sprintf("0.%d", i%10), cupel.MetadataPriority: []string{"low", "high"}[i%2]}),
		}
		if i%17 == 3 {
			opts = append(opts, cupel.WithPinned())
		}
		item, err := cupel.NewContextItem(fmt.Sprint("item ", i%50), 20+i*37%90, opts...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}

// report runs a pipeline on the items, and returns the report as JSON, without
// what depends on the time that it took.
func report(t testing.TB, pipeline *cupel.Pipeline, all []*cupel.ContextItem) string {
	t.Helper()
	budget, err := cupel.NewContextBudget(1500, 1200)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pipeline.DryRun(t.Context(), all, budget)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Events {
		got.Events[i].DurationMS = 0
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Custom strategies, as factories build them.

// longest scores an item by its length, up to Max.
type longest struct {
	Max int `json:"max"`
}

func (l longest) Score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	return float64(min(len(item.Content()), l.Max)) / float64(l.Max)
}

func newLongest(args policy.Args[cupel.Scorer]) (cupel.Scorer, error) {
	l, err := policy.DecodeSettings[longest](args.Settings)
	if err != nil {
		return nil, err
	}
	if l.Max <= 0 {
		return nil, policy.Invalid(policy.Problem{Path: "max", Reason: fmt.Sprintf("must be positive, got %d", l.Max)})
	}
	return l, nil
}

// halved halves the scores of another scorer.
type halved struct{ inner cupel.Scorer }

func (h halved) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return h.inner.Score(item, all) / 2
}

func (h halved) Scorers() []cupel.Scorer { return []cupel.Scorer{h.inner} }

func newHalved(args policy.Args[cupel.Scorer]) (cupel.Scorer, error) {
	if len(args.Children) != 1 {
		return nil, fmt.Errorf("needs one child, got %d", len(args.Children))
	}
	return halved{args.Children[0]}, nil
}

// firstOf selects with the first of several slicers that selects something.
type firstOf struct{ inner []cupel.Slicer }

func (f firstOf) Slicers() []cupel.Slicer { return f.inner }

func (f firstOf) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	for _, s := range f.inner {
		if sel, err := cupel.Slice(ctx, s, items, budget); err != nil || len(sel.Indices) > 0 {
			return sel, err
		}
	}
	return cupel.Selection{}, nil
}

func newFirstOf(args policy.Args[cupel.Slicer]) (cupel.Slicer, error) {
	return firstOf{args.Children}, nil
}

// backwards reverses the order of another placer.
type backwards struct{ inner cupel.Placer }

func (b backwards) Place(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
	order, err := cupel.Place(ctx, b.inner, items)
	slices.Reverse(order)
	return order, err
}

func newBackwards(args policy.Args[cupel.Placer]) (cupel.Placer, error) {
	if len(args.Children) != 1 {
		return nil, fmt.Errorf("needs one child, got %d", len(args.Children))
	}
	return backwards{args.Children[0]}, nil
}

// customRegistry knows the strategies above.
func customRegistry(t testing.TB) *policy.Registry {
	t.Helper()
	r := policy.NewRegistry()
	if err := errors.Join(
		r.RegisterScorer("longest", newLongest),
		r.RegisterScorer("halved", newHalved),
		r.RegisterSlicer("firstOf", newFirstOf),
		r.RegisterPlacer("backwards", newBackwards),
	); err != nil {
		t.Fatal(err)
	}
	return r
}

type settings = policy.Settings

// of returns a strategy of a type with its settings.
func of(name string, s ...settings) policy.Strategy {
	if len(s) == 0 {
		return policy.Strategy{Type: name}
	}
	return policy.Strategy{Type: name, Settings: s[0]}
}
