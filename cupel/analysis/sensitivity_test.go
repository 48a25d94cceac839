package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// diffsOf writes diffs as "content: label status, …", one a line.
func diffsOf(r *analysis.PolicySensitivityReport) string {
	var b strings.Builder
	for _, d := range r.Diffs {
		b.WriteString(d.Content + ":")
		for _, s := range d.Statuses {
			b.WriteString(" " + s.Label + " " + string(s.Status))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// backwards prefers what others do not.
type backwards struct{ scorer.Reflexive }

func (b backwards) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	err := b.Reflexive.ScoreAll(ctx, all, scores)
	for i := range scores {
		scores[i] = 1 - scores[i]
	}
	return err
}

func withScorer(s cupel.Scorer) func(*cupel.Config) { return func(c *cupel.Config) { c.Scorer = s } }
func keepDuplicates(c *cupel.Config)                { c.KeepDuplicates = true }

func TestPolicySensitivityOfPipelines(t *testing.T) {
	best, worst := pipeline(slicer.Greedy{}), pipeline(slicer.Greedy{}, withScorer(backwards{}))
	bestOfAll, worstOfAll := pipeline(slicer.Greedy{}, keepDuplicates), pipeline(slicer.Greedy{}, withScorer(backwards{}), keepDuplicates)
	everything := pipeline(slicer.Greedy{}, overflow(cupel.OverflowProceed))
	low, middle, high := scored("low", 10, 0.1), scored("middle", 10, 0.5), scored("high", 10, 0.9)
	variant := func(label string, p *cupel.Pipeline) analysis.PipelineVariant {
		return analysis.PipelineVariant{Label: label, Pipeline: p}
	}
	tests := []struct {
		name     string
		items    []*cupel.ContextItem
		budget   cupel.ContextBudget
		variants []analysis.PipelineVariant
		want     []string
		why      string
	}{
		{
			name: "swinging", items: []*cupel.ContextItem{low, middle, high}, budget: budget(20, 20), variants: []analysis.PipelineVariant{variant("best", best), variant("worst", worst)},
			want: []string{"low: best Excluded worst Included", "high: best Included worst Excluded"},
			why:  "all agree on the middle; the rest is in order of the candidates",
		},
		{
			name: "order of candidates", items: []*cupel.ContextItem{high, low, middle}, budget: budget(20, 20), variants: []analysis.PipelineVariant{variant("b", worst), variant("a", best)},
			want: []string{"high: b Excluded a Included", "low: b Included a Excluded"}, why: "statuses are in the order of the variants, regardless of their labels (R42)",
		},
		{name: "agreed", items: []*cupel.ContextItem{low, high}, budget: budget(20, 20), variants: []analysis.PipelineVariant{variant("best", best), variant("worst", worst), variant("more", everything)}, why: "everything is in everywhere"},
		{name: "agreed on nothing", items: []*cupel.ContextItem{low, high}, budget: budget(9, 9), variants: []analysis.PipelineVariant{variant("best", best), variant("worst", worst)}, why: "everything is out everywhere"},
		{name: "one pipeline twice", items: []*cupel.ContextItem{low, high}, budget: budget(10, 10), variants: []analysis.PipelineVariant{variant("a", best), variant("b", best)}, why: "it agrees with itself"},
		{
			name: "three", items: []*cupel.ContextItem{low, high}, budget: budget(10, 10), variants: []analysis.PipelineVariant{variant("1", best), variant("", worst), variant("3", best)},
			want: []string{"low: 1 Excluded  Included 3 Excluded", "high: 1 Included  Excluded 3 Included"}, why: "two of three disagree; an empty label is a label",
		},
		{
			name: "equal contents", budget: budget(10, 10), variants: []analysis.PipelineVariant{variant("best", bestOfAll), variant("worst", worstOfAll)},
			items: []*cupel.ContextItem{scored("x", 10, 0.1), scored("y", 10, 0.5), scored("x", 10, 0.9)},
			why:   "some x is in both ways, and y never (R42)",
		},
		{
			name: "one of the copies", budget: budget(10, 10), variants: []analysis.PipelineVariant{variant("best", best), variant("worst", worst)},
			items: []*cupel.ContextItem{scored("x", 10, 0.5), scored("y", 10, 0.1), scored("x", 10, 0.9)},
			want:  []string{"x: best Included worst Excluded", "y: best Excluded worst Included"},
			why:   "one x is left out as a duplicate, which does not make x left out (R42)",
		},
		{name: "no items", budget: budget(1, 1), variants: []analysis.PipelineVariant{variant("best", best), variant("worst", worst)}, why: "nothing to disagree on"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := analysis.PolicySensitivityOfPipelines(t.Context(), tt.items, tt.budget, tt.variants...)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Join(append(tt.want, ""), "\n"); diffsOf(got) != want {
				t.Errorf("got\n%swant\n%s%s", diffsOf(got), want, tt.why)
			}
			for i, v := range tt.variants {
				want := must(v.Pipeline.DryRun(t.Context(), tt.items, tt.budget))
				clearTimes(want)
				clearTimes(got.Variants[i].Report)
				if got.Variants[i].Label != v.Label || !reflect.DeepEqual(got.Variants[i].Report, want) {
					t.Errorf("variant %d is %+v, want the dry run of %q", i, got.Variants[i], v.Label)
				}
			}
		})
	}
}

// clearTimes removes what a dry run cannot repeat.
func clearTimes(r *cupel.SelectionReport) {
	for i := range r.Events {
		r.Events[i].DurationMS = 0
	}
}

func TestPolicySensitivityFails(t *testing.T) {
	const tooFew = "cupel: At least two variants are required for a sensitivity comparison."
	ok, broken := pipeline(slicer.Greedy{}), pipeline(sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, errBroken
	}))
	chat, unfinished := policy.Chat(), policy.Policy{Placer: policy.Strategy{Type: "chronological"}, Slicer: policy.Strategy{Type: "greedy"}}
	tests := []struct {
		name      string
		pipelines []analysis.PipelineVariant
		policies  []analysis.PolicyVariant
		is        error
		want      string
		why       string
	}{
		{"none", nil, nil, analysis.ErrInvalidArgument, tooFew, "nothing to compare"},
		{"one", []analysis.PipelineVariant{{"a", ok}}, []analysis.PolicyVariant{{"a", chat}}, analysis.ErrInvalidArgument, tooFew, "one variant cannot disagree"},
		{
			"a label twice", []analysis.PipelineVariant{{"a", ok}, {"b", nil}, {"a", ok}}, []analysis.PolicyVariant{{"a", chat}, {"b", unfinished}, {"a", chat}}, analysis.ErrInvalidArgument,
			`cupel: labels of variants must be unique: variants[0] and variants[2] are both "a"`, "statuses are known by their label (R42); nothing is run before",
		},
		{"no pipeline", []analysis.PipelineVariant{{"a", ok}, {"b", nil}}, nil, cupel.ErrInvalidConfig, `cupel: variant "b": the pipeline is empty: build it with New (Pipeline)`, "the variant is named"},
		{"no first pipeline", []analysis.PipelineVariant{{"a", nil}, {"b", ok}}, nil, cupel.ErrInvalidConfig, `cupel: variant "a": the pipeline is empty: build it with New (Pipeline)`, "the variant is named"},
		{"a variant fails", []analysis.PipelineVariant{{"a", ok}, {"b", broken}}, nil, errBroken, `cupel: variant "b": slicer analysis_test.sliceFunc failed: broken`, "the variant is named"},
	}
	var variant *analysis.VariantError
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := analysis.PolicySensitivityOfPipelines(t.Context(), nil, budget(1, 1), tt.pipelines...)
			wantError(t, err, tt.is, tt.want, tt.why)
			if got != nil {
				t.Errorf("got %+v with the error", got)
			}
			if !errors.Is(err, analysis.ErrInvalidArgument) && !errors.As(err, &variant) {
				t.Errorf("got %T, want a VariantError", err)
			}
			if len(tt.pipelines) > 0 && tt.policies == nil {
				return
			}
			got, err = analysis.PolicySensitivity(t.Context(), nil, budget(1, 1), policy.Environment{}, tt.policies...)
			wantError(t, err, tt.is, tt.want, "policies: "+tt.why)
			if got != nil {
				t.Errorf("got %+v with the error", got)
			}
		})
	}
	_, err := analysis.PolicySensitivity(t.Context(), nil, budget(1, 1), policy.Environment{}, analysis.PolicyVariant{Label: "a", Policy: chat}, analysis.PolicyVariant{Label: "b", Policy: unfinished})
	if !errors.Is(err, cupel.ErrInvalidConfig) || !errors.As(err, &variant) || variant.Label != "b" {
		t.Errorf("got error %v, want one that names variant b", err)
	}
	var invalid *policy.ValidationError
	if !errors.As(err, &invalid) {
		t.Errorf("got error %v, want a ValidationError inside", err)
	}
	if _, err := analysis.DryRunWithPolicy(t.Context(), nil, budget(1, 1), unfinished, policy.Environment{}); !errors.As(err, &invalid) {
		t.Errorf("got error %v, want a ValidationError", err)
	}
}

