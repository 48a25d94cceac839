package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
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

// counting counts its passes, and prefers what others do not if it is backwards.
type counting struct {
	scorer.Reflexive
	passes    *int
	backwards bool
}

func (c counting) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	*c.passes++
	err := c.Reflexive.Score(ctx, all, scores)
	for i := range scores {
		if c.backwards {
			scores[i] = 1 - scores[i]
		}
	}
	return err
}

func withScorer(s strategy.Scorer) func(*pipeline.Config) {
	return func(c *pipeline.Config) { c.Scorer = s }
}

func TestPolicySensitivityOfPipelines(t *testing.T) {
	best, worst := withScorer(counting{passes: new(int)}), withScorer(counting{passes: new(int), backwards: true})
	low, middle, high := scored("low", 10, 0.1), scored("middle", 10, 0.5), scored("high", 10, 0.9)
	for _, tt := range []struct {
		items  []*cupel.ContextItem
		tokens int
		keep   bool // keep duplicates
		want   string
		why    string
	}{
		{[]*cupel.ContextItem{low, middle, high}, 20, false, "low: b Excluded  Included a Excluded\nhigh: b Included  Excluded a Included\n",
			"all agree on the middle; the rest is in order of the candidates, and statuses in the order of variants, regardless of their labels (R42)"},
		{[]*cupel.ContextItem{low, high}, 20, false, "", "everything is in everywhere"},
		{[]*cupel.ContextItem{scored("x", 10, 0.1), scored("y", 10, 0.5), scored("x", 10, 0.9)}, 10, true, "", "some x is in everywhere, and y never (R42)"},
		{[]*cupel.ContextItem{scored("x", 10, 0.5), scored("y", 10, 0.1), scored("x", 10, 0.9)}, 10, false, "x: b Included  Excluded a Included\ny: b Excluded  Included a Excluded\n",
			"one x is left out as a duplicate, which does not make x left out (R42)"},
		{nil, 1, false, "", "nothing to disagree on"},
	} {
		keep := func(c *pipeline.Config) { c.KeepDuplicates = tt.keep }
		variants := []analysis.PipelineVariant{
			{"b", newPipeline(slicer.Greedy{}, best, keep)}, {"", newPipeline(slicer.Greedy{}, worst, keep)}, {"a", newPipeline(slicer.ScoreGreedy{}, best, keep)},
		}
		got, err := analysis.PolicySensitivityOfPipelines(t.Context(), tt.items, budget(tt.tokens, tt.tokens), variants...)
		if err != nil || diffsOf(got) != tt.want {
			t.Fatalf("got\n%s, %v, want\n%s%s", diffsOf(got), err, tt.want, tt.why)
		}
		for i, v := range variants {
			want := must(v.Pipeline.DryRun(t.Context(), tt.items, budget(tt.tokens, tt.tokens)))
			if got.Variants[i].Label != v.Label || !sameReport(got.Variants[i].Report, want) {
				t.Errorf("variant %d is %+v, want the dry run of %q", i, got.Variants[i], v.Label)
			}
		}
		text := string(must(json.Marshal(got)))
		if !strings.HasPrefix(text, `{"variants":[{"label":"b","report":{"events":`) || tt.want == "" && !strings.HasSuffix(text, `,"diffs":[]}`) ||
			tt.keep == false && tt.want != "" && !strings.Contains(text, `"statuses":[{"label":"b","status":"Excluded"},{"label":"","status":"Included"}`) {
			t.Errorf("as JSON: %s; an empty list is not null", text)
		}
	}
}

// sameReport compares reports but for the times of events.
func sameReport(a, b *cupel.SelectionReport) bool {
	for _, r := range []*cupel.SelectionReport{a, b} {
		for i := range r.Events {
			r.Events[i].DurationMS = 0
		}
	}
	return reflect.DeepEqual(a, b)
}

