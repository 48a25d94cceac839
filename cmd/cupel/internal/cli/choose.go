package cli

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupelchat"
)

// choosesAgain reports whether other budgets and pins are tried by choosing again,
// because the window of a conversation, or the forms that a preset prepares, depend on
// them.
func (s *selection) choosesAgain() bool { return s.Conversation != nil || s.preset != nil }

// choose chooses the window for a budget.
func (s *selection) choose(ctx context.Context, budget cupel.ContextBudget) (*cupelchat.Window, error) {
	if s.Conversation != nil {
		return s.Conversation.Select(ctx, s.ofMessages(), budget)
	}
	items, report, err := s.ofMessages().RunReport(ctx, s.Items, budget)
	return &cupelchat.Window{Items: items, Report: report}, err
}

// numberOf returns the number of a message or an item, from 1, or 0 for members of a
// request other than messages.
func (s *selection) numberOf(candidate int) int {
	if s.Conversation != nil {
		return messageNumber(s.Items[candidate])
	}
	return candidate + 1
}

// pinning returns the selection with a candidate pinned. It fails for a candidate
// without a number.
func (s *selection) pinning(candidate int) (*selection, error) {
	pinned, err := withPins(s.Candidates, s.numberOf(candidate))
	return &selection{pinned, s.chooser, s.budget}, err
}

// ifPinned returns the window with a candidate pinned.
func (s *selection) ifPinned(ctx context.Context, candidate int) (*analysis.Ledger, error) {
	pinned, err := s.pinning(candidate)
	if err != nil {
		return nil, err
	}
	return pinned.ledger(ctx, s.budget)
}

// report returns the report of the window for a budget. Items that are not sent as they
// were read are forms, which differ from them in the text alone, so that reports can be
// compared. For a failed selection from items it has the results so far.
func (s *selection) report(ctx context.Context, budget cupel.ContextBudget) (*cupel.SelectionReport, error) {
	window, err := s.choose(ctx, budget)
	if window == nil || window.Report == nil {
		return nil, err
	}
	report := window.Report
	for i := range report.Included {
		e := &report.Included[i]
		item := s.Items[e.Candidate]
		if e.Item.Content() == item.Content() {
			if e.Form == 0 {
				e.Item = item
			}
			continue
		}
		e.Form = max(e.Form, 1)
		same := []cupel.ItemOption{cupel.WithContent(e.Item.Content(), e.Item.Tokens()), cupel.WithOriginalTokens(item.Tokens()), cupel.WithVariants(), cupel.WithGroupVariants()}
		if form, err := item.With(same...); err == nil { // else it is as it is in the window
			e.Item = form
		}
	}
	for i := range report.Excluded {
		report.Excluded[i].Item = s.Items[report.Excluded[i].Candidate]
	}
	return report, err
}

// ledger returns the ledger of the window for a budget, as report does.
func (s *selection) ledger(ctx context.Context, budget cupel.ContextBudget) (*analysis.Ledger, error) {
	report, err := s.report(ctx, budget)
	if err != nil {
		return nil, err
	}
	return analysis.NewLedger(report, s.Items), nil
}