// TestScorersScoreOnce counts the passes of scorers over everything that looks
// at many budgets or pipelines.
func TestScorersScoreOnce(t *testing.T) {
	items := []*cupel.ContextItem{scored("a", 5, 0.5), scored("b", 5, 0.4), scored("b", 5, 0.6)}
	passes, others := 0, 0
	s := withScorer(counting{passes: &passes})
	greedy, knapsack, other := pipeline(slicer.Greedy{}, s), pipeline(slicer.Knapsack{}, s, keepDuplicates), pipeline(slicer.Greedy{}, withScorer(counting{passes: &others}))
	silent := pipeline(custom{slicer.Greedy{}}, s)
	run := map[string]func(ctx context.Context) error{
		"GetMarginalItems": func(ctx context.Context) error {
			_, err := analysis.GetMarginalItems(ctx, greedy, items, budget(10, 10), 5)
			return err
		},
		"FindMinBudgetFor": func(ctx context.Context) error {
			_, _, err := analysis.FindMinBudgetFor(ctx, greedy, items, items[0], 1000)
			return err
		},
		"FindMinBudgetForExhaustive": func(ctx context.Context) error {
			_, _, err := analysis.FindMinBudgetForExhaustive(ctx, silent, items, items[1], 1000)
			return err
		},
		"Sweep": func(ctx context.Context) error {
			_, err := analysis.Sweep(ctx, silent, items, analysis.BudgetRange{To: 100})
			return err
		},
		"PolicySensitivityOfPipelines": func(ctx context.Context) error {
			_, err := analysis.PolicySensitivityOfPipelines(ctx, items, budget(10, 10), analysis.PipelineVariant{Label: "a", Pipeline: greedy},
				analysis.PipelineVariant{Label: "b", Pipeline: other}, analysis.PipelineVariant{Label: "c", Pipeline: knapsack}, analysis.PipelineVariant{Label: "d", Pipeline: other})
			return err
		},
	}
	for name, run := range run {
		t.Run(name, func(t *testing.T) {
			passes, others = 0, 0
			if err := run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if passes != 1 || others > 1 {
				t.Errorf("the scorers made %d and %d passes, want one each", passes, others)
			}
		})
	}
}

