package agent

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelreduce"
)

// The settings were chosen on half of the conversations of two agents. Any
// share from .1 to .4 and any decay from .93 to .97 does nearly as well.
const (
	nearShare = 0.2  // of the room that pinned items leave, for the newest units
	decay     = 0.95 // from a unit to the next older one
	aboutTask = 8    // weight of the unit that is most about a task, relative to the newest unit
)

// Preset chooses windows for an agent. It is safe for concurrent use.
type Preset struct {
	counter  cupel.TokenCounter
	pipeline *pipeline.Pipeline
	task     strategy.Scorer // or nil
	memory   *memory         // or nil
}

// errNil is the error of a preset that is nil, or that New did not make.
var errNil = &cupel.InvalidConfigError{Component: "Preset", Reason: "make the preset with agent.New"}

// New returns the preset. The counter counts the tokens of outlines; use the
// same counter as for the items. nil means [cupel.HeuristicCounter].
func New(counter cupel.TokenCounter) *Preset {
	if counter == nil {
		counter = cupel.HeuristicCounter{}
	}
	pipeline, err := pipeline.New(pipeline.Config{
		Scorer:         worthScorer{},
		Slicer:         slicer.NewMultipleChoice(),
		Placer:         placer.Chronological{},
		KeepDuplicates: true,
	})
	if err != nil {
		panic(err) //nolint:forbidigo // the configuration is constant, and its parts are valid
	}
	return &Preset{counter: counter, pipeline: pipeline}
}

// Remember returns the preset with a memory. It analyzes the texts of a conversation
// once, and then chooses from the same items for another budget, with another pin, or
// without some of them, in a fraction of the time. It makes the same choices as the
// preset without memory. It holds the items that it chose from last with up to four
// analyses of each text, and its calls wait for each other, so give each conversation its
// own preset.
func (p *Preset) Remember() *Preset {
	if p == nil {
		return nil
	}
	remembering := *p
	remembering.memory = newMemory()
	return &remembering
}

// About returns the preset for a task that the items do not state, such as a question.
// The unit with the highest score weighs eight times as much as the newest one. The
// others weigh by the square of their share of that score, or by their age if that is
// more. nil means no task.
func (p *Preset) About(task strategy.Scorer) *Preset {
	if p == nil {
		return nil
	}
	about := *p
	about.task = task
	if p.memory != nil {
		about.memory = newMemory()
	}
	return &about
}

// Pipeline returns the pipeline for the items of [Preset.Prepare]. It scores
// an item by its metadata "worth". A nil preset returns nil.
func (p *Preset) Pipeline() *pipeline.Pipeline {
	if p == nil {
		return nil
	}
	return p.pipeline
}

// Prepare returns the items as the preset passes them to its pipeline for this
// budget: the units that stay whole are pinned, the others have outlines as
// their smaller forms and a worth in their metadata. Items and results have the
// same length and order. If all items fit the target, they are returned as they
// are.
//
// In a group whose members have no group variants, results become shorter and the
// other messages stay, since an API may not take a note in their place. An item whose
// metadata "fixed" reports images, thinking or the like keeps its own smaller forms,
// and so does one whose "role" is "reasoning".
//
// Prepare fails with a [cupel.StrategyError] if the counter fails, with the error of
// ctx, and with a [cupel.InvalidConfigError] if [New] did not make the preset. It
// takes time linear in the text, and O(n log n) for n items.
func (p *Preset) Prepare(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget) ([]*cupel.ContextItem, error) {
	var prepared []*cupel.ContextItem
	err := p.with(ctx, items, budget, func(ctx context.Context, c *choice) (err error) {
		if prepared = items; c.fits {
			return nil
		}
		if err := c.choose(ctx); err != nil {
			return err
		}
		prepared, err = c.derive()
		return err
	})
	if err != nil {
		return nil, err
	}
	return prepared, nil
}

// Sizes returns what windows of different sizes are worth, from the smallest to that of
// everything, in tokens beyond the pinned items. The worth is that of package cupelreduce
// times the weights of units, and each size adds less of it for a token than the one
// before. Sizes fails as [Preset.Prepare] does, and takes as long.
func (p *Preset) Sizes(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget) ([]cupelreduce.Size, error) {
	var sizes []cupelreduce.Size
	err := p.with(ctx, items, budget, func(ctx context.Context, c *choice) error {
		_, err := c.inOrder(ctx, 0)
		var at cupelreduce.Size
		for _, s := range c.order {
			at.Tokens += s.cost
			at.Worth += float64(s.rate * float64(max(1, s.cost)))
			sizes = append(sizes, at)
		}
		return cmp.Or(err, c.failed)
	})
	if err != nil {
		return nil, err
	}
	return sizes, nil
}

// with calls do with a choice from items.
func (p *Preset) with(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, do func(context.Context, *choice) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if p == nil || p.pipeline == nil {
		return errNil
	}
	c := newChoice(items, budget)
	c.memory = p.memory
	if c.memory == nil {
		c.memory = newMemory()
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.begin(p.counter, items)
	if p.task != nil && !c.fits {
		scores, err := c.relevance(ctx, p.task, items)
		if err != nil {
			return err
		}
		c.asked(scores)
	}
	return do(ctx, c)
}

// RunReport prepares the items for the budget and runs the pipeline. The window is in the order of the
// candidates. Window and report have the caller's own items if these are in full or left out. It implements
// the method of [pipeline.Pipeline] of the same name.
func (p *Preset) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	prepared, err := p.Prepare(ctx, items, budget)
	if err != nil {
		return nil, nil, err
	}
	_, report, err := p.pipeline.RunReport(ctx, prepared, budget, opts...)
	for i := range report.Included {
		e := &report.Included[i]
		switch item := items[e.Candidate]; {
		case e.Form > 0:
		case e.Item.Content() != item.Content():
			e.Form = 1
		default:
			e.Item = item
		}
	}
	slices.SortStableFunc(report.Included, func(a, b cupel.IncludedItem) int { return cmp.Compare(a.Candidate, b.Candidate) })
	for i := range report.Excluded {
		report.Excluded[i].Item = items[report.Excluded[i].Candidate]
	}
	if err != nil {
		return nil, report, err
	}
	window := report.Window()
	return window, report, nil
}

// worthScorer scores an item by the worth in its metadata.
type worthScorer struct{}

const worthKey = "worth"

func (worthScorer) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		worth, _ := item.MetadataValue(worthKey)
		value, _ := worth.(float64)
		scores[i] = value
	}
	return nil
}

// weight returns the share of its worth that counts for a unit. It is less for an
// older unit, unless the unit is about the task.
func (u *unit) weight() float64 { return max(math.Pow(decay, float64(u.newer)), u.about) }
