package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Engine is this project's implementation: the pipeline of package cupel with
// its strategies.
type Engine struct {
	types map[string][]strategy.Descriptor // by role, in place of this project's own; nil: these
}

var _ Implementation = Engine{}

// Score implements [Implementation].
func (e Engine) Score(ctx context.Context, spec ScorerSpec, items []*cupel.ContextItem) ([]float64, error) {
	s, err := e.scorer(spec)
	if err != nil {
		return nil, err
	}
	if err := strategy.ValidateScorer(s); err != nil {
		return nil, err
	}
	scores := make([]float64, len(items))
	if err := strategy.CallScorer(ctx, s, items, scores); err != nil {
		return nil, err
	}
	return scores, nil
}

// Slice implements [Implementation].
func (e Engine) Slice(ctx context.Context, spec SlicerSpec, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	s, err := e.slicer(spec)
	if err != nil {
		return strategy.Selection{}, err
	}
	return strategy.CallSlicer(ctx, s, items, budget)
}

// Place implements [Implementation].
func (e Engine) Place(ctx context.Context, name string, items []cupel.ScoredItem) ([]int, error) {
	return strategy.CallPlacer(ctx, e.placer(name), items)
}

// Run implements [Implementation]. It runs the pipeline with and without a
// collector and as a dry run, and fails if the windows differ.
func (e Engine) Run(ctx context.Context, spec PipelineSpec, items []*cupel.ContextItem, budget cupel.ContextBudget) (Outcome, error) {
	config := pipeline.Config{Placer: e.placer(spec.Placer), KeepDuplicates: spec.KeepDuplicates, Overflow: spec.Overflow,
		NearDuplicates: spec.NearDuplicates}
	var err error
	if spec.Scorer != nil {
		if config.Scorer, err = e.scorer(*spec.Scorer); err != nil {
			return Outcome{}, err
		}
	}
	if spec.Slicer != nil {
		if config.Slicer, err = e.slicer(*spec.Slicer); err != nil {
			return Outcome{}, err
		}
	}
	p, err := pipeline.New(config)
	if err != nil {
		return Outcome{}, err
	}
	report, err := p.DryRun(ctx, items, budget)
	window, runErr := p.Run(ctx, items, budget)
	if errorText(err) != errorText(runErr) {
		return Outcome{}, fmt.Errorf("conformance: a dry run gives error %q, a run %q", errorText(err), errorText(runErr))
	}
	if err != nil {
		return Outcome{Report: report}, err
	}
	collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
	observed, err := p.Run(ctx, items, budget, pipeline.WithTrace(collector))
	if err != nil {
		return Outcome{}, fmt.Errorf("conformance: a run with a collector fails, a run without succeeds: %w", err)
	}
	if windowText(observed) != windowText(window) {
		return Outcome{}, fmt.Errorf("conformance: a run with a collector gives [%s], a run without [%s]", windowText(observed), windowText(window))
	}
	outcome := Outcome{Window: window, Report: report}
	if spec.NearDuplicates > 0 || slices.ContainsFunc(items, hasUnits) {
		for _, in := range report.Included {
			outcome.Included = append(outcome.Included, Decision{in.Candidate, in.Form, in.Stale})
		}
		for _, out := range report.Excluded {
			outcome.Excluded = append(outcome.Excluded, Decision{Candidate: out.Candidate, Stale: out.Stale})
		}
	}
	return outcome, nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func windowText(window []*cupel.ContextItem) string {
	var b strings.Builder
	for _, item := range window {
		fmt.Fprintf(&b, "%q %d ", item.Content(), item.Tokens()) // a smaller form is made in each run
	}
	return b.String()
}