// TestPolicies compares policies with the pipelines that they describe.
func TestPolicies(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	readings := 0
	env := policy.Environment{Clock: func() time.Time { readings++; return now }}
	decay := policy.Policy{Scorers: []policy.Weighted{{Scorer: policy.Strategy{Type: "decay", Settings: policy.Settings{"curve": policy.Strategy{Type: "exponential", Settings: policy.Settings{"halfLife": time.Hour}}}}, Weight: 1}}, Slicer: policy.Strategy{Type: "greedy"}, Placer: policy.Strategy{Type: "chronological"}}
	decayed := decay
	decayed.Placer = policy.Strategy{Type: "uShaped"}
	decayed.Scorers = []policy.Weighted{decay.Scorers[0]}
	items := []*cupel.ContextItem{
		scored("old but dear", 10, 0.9, cupel.WithTimestamp(now.Add(-24*time.Hour))),
		scored("new", 10, 0.1, cupel.WithTimestamp(now)),
	}
	variants := []analysis.PolicyVariant{{Label: "decay", Policy: decay}, {Label: "again", Policy: decayed}, {Label: "rag", Policy: policy.Rag()}}
	got, err := analysis.PolicySensitivity(t.Context(), items, budget(10, 10), env, variants...)
	if err != nil {
		t.Fatal(err)
	}
	if readings != 1 {
		t.Errorf("the clock was read %d times: two policies have equal scorers, which are one scorer and one pass", readings)
	}
	const want = "old but dear: decay Excluded again Excluded rag Included\nnew: decay Included again Included rag Excluded\n"
	if diffsOf(got) != want {
		t.Errorf("got\n%swant\n%s", diffsOf(got), want)
	}
	for i, v := range variants {
		report, err := analysis.DryRunWithPolicy(t.Context(), items, budget(10, 10), v.Policy, env)
		if err != nil {
			t.Fatal(err)
		}
		plain := must(must(v.Policy.Pipeline(env)).DryRun(t.Context(), items, budget(10, 10)))
		clearTimes(report)
		clearTimes(plain)
		clearTimes(got.Variants[i].Report)
		if !reflect.DeepEqual(report, plain) || !reflect.DeepEqual(report, got.Variants[i].Report) {
			t.Errorf("%s: a policy gave\n%+v\nin a comparison\n%+v\nits pipeline\n%+v", v.Label, report, got.Variants[i].Report, plain)
		}
	}

	pinned := []*cupel.ContextItem{item("p", 20, cupel.WithPinned())}
	report, err := analysis.DryRunWithPolicy(t.Context(), pinned, budget(10, 10), policy.Chat(), env)
	if !errors.Is(err, cupel.ErrPinnedExceedsBudget) || report == nil || report.TotalCandidates != 1 {
		t.Errorf("got %+v, %v; want the partial report with the error (R35)", report, err)
	}
}

