package cupelinspect

import (
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
)

// FromReport returns the selection of an existing report, for example one read
// from JSON. Candidates are in the report's order: first the window, then the
// items left out. The page lacks what a report does not contain: the
// strategies, the scores of a composite's parts, and the selection at other
// budgets. Times come from the report's events, and so does what a session did at
// the turn of the report: what it kept, whether, where and why it broke, and what
// that costs. FromReport does not keep the report.
//
// It returns a [cupel.InvalidConfigError] if report is nil or an option is
// wrong. [WithSweep] has no effect.
func FromReport(report *cupel.SelectionReport, budget cupel.ContextBudget, opts ...Option) (*Selection, error) {
	settings, err := apply(opts)
	if err != nil {
		return nil, err
	}
	if report == nil {
		return nil, &cupel.InvalidConfigError{Component: "cupelinspect", Field: "report", Reason: "a report is required; Pipeline.DryRun returns one"}
	}
	ledger := analysis.NewLedger(report, nil)
	items := make([]*cupel.ContextItem, len(ledger.Entries))
	pinned, duplicates := 0, false
	for i := range ledger.Entries {
		e := &ledger.Entries[i]
		items[i] = e.Item
		if e.Included != nil && e.Included.Reason == cupel.IncludePinned {
			pinned = add(pinned, max(0, e.Tokens))
		}
		duplicates = duplicates || e.Excluded != nil && e.Excluded.Reason.Code == cupel.ExcludeDeduplicated
	}
	l := newInspector(items)
	s := &Selection{items: l.items, contentLimit: contentLimit(l.items)}
	w := &s.wire
	w.Name = shorten(settings.name, maxDescription)
	w.Deduplicate = duplicates
	if report.Overflow != nil {
		w.Overflow = pipeline.OverflowProceed.String()
	}
	w.Budget = newBudget(budget, pinned)
	w.Stages, w.Total = stagesOf(report)
	if event, ok := stageEvent(report, turn.Stage); ok {
		w.Session = shorten(event.Message, maxDescription)
	}
	s.explain(l, report, ledger)
	w.Origin = originsOf(ledger)
	w.Codes, w.Meanings = l.codes, l.meanings()
	return s, nil
}

// maxStages is the maximum number of a report's stages on a page.
const maxStages = 10

// stagesOf lays out the stages of a report's events one after the other.
func stagesOf(report *cupel.SelectionReport) (stages []wireStage, total int64) {
	stages = []wireStage{}
	known := []cupel.PipelineStage{cupel.StageClassify, cupel.StageScore, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace}
	for _, stage := range known {
		if event, ok := stageEvent(report, stage); ok {
			stages = append(stages, wireStage{Name: string(stage), Duration: durationOf(event), Out: event.ItemCount})
		}
	}
	for _, event := range report.Events {
		if event.Stage != turn.Stage && !slices.Contains(known, event.Stage) && len(stages) < maxStages {
			known = append(known, event.Stage)
			last, _ := stageEvent(report, event.Stage)
			stages = append(stages, wireStage{Name: shorten(string(event.Stage), maxLabel), Duration: durationOf(last), Out: last.ItemCount})
		}
	}
	in := report.TotalCandidates
	pinned := 0
	for i := range stages {
		s := &stages[i]
		s.Start = total
		if total > math.MaxInt64-s.Duration {
			s.Duration = math.MaxInt64 - total
		}
		total += s.Duration
		switch s.Name {
		case string(cupel.StageScore): // pinned items go straight to Place
			pinned = max(0, in-s.Out)
			in = s.Out
		case string(cupel.StagePlace):
			in += pinned
		}
		s.In, in = in, s.Out
	}
	return stages, total
}

// stageEvent returns the event of a stage: the last one, after those of its
// items.
func stageEvent(report *cupel.SelectionReport, stage cupel.PipelineStage) (cupel.TraceEvent, bool) {
	for _, event := range slices.Backward(report.Events) {
		if event.Stage == stage {
			return event, true
		}
	}
	return cupel.TraceEvent{}, false
}

// durationOf returns at least 0 ns: an event read from JSON may hold any
// number.
func durationOf(event cupel.TraceEvent) int64 {
	ns := event.DurationMS * 1e6
	switch {
	case !(ns > 0): // written so that NaN has no duration
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	default:
		return int64(math.Round(ns))
	}
}
