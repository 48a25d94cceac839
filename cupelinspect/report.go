package cupelinspect

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
)

// FromReport returns the selection of an existing report, for example one read from
// JSON. Candidates are in the report's order: first the window, then the items left
// out. The page lacks data that a report does not contain: the strategies, the scores
// of a composite's parts, the selection at other budgets, and times. It shows what a
// session did at the turn of the report: what it kept, whether, where and why it
// broke, and the cost. FromReport does not keep the report.
//
// With [WithCandidates], candidates are in their own order, and the page shows
// which part of each content is in the window.
//
// It returns a [cupel.InvalidConfigError] if report is nil or an option is
// wrong, and the error of a canceled choice.
func FromReport(report *cupel.SelectionReport, budget cupel.ContextBudget, opts ...Option) (*Selection, error) {
	settings, err := apply(opts)
	if err != nil {
		return nil, err
	}
	if report == nil {
		return nil, &cupel.InvalidConfigError{Component: "cupelinspect", Field: "report", Reason: "a report is required; Pipeline.DryRun returns one"}
	}
	report = adopt(report, settings.items)
	ledger := analysis.NewLedger(report, settings.items)
	items := make([]*cupel.ContextItem, len(ledger.Entries))
	duplicates := false
	for i := range ledger.Entries {
		e := &ledger.Entries[i]
		items[i] = e.Item
		duplicates = duplicates || e.Excluded != nil && e.Excluded.Reason.Code == cupel.ExcludeDeduplicated
	}
	l := newInspector(items)
	l.choose = settings.choose
	s := &Selection{items: l.items}
	w := &s.wire
	w.Name = shorten(settings.name, maxDescription)
	w.Deduplicate = duplicates
	if report.Overflow != nil {
		w.Overflow = pipeline.OverflowProceed.String()
	}
	w.Stages = []wireStage{}
	for _, event := range report.Events {
		if event.Stage == turn.Stage {
			w.Session = shorten(event.Message, maxDescription)
		}
	}
	s.explain(l, report, ledger)
	w.Budget = newBudget(budget, *w.Pinned)
	if settings.items == nil {
		for i := range report.Included {
			w.Origin = append(w.Origin, report.Included[i].Candidate)
		}
		for i := range report.Excluded {
			w.Origin = append(w.Origin, report.Excluded[i].Candidate)
		}
	}
	if len(w.Origin) > 1 && slices.Max(w.Origin) <= 0 { // the report does not say
		w.Origin = nil
	}
	w.Request = settings.request
	if settings.pipeline != nil {
		s.describe(context.Background(), l, settings.pipeline)
	}
	if err := s.finish(l, ledger, budget, settings); err != nil {
		return nil, err
	}
	return s, nil
}