func TestPolicySensitivityFails(t *testing.T) {
	const tooFew = "cupel: At least two variants are required for a sensitivity comparison."
	ok, broken := newPipeline(slicer.Greedy{}), newPipeline(sliceFunc(failing))
	for _, tt := range []struct {
		pipelines []analysis.PipelineVariant
		want      string
		why       string
	}{
		{nil, tooFew, "nothing to compare"},
		{[]analysis.PipelineVariant{{"a", ok}}, tooFew, "one variant cannot disagree"},
		{[]analysis.PipelineVariant{{"a", ok}, {"b", nil}, {"a", ok}}, `cupel: labels of variants must be unique, got "a" twice`, "statuses are known by their label (R42); nothing is run before"},
		{[]analysis.PipelineVariant{{"a", ok}, {"b", nil}}, `cupel: variant "b": the pipeline is empty: build it with New (Pipeline)`, "the variant is named"},
		{[]analysis.PipelineVariant{{"a", ok}, {"b", broken}}, `cupel: variant "b": slicer strategy.SlicerFunc failed: broken`, "the variant is named"},
	} {
		got, err := analysis.PolicySensitivityOfPipelines(t.Context(), nil, budget(1, 1), tt.pipelines...)
		wantError(t, err, tt.want, tt.why)
		if got != nil {
			t.Errorf("got %+v with the error", got)
		}
	}
}

// TestScorersScoreOnce counts the passes of a scorer over everything that looks at
// many budgets.
func TestScorersScoreOnce(t *testing.T) {
	items := []*cupel.ContextItem{scored("a", 5, 0.5), scored("b", 5, 0.4)}
	passes := 0
	p := newPipeline(custom{slicer.Greedy{}}, withScorer(counting{passes: &passes}))
	for name, run := range map[string]func() error{
		"GetMarginalItems": func() error {
			return second(analysis.GetMarginalItems(t.Context(), p, items, budget(10, 10), 5))
		},
		"FindMinBudgetFor": func() error {
			_, _, err := analysis.FindMinBudgetFor(t.Context(), p, items, items[0], 1000)
			return err
		},
		"FindMinBudgetForExhaustive": func() error {
			_, _, err := analysis.FindMinBudgetForExhaustive(t.Context(), p, items, items[0], 1000)
			return err
		},
	} {
		passes = 0
		if err := run(); err != nil || passes != 1 {
			t.Errorf("%s: %d passes, %v; want one", name, passes, err)
		}
	}
}

// TestPolicies compares policies with the pipelines that they describe.
func TestPolicies(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	env := policy.Environment{Clock: func() time.Time { return now }}
	items := []*cupel.ContextItem{scored("old but dear", 10, 0.9, cupel.WithTimestamp(now.Add(-24*time.Hour))), scored("new", 10, 0.1, cupel.WithTimestamp(now))}
	chat, rag := analysis.PolicyVariant{Label: "chat", Policy: policy.Chat()}, analysis.PolicyVariant{Label: "rag", Policy: policy.RAG()}
	got := must(analysis.PolicySensitivity(t.Context(), items, budget(10, 10), env, chat, rag))
	if want := "old but dear: chat Excluded rag Included\nnew: chat Included rag Excluded\n"; diffsOf(got) != want {
		t.Errorf("got\n%swant\n%s", diffsOf(got), want)
	}
	if report := must(analysis.DryRunWithPolicy(t.Context(), items, budget(10, 10), rag.Policy, env)); !sameReport(report, got.Variants[1].Report) {
		t.Errorf("a policy gave\n%+v\nin a comparison\n%+v", report, got.Variants[1].Report)
	}
	report, err := analysis.DryRunWithPolicy(t.Context(), []*cupel.ContextItem{item("p", 20, cupel.WithPinned())}, budget(10, 10), policy.Chat(), env)
	if !errors.Is(err, pipeline.ErrPinnedExceedsBudget) || report == nil || report.TotalCandidates != 1 {
		t.Errorf("got %+v, %v; want the partial report with the error (R35)", report, err)
	}

	var variant *analysis.VariantError
	var invalid *policy.ValidationError
	_, err = analysis.PolicySensitivity(t.Context(), nil, budget(1, 1), env, chat, analysis.PolicyVariant{Label: "b"})
	if !errors.As(err, &variant) || variant.Label != "b" || !errors.As(err, &invalid) {
		t.Errorf("got error %v, want one that names variant b, and a ValidationError inside", err)
	}
	if _, err := analysis.DryRunWithPolicy(t.Context(), nil, budget(1, 1), policy.Policy{}, env); !errors.As(err, &invalid) {
		t.Errorf("got error %v, want a ValidationError", err)
	}
}
