package cupelsession

import (
	"context"
	"errors"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// Chooser chooses a window. A [pipeline.Pipeline] is one, and so is the preset of
// package cupelchat/agent. The window is read from the report's candidates and
// forms.
type Chooser = cupelchat.Chooser

// choosing runs the chooser of a turn.
type choosing struct {
	chooser Chooser
	budget  cupel.ContextBudget
	trace   observe.TraceCollector
}

// choice is the chooser's answer.
type choice struct {
	*cupel.SelectionReport
	from []int // the candidate at each position of the chooser's input, or -1
}

var errNoPositions = errors.New("cupelsession: the report of the chooser does not say which candidates are in the window; use the report that the run returned")

// run chooses from items for a number of tokens.
func (c *choosing) run(ctx context.Context, items []*cupel.ContextItem, from []int, tokens int) (*choice, error) {
	_, report, err := c.chooser.RunReport(ctx, items, c.sized(tokens), pipeline.WithTrace(c.trace))
	if err != nil {
		return nil, err
	}
	for n := range report.Included {
		if c := report.Included[n].Candidate; c < 0 || c >= len(from) {
			return nil, errNoPositions
		}
	}
	return &choice{report, from}, nil
}

// sized returns the budget of a turn with another target.
func (c *choosing) sized(tokens int) cupel.ContextBudget {
	budget, _ := c.budget.Resize(c.budget.MaxTokens(), max(0, min(c.budget.MaxTokens(), tokens))) // it is valid
	return budget
}

// remember makes a preset analyze the texts of a break only once.
func (c *choosing) remember() {
	if preset, ok := c.chooser.(*agent.Preset); ok {
		c.chooser = preset.Remember()
	}
}

// candidate returns the candidate that the chooser was given at a position, or -1.
func (c *choice) candidate(at int) int {
	if at < 0 || at >= len(c.from) {
		return -1
	}
	return c.from[at]
}

// outcome is what a choice did with an item.
type outcome struct {
	score  float64
	reason cupel.ExclusionReason
	stale  bool
}

// outcomes returns what a choice did with the items, by the keys of all
// candidates.
func (c *choice) outcomes(keys []string) map[string]outcome {
	said := make(map[string]outcome, len(keys))
	say := func(at int, o outcome) {
		if i := c.candidate(at); i >= 0 {
			said[keys[i]] = o
		}
	}
	for _, e := range c.Excluded {
		say(e.Candidate, outcome{e.Score, e.Reason, e.Stale})
	}
	for _, e := range c.Included {
		say(e.Candidate, outcome{score: e.Score, stale: e.Stale})
	}
	return said
}
