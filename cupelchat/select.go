package cupelchat

import (
	"context"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/internal/english"
)

// Chooser chooses a window. A [pipeline.Pipeline] is one. A chooser may pass on items
// of its own in place of those that it is given, with other scores, forms or pins,
// if their number and order stay: the report's candidates and forms say what is in
// the window.
type Chooser interface {
	RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error)
}

var _ Chooser = (*pipeline.Pipeline)(nil)

// Window is what was chosen of a conversation.
type Window struct {
	// Items are the window, in the order of the chooser.
	Items []*cupel.ContextItem
	// Report says why each item is in or out.
	Report *cupel.SelectionReport
	// Notes say what was reduced to fit, what was restored, dropped or joined
	// because the API requires it, and what the API would refuse in the result.
	Notes []string

	body []byte
	err  error
}

// Body returns the conversation with what was chosen, in its order and in the
// shape in which it was given: byte for byte the same if everything is in the
// window as it is. Otherwise messages that were chosen keep their bytes. Of a
// message in a smaller form only the text differs. A form of a whole exchange
// becomes a message of the model's that says it. It fails for formats that are
// only read, and for a report that does not say what is in the window.
func (w *Window) Body() ([]byte, error) { return w.body, w.err }

// Select chooses a window. If what is pinned does not fit, the first message of
// the user is reduced: the rest of the conversation has half of what is then left. If not everything fits, what comes
// before the latest compaction is no candidate, unless it is pinned. Notes say so,
// and the report has it as excluded, with the reason [Compacted].
// Select fails with an error of the chooser, and with a [cupel.InvalidConfigError]
// if that is nil.
func (c *Conversation) Select(ctx context.Context, chooser Chooser, budget cupel.ContextBudget) (*Window, error) {
	if c == nil {
		return nil, errNil
	}
	p, ok := chooser.(*pipeline.Pipeline)
	if chooser == nil || ok && p == nil {
		return nil, &cupel.InvalidConfigError{Component: "cupelchat.Select", Field: "chooser", Value: "nil", Reason: "a chooser is required, such as a *pipeline.Pipeline or agent.New(counter)"}
	}
	if ok && !p.Config().KeepDuplicates {
		config := p.Config()
		config.KeepDuplicates = true
		var err error
		if chooser, err = pipeline.New(config); err != nil {
			return nil, err
		}
	}
	n := &notesOf{}
	given, err := c.candidates(budget, n)
	if err != nil {
		return nil, err
	}
	w := &Window{}
	if w.Items, w.Report, err = chooser.RunReport(ctx, given.items, budget); err != nil {
		return nil, err
	}
	c.addCompacted(w.Report, given)
	states, err := c.states(w.Report, given)
	if w.err = err; err == nil {
		w.body, w.err = (&writer{Conversation: c, notesOf: n, states: states, room: room(budget, w.Items)}).finish()
	}
	w.Notes = n.notes()
	return w, nil
}

// Candidates returns the items that [Conversation.Select] has its chooser choose
// from within a budget, with notes about what differs from [Conversation.Items]: pins
// that do not fit are gone, a task may be reduced, and what comes before the latest
// compaction is not there if not everything fits. A pipeline that is given these
// items for this budget chooses what Select does.
func (c *Conversation) Candidates(budget cupel.ContextBudget) (items []*cupel.ContextItem, notes []string, err error) {
	if c == nil {
		return nil, nil, errNil
	}
	n := &notesOf{}
	given, err := c.candidates(budget, n)
	return given.items, n.notes(), err
}

func (c *Conversation) candidates(budget cupel.ContextBudget, n *notesOf) (candidates, error) {
	items, err := c.itemsFor(budget, n, true)
	if err != nil {
		return candidates{}, err
	}
	return c.sinceCompaction(items, budget, n), nil
}

// sinceCompaction returns what there is to choose from. If not everything fits,
// what the latest compaction stands for goes before anything else does, unless it
// is pinned.
func (c *Conversation) sinceCompaction(items []*cupel.ContextItem, budget cupel.ContextBudget, n *notesOf) candidates {
	latest, tokens := c.compaction(), 0
	for _, item := range items {
		tokens = add(tokens, item.Tokens())
	}
	older := latest != none && !c.noPins && tokens > limitOf(budget)
	given := candidates{}
	gone := 0
	for i, item := range items {
		needed := func(i int) bool { return i >= latest || c.items[i].Pinned() }
		if older && !slices.ContainsFunc(c.group(i), needed) {
			gone++
			continue
		}
		given.items, given.at = append(given.items, item), append(given.at, i)
	}
	if gone > 0 {
		n.note("left out %s before the latest compaction, which stands for them", english.Plural(gone, "item"))
	}
	return given
}

// Compacted is the code of the reason in a report for what comes before the latest
// compaction.
const Compacted cupel.ExclusionCode = "Compacted"

// addCompacted adds to a report what was no candidate.
func (c *Conversation) addCompacted(report *cupel.SelectionReport, given candidates) {
	if report == nil || len(given.at) == len(c.items) {
		return
	}
	next := 0
	for i, item := range c.items {
		if next < len(given.at) && given.at[next] == i {
			next++
			continue
		}
		report.Excluded = append(report.Excluded, cupel.ExcludedItem{Item: item, Reason: cupel.ExclusionReason{Code: Compacted}})
		report.TotalCandidates++
		report.TotalTokensConsidered = add(report.TotalTokensConsidered, item.Tokens())
	}
}

// room is how many tokens a slicer could still spend on a window.
func room(budget cupel.ContextBudget, window []*cupel.ContextItem) int {
	pinned, sliced := 0, 0
	for _, item := range window {
		if item.Pinned() {
			pinned = add(pinned, item.Tokens())
		} else {
			sliced = add(sliced, item.Tokens())
		}
	}
	return budget.Effective(pinned).TargetTokens - sliced
}

// errNoPositions is the error for a report that has been to JSON and back.
var errNoPositions = errors.New("cupel: the report does not say which candidates are in the window; use the report that the run returned")