func TestPolicySensitivityJSON(t *testing.T) {
	p := pipeline(slicer.Greedy{}, func(c *cupel.Config) { c.Clock = func() time.Time { return time.Time{} } })
	none := pipeline(sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, nil
	}), func(c *cupel.Config) { c.Clock = func() time.Time { return time.Time{} } })
	variants := []analysis.PipelineVariant{{Label: "all", Pipeline: p}, {Label: "none", Pipeline: none}}
	report := must(analysis.PolicySensitivityOfPipelines(t.Context(), []*cupel.ContextItem{scored("a", 1, 0.5)}, budget(1, 1), variants...))
	text, err := json.Marshal(report.Diffs)
	if want := `[{"content":"a","statuses":[{"label":"all","status":"Included"},{"label":"none","status":"Excluded"}]}]`; err != nil || string(text) != want {
		t.Errorf("got %s, %v; want %s", text, err, want)
	}
	text, err = json.Marshal(report)
	first := `{"variants":[{"label":"all","report":{"events":[{"stage":"Classify","duration_ms":0,"item_count":1},`
	if err != nil || !strings.HasPrefix(string(text), first) {
		t.Errorf("got %s, %v; want it to begin with %s", text, err, first)
	}
	agreed := must(analysis.PolicySensitivityOfPipelines(t.Context(), nil, budget(1, 1), variants...))
	if text, err := json.Marshal(agreed); err != nil || !strings.HasSuffix(string(text), `"diffs":[]}`) {
		t.Errorf("got %s, %v; want an empty list of diffs and not null", text, err)
	}
}

// TestInManyGoroutines is for the race detector.
func TestInManyGoroutines(t *testing.T) {
	items := []*cupel.ContextItem{scored("a", 5, 0.5), scored("b", 4, 0.4), item("p", 1, cupel.WithPinned())}
	p, q := pipeline(slicer.Greedy{}), pipeline(must(slicer.NewKnapsack(slicer.WithBucketSize(1))))
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 20 {
				if got, found, err := analysis.FindMinBudgetFor(t.Context(), p, items, items[0], 50); got != 6 || !found || err != nil {
					t.Errorf("got %d, %v, %v", got, found, err)
				}
				if got, err := analysis.Sweep(t.Context(), p, items, analysis.BudgetRange{To: 12}); err != nil || len(got.Steps) != 5 {
					t.Errorf("got %+v, %v", got, err)
				}
				if _, err := analysis.PolicySensitivityOfPipelines(t.Context(), items, budget(6, 6),
					analysis.PipelineVariant{Label: "p", Pipeline: p}, analysis.PipelineVariant{Label: "q", Pipeline: q}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
}
