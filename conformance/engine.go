package conformance

import (
	"context"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Implementation is an implementation of the specification to run vectors
// against. Each method builds what it needs of a pipeline and runs it once.
// Errors must match the sentinels of package cupel, such as
// [cupel.ErrInvalidConfig], by which vectors identify error classes.
//
// [Engine] is the implementation of this project.
type Implementation interface {
	// Score returns the score of every item, by position.
	Score(ctx context.Context, p Pipeline, items []*cupel.ContextItem) ([]float64, error)
	// Slice selects from scored items, in the order given.
	Slice(ctx context.Context, p Pipeline, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error)
	// Place returns the positions of items in prompt order.
	Place(ctx context.Context, p Pipeline, items []cupel.ScoredItem) ([]int, error)
	// Run runs the whole pipeline. If the run fails, the outcome may still hold
	// a report.
	Run(ctx context.Context, p Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) (Outcome, error)
}

// Pipeline describes a pipeline as plain data. A vector of a single strategy has
// simple ones in place of the others. A zero strategy, or an empty list of
// scorers, means that the vector names none, which is a configuration error.
type Pipeline struct {
	policy.Policy
	Now *time.Time // the time of the clock of decay scorers; nil for none
}

// Outcome is the result of a pipeline.
type Outcome struct {
	Window []*cupel.ContextItem // in prompt order
	Report *cupel.SelectionReport
}

// Engine is this project's implementation: the pipeline of package cupel with
// its strategies.
type Engine struct{}

var _ Implementation = Engine{}

func (p Pipeline) environment() (env policy.Environment) {
	if p.Now != nil {
		env.Clock = func() time.Time { return *p.Now }
	}
	return env
}

// Score implements [Implementation].
func (Engine) Score(ctx context.Context, p Pipeline, items []*cupel.ContextItem) ([]float64, error) {
	config, err := p.Config(p.environment())
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(items))
	return scores, strategy.CallScorer(ctx, config.Scorer, items, scores)
}

// Slice implements [Implementation].
func (Engine) Slice(ctx context.Context, p Pipeline, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	config, err := p.Config(p.environment())
	if err != nil {
		return strategy.Selection{}, err
	}
	return strategy.CallSlicer(ctx, config.Slicer, items, budget)
}

// Place implements [Implementation].
func (Engine) Place(ctx context.Context, p Pipeline, items []cupel.ScoredItem) ([]int, error) {
	config, err := p.Config(p.environment())
	if err != nil {
		return nil, err
	}
	order := make([]int, len(items))
	return order, strategy.CallPlacer(ctx, config.Placer, items, order)
}

// Run implements [Implementation].
func (Engine) Run(ctx context.Context, p Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) (Outcome, error) {
	pl, err := p.Pipeline(p.environment())
	if err != nil {
		return Outcome{}, err
	}
	window, report, err := pl.RunReport(ctx, items, budget)
	return Outcome{Window: window, Report: report}, err
}
