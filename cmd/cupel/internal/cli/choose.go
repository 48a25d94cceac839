package cli

import (
	"context"
	"reflect"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
)

// choosesAgain reports whether other budgets and pins are tried by choosing again,
// because the window of a conversation, or the forms that a preset prepares, depend on
// them.
func (s *selection) choosesAgain() bool { return s.Conversation != nil || s.preset != nil }

// choose chooses the window for a budget, with the item at a position pinned unless the
// position is negative. The report is about the items that were read.
func (s *selection) choose(ctx context.Context, budget cupel.ContextBudget, pinned int) (*cupelchat.Window, error) {
	c := &watchedChooser{Chooser: s.ofMessages(), items: s.Items, pinned: pinned}
	if s.Conversation == nil {
		items, report, err := c.RunReport(ctx, s.Items, budget)
		return &cupelchat.Window{Items: items, Report: report}, err
	}
	window, err := s.Conversation.Select(ctx, c, budget)
	if err != nil {
		return nil, err
	}
	report := *window.Report
	report.Included, report.Excluded = slices.Clone(report.Included), slices.Clone(report.Excluded)
	for i := range report.Included {
		report.Included[i].Candidate = c.at[report.Included[i].Candidate]
	}
	for i := range report.Excluded {
		e := &report.Excluded[i]
		if e.Reason.Code == cupelchat.Compacted {
			e.Candidate = slices.IndexFunc(s.Items, func(item *cupel.ContextItem) bool { return isSame(item, e.Item) })
		} else {
			e.Candidate = c.at[e.Candidate]
		}
	}
	window.Report = &report
	return window, nil
}

// watchedChooser knows which items of a conversation it was given, and pins one.
type watchedChooser struct {
	cupelchat.Chooser
	items  []*cupel.ContextItem
	pinned int
	at     []int // positions in items
}

// RunReport implements [cupelchat.Chooser].
func (c *watchedChooser) RunReport(ctx context.Context, given []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	given = slices.Clone(given)
	c.at = c.at[:0]
	next := 0
	for i := range given {
		for next < len(c.items)-1 && len(given) < len(c.items) && !isSame(c.items[next], given[i]) {
			next++
		}
		c.at = append(c.at, next)
		if next == c.pinned {
			var err error
			if given[i], err = given[i].With(cupel.WithPinned()); err != nil {
				return nil, nil, err
			}
		}
		next++
	}
	return c.Chooser.RunReport(ctx, given, budget, opts...)
}

// isSame reports whether one item is another, or another form of it.
func isSame(a, b *cupel.ContextItem) bool {
	return a == b || reflect.DeepEqual(a.Metadata(), b.Metadata())
}

// dryRun chooses for a budget. For a failed selection it returns the results so far, unless it
// chooses again.
func (s *selection) dryRun(ctx context.Context, budget cupel.ContextBudget) (*cupel.SelectionReport, error) {
	if s.choosesAgain() {
		return s.reportAt(ctx, budget, -1)
	}
	return s.pipeline.DryRun(ctx, s.Items, budget)
}

// reportAt returns the report of the window for a budget, with the item at a position
// pinned unless the position is negative. Items that are not sent as they were read
// are forms.
func (s *selection) reportAt(ctx context.Context, budget cupel.ContextBudget, pinned int) (*cupel.SelectionReport, error) {
	window, err := s.choose(ctx, budget, pinned)
	if err != nil {
		return nil, err
	}
	report := window.Report
	for i := range report.Included {
		e := &report.Included[i]
		if item := s.Items[e.Candidate]; e.Item.Content() != item.Content() {
			e.Form = max(e.Form, 1)
		} else if e.Form == 0 {
			e.Item = item
		}
	}
	for i := range report.Excluded {
		report.Excluded[i].Item = s.Items[report.Excluded[i].Candidate]
	}
	return report, nil
}

// ledger returns the ledger of the window for a budget, as reportAt does.
func (s *selection) ledger(ctx context.Context, budget cupel.ContextBudget, pinned int) (*analysis.Ledger, error) {
	report, err := s.reportAt(ctx, budget, pinned)
	if err != nil {
		return nil, err
	}
	return analysis.NewLedger(report, s.Items), nil
}
