package observe

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/value"
	"github.com/wollax/cupel-go/cupel/turn"
)

// Multi returns a collector that passes everything on to each of the collectors, in
// order. It skips nil ones. Each collector receives only what it asked for, and is
// asked again for each run.
func Multi(collectors ...TraceCollector) TraceCollector {
	return &multi{slices.DeleteFunc(slices.Clone(collectors), func(c TraceCollector) bool { return value.IsNil(c) })}
}

type multi struct{ children []TraceCollector }

func (m *multi) IsEnabled() bool { return slices.ContainsFunc(m.children, TraceCollector.IsEnabled) }

// RecordStageEvent is for events from elsewhere: of a run that is observed, the state
// that StartRun returns gets the events.
func (m *multi) RecordStageEvent(event cupel.TraceEvent) {
	for _, c := range m.children {
		if c.IsEnabled() {
			c.RecordStageEvent(event)
		}
	}
}

// RecordItemEvent is for the same events.
func (m *multi) RecordItemEvent(event cupel.TraceEvent) {
	for _, c := range m.children {
		if c.IsEnabled() {
			c.RecordItemEvent(event)
		}
	}
}

func (m *multi) StartRun(ctx context.Context, info RunInfo) (context.Context, RunTrace) {
	run := new(multiRun)
	complete := false
	defer func() {
		if !complete { // a child panicked: those before it have started a run
			value.Quietly(func() { run.EndRun(ctx, RunEnd{Start: info.Start, End: info.Start, Err: &AbandonedError{}}) })
		}
	}()
	for _, c := range m.children {
		if !c.IsEnabled() {
			continue
		}
		f := follower{recorder: c, detail: TraceDetail{ItemEvents: true}}
		if observer, ok := c.(RunObserver); ok {
			observed, state := observer.StartRun(ctx, info)
			if observed != nil {
				ctx = observed
			}
			if value.IsNil(state) {
				continue
			}
			f.state, f.detail = state, state.Detail()
			if recorder, ok := state.(TraceCollector); ok {
				f.recorder = recorder
			}
		}
		run.all = append(run.all, f)
	}
	complete = true
	if len(run.all) == 0 {
		return ctx, nil
	}
	return ctx, run
}

// multiRun is a TraceCollector too, because only this run knows which of the
// children follow it.
type multiRun struct {
	NoTrace
	all []follower
}

type follower struct {
	recorder TraceCollector
	state    RunTrace // nil for a plain collector
	detail   TraceDetail
}

func (m *multiRun) IsEnabled() bool { return true }

func (m *multiRun) RecordStageEvent(event cupel.TraceEvent) {
	for _, f := range m.all {
		f.recorder.RecordStageEvent(event)
	}
}

func (m *multiRun) RecordItemEvent(event cupel.TraceEvent) {
	for _, f := range m.all {
		if f.detail.ItemEvents {
			f.recorder.RecordItemEvent(event)
		}
	}
}

func (m *multiRun) Detail() (d TraceDetail) {
	for _, f := range m.all {
		d.Reasons = d.Reasons || f.detail.Reasons
		d.Items = d.Items || f.detail.Items
		d.Exclusions = d.Exclusions || f.detail.Exclusions
		d.ItemEvents = d.ItemEvents || f.detail.ItemEvents
		d.Report = d.Report || f.detail.Report
		d.Decisions = d.Decisions || f.detail.Decisions
	}
	return d
}

func (m *multiRun) StartStage(ctx context.Context, s StageStart) context.Context {
	started := 0
	defer func() {
		if started < len(m.all) { // a follower panicked: those before it have started the stage
			before := multiRun{all: m.all[:started]}
			e := StageEnd{Stage: s.Stage, Start: s.Start, End: s.Start, CountIn: s.CountIn, Err: &AbandonedError{s.Stage}}
			value.Quietly(func() { before.EndStage(ctx, e) })
		}
	}()
	for ; started < len(m.all); started++ {
		if state := m.all[started].state; state != nil {
			if c := state.StartStage(ctx, s); c != nil {
				ctx = c
			}
		}
	}
	return ctx
}

func (m *multiRun) EndStage(ctx context.Context, e StageEnd) {
	tellAll(m.all, func(f follower) {
		if f.state == nil {
			return
		}
		e := e
		if !f.detail.Reasons {
			e.Reasons = nil
		}
		if !f.detail.Items {
			e.Included = nil
			if !f.detail.Exclusions {
				e.Excluded = nil
			}
		}
		f.state.EndStage(ctx, e)
	})
}

func (m *multiRun) EndRun(ctx context.Context, e RunEnd) {
	tellAll(m.all, func(f follower) {
		if f.state == nil {
			return
		}
		e := e
		if !f.detail.Decisions {
			e.Decisions = nil
		}
		switch {
		case !f.detail.Report:
			e.Report = nil
		case e.Report != nil:
			e.Report = e.Report.Clone() // a copy each: a follower may change it
		}
		f.state.EndRun(ctx, e)
	})
}

// StartTurn implements [turn.Observer].
func (m *multi) StartTurn(ctx context.Context, info turn.Info) (context.Context, turn.Trace) {
	t := new(multiTurn)
	complete := false
	defer func() {
		if !complete { // a child panicked: those before it have started a turn
			value.Quietly(func() { t.EndTurn(ctx, turn.End{Err: &AbandonedError{}}) })
		}
	}()
	for _, c := range m.children {
		observer, ok := c.(turn.Observer)
		if !ok || !c.IsEnabled() {
			continue
		}
		observed, state := observer.StartTurn(ctx, info)
		if observed != nil {
			ctx = observed
		}
		if !value.IsNil(state) {
			t.all = append(t.all, state)
		}
	}
	complete = true
	if len(t.all) == 0 {
		return ctx, nil
	}
	return ctx, t
}

// multiTurn passes everything on to each of all, even if one panics.
type multiTurn struct {
	turn.NoTrace
	all []turn.Trace
}

func (m *multiTurn) EndTurn(ctx context.Context, e turn.End) {
	tellAll(m.all, func(t turn.Trace) { t.EndTurn(ctx, e) })
}

func (m *multiTurn) CommitTurn(ctx context.Context, c turn.Commit) {
	tellAll(m.all, func(t turn.Trace) { t.CommitTurn(ctx, c) })
}

// tellAll reports an end to each of all, even if one panics, because each must end
// what it started.
func tellAll[T any](all []T, tell func(T)) {
	told := 0
	defer func() {
		for _, each := range all[told:] {
			value.Quietly(func() { tell(each) })
		}
	}()
	for _, each := range all {
		told++
		tell(each)
	}
}
