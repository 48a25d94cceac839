package cupel

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

// TraceDetailLevel says how much a [DiagnosticTraceCollector] records. Each
// level includes everything that the lower levels record.
//
// It implements the TraceCollector chapter of the specification.
type TraceDetailLevel uint8

// The levels, in ascending order. The zero value is the default.
const (
	TraceDetailStage TraceDetailLevel = iota // one event a stage
	TraceDetailItem                          // an event for each item as well
)

// String returns the specification's name: "Stage" or "Item".
func (l TraceDetailLevel) String() string {
	switch l {
	case TraceDetailStage:
		return "Stage"
	case TraceDetailItem:
		return "Item"
	}
	return "TraceDetailLevel(" + strconv.Itoa(int(l)) + ")"
}

// DiagnosticTraceCollector records the events and the report of one run at a
// time: the start of a run discards the previous one. Build it with
// [NewDiagnosticTraceCollector].
//
// It implements the TraceCollector chapter of the specification.
type DiagnosticTraceCollector struct {
	settings diagnosticSettings

	mu     sync.Mutex // so that misuse by two runs at once is not a data race
	events []recordedEvent
	report *SelectionReport // of the last run, until BuildReport hands it over
	kept   *keptReport      // afterwards
}

// recordedEvent is an event, or all item events of a stage, which become a list
// only when the caller asks for them.
type recordedEvent struct {
	TraceEvent
	ends []int // where each message ends in Message; nil for a single event
}

// all returns the recorded events as a list.
func (c *DiagnosticTraceCollector) all() []TraceEvent {
	n := 0
	for i := range c.events {
		n += max(1, len(c.events[i].ends))
	}
	if n == 0 {
		return nil
	}
	list := make([]TraceEvent, n)
	rest := list
	for i := range c.events {
		e := &c.events[i]
		if e.ends == nil {
			rest[0], rest = e.TraceEvent, rest[1:]
			continue
		}
		begin := 0
		for j, end := range e.ends {
			item := &rest[j] // field by field: the others are zero already
			item.Stage, item.ItemCount, item.Message = e.Stage, 1, e.Message[begin:end]
			begin = end
		}
		rest = rest[len(e.ends):]
	}
	return list
}

// DiagnosticOption is an optional setting of a [DiagnosticTraceCollector].
// Passing one does not allocate.
type DiagnosticOption interface{ applyDiagnostic(*diagnosticSettings) }

type diagnosticSettings struct {
	level    TraceDetailLevel
	callback func(TraceEvent)
}

type (
	levelOption    TraceDetailLevel
	callbackOption func(TraceEvent)
)

func (o levelOption) applyDiagnostic(s *diagnosticSettings)    { s.level = TraceDetailLevel(o) }
func (o callbackOption) applyDiagnostic(s *diagnosticSettings) { s.callback = o }

// WithDetailLevel sets how much is recorded; [TraceDetailStage] by default.
func WithDetailLevel(level TraceDetailLevel) DiagnosticOption { return levelOption(level) }

// WithEventCallback sets a function that receives each recorded event,
// immediately and in the goroutine of the run.
func WithEventCallback(callback func(TraceEvent)) DiagnosticOption { return callbackOption(callback) }

// NewDiagnosticTraceCollector returns a collector with the given settings.
func NewDiagnosticTraceCollector(opts ...DiagnosticOption) *DiagnosticTraceCollector {
	c := new(DiagnosticTraceCollector)
	for _, opt := range opts {
		if opt != nil {
			opt.applyDiagnostic(&c.settings)
		}
	}
	return c
}

// IsEnabled returns true, except for a nil collector.
func (c *DiagnosticTraceCollector) IsEnabled() bool { return c != nil }

// RecordStageEvent records the event.
func (c *DiagnosticTraceCollector) RecordStageEvent(event TraceEvent) { c.record(event) }

// RecordItemEvent records the event at level [TraceDetailItem] and discards it
// at [TraceDetailStage].
func (c *DiagnosticTraceCollector) RecordItemEvent(event TraceEvent) {
	if c != nil && c.settings.level >= TraceDetailItem {
		c.record(event)
	}
}

func (c *DiagnosticTraceCollector) record(event TraceEvent) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.events = append(c.events, recordedEvent{TraceEvent: event})
	c.mu.Unlock()
	if c.settings.callback != nil {
		c.settings.callback(event)
	}
}

// recordItems records all item events of a stage. messages holds their messages
// back to back; ends says where each of them ends.
func (c *DiagnosticTraceCollector) recordItems(stage PipelineStage, messages string, ends []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, recordedEvent{TraceEvent{Stage: stage, Message: messages}, slices.Clone(ends)})
}

// Events returns a copy of the events recorded since the run began, in order.
func (c *DiagnosticTraceCollector) Events() []TraceEvent {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all()
}

// BuildReport returns the report of the last run, with the recorded events. If
// the run failed, the report holds what the earlier stages found; before any
// run, it holds only events. Each call returns a new report, in time
// proportional to its size.
func (c *DiagnosticTraceCollector) BuildReport() *SelectionReport {
	if c == nil {
		return &SelectionReport{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	report := &SelectionReport{}
	switch {
	case c.report != nil:
		report, c.report, c.kept = c.report, nil, keep(c.report)
	case c.kept != nil:
		report = c.kept.report()
	}
	report.Events = c.all()
	return report
}

// takeReport is BuildReport without copying, for a collector that is not used
// afterwards.
func (c *DiagnosticTraceCollector) takeReport() *SelectionReport {
	report := c.report
	if report == nil {
		report = &SelectionReport{}
	}
	report.Events = c.all()
	return report
}

// StartRun implements [RunObserver].
func (c *DiagnosticTraceCollector) StartRun(ctx context.Context, _ RunInfo) (context.Context, RunTrace) {
	if c == nil {
		return ctx, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report, c.kept = nil, nil
	clear(c.events)
	c.events = slices.Grow(c.events[:0], eventsOfRun)
	return ctx, diagnosticRun{collector: c}
}

// eventsOfRun is the usual number of entries of a run: five stages, and items
// of three.
const eventsOfRun = 8

type diagnosticRun struct {
	NoTrace
	collector *DiagnosticTraceCollector
}

func (d diagnosticRun) Detail() TraceDetail {
	return TraceDetail{ItemEvents: d.collector.settings.level >= TraceDetailItem, Report: true}
}

func (d diagnosticRun) EndRun(_ context.Context, e RunEnd) {
	d.collector.mu.Lock()
	defer d.collector.mu.Unlock()
	d.collector.report = e.Report
}

// TraceFuncs makes a [TraceCollector] from functions. It is enabled if at least
// one of them is set.
type TraceFuncs struct {
	StageEvent func(TraceEvent) // called for each stage; nil ignores them
	ItemEvent  func(TraceEvent) // called for each item; nil ignores them
}

// IsEnabled reports whether a function is set.
func (f TraceFuncs) IsEnabled() bool { return f.StageEvent != nil || f.ItemEvent != nil }

// RecordStageEvent calls StageEvent.
func (f TraceFuncs) RecordStageEvent(event TraceEvent) {
	if f.StageEvent != nil {
		f.StageEvent(event)
	}
}

// RecordItemEvent calls ItemEvent.
func (f TraceFuncs) RecordItemEvent(event TraceEvent) {
	if f.ItemEvent != nil {
		f.ItemEvent(event)
	}
}

// StartRun implements [RunObserver], so that no item event is built when
// ItemEvent is nil.
func (f TraceFuncs) StartRun(ctx context.Context, _ RunInfo) (context.Context, RunTrace) {
	return ctx, funcsRun{items: f.ItemEvent != nil}
}

type funcsRun struct {
	NoTrace
	items bool
}

func (f funcsRun) Detail() TraceDetail { return TraceDetail{ItemEvents: f.items} }

// MultiTraceCollector returns a collector that passes everything on to each of
// collectors, in order. It skips nil ones. Each collector receives only what it
// asked for, and is asked again for each run.
func MultiTraceCollector(collectors ...TraceCollector) TraceCollector {
	return &multiCollector{slices.DeleteFunc(slices.Clone(collectors), func(c TraceCollector) bool { return isNil(c) })}
}

type multiCollector struct{ children []TraceCollector }

func (m *multiCollector) IsEnabled() bool {
	return slices.ContainsFunc(m.children, TraceCollector.IsEnabled)
}

func (m *multiCollector) RecordStageEvent(event TraceEvent) {
	for _, c := range m.children {
		if c.IsEnabled() {
			c.RecordStageEvent(event)
		}
	}
}

func (m *multiCollector) RecordItemEvent(event TraceEvent) {
	for _, c := range m.children {
		if c.IsEnabled() {
			c.RecordItemEvent(event)
		}
	}
}

func (m *multiCollector) StartRun(ctx context.Context, info RunInfo) (context.Context, RunTrace) {
	var followers multiRun
	complete := false
	defer func() {
		if !complete { // a child panicked: those before it have started a run
			now := time.Now() //nolint:forbidigo // the end of spans that have just started
			abandoned := RunEnd{Start: info.Start, End: info.Start, Err: &AbandonedError{}, real: realTimes{start: now, end: now}}
			quietly(func() { followers.EndRun(ctx, abandoned) })
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
			if isNil(state) {
				continue
			}
			f.state, f.detail = state, state.Detail()
			if recorder, ok := state.(TraceCollector); ok {
				f.recorder = recorder
			}
		}
		followers.all = append(followers.all, f)
	}
	complete = true
	if len(followers.all) == 0 {
		return ctx, nil
	}
	return ctx, &followers
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

func (m *multiRun) RecordStageEvent(event TraceEvent) {
	for _, f := range m.all {
		f.recorder.RecordStageEvent(event)
	}
}

func (m *multiRun) RecordItemEvent(event TraceEvent) {
	for _, f := range m.all {
		if f.detail.ItemEvents {
			f.recorder.RecordItemEvent(event)
		}
	}
}

func (m *multiRun) Detail() TraceDetail {
	d := TraceDetail{Lent: true, bothTimes: true}
	for _, f := range m.all {
		d.Reasons = d.Reasons || f.detail.Reasons
		d.Items = d.Items || f.detail.Items
		d.Exclusions = d.Exclusions || f.detail.Exclusions
		d.ItemEvents = d.ItemEvents || f.detail.ItemEvents
		d.Report = d.Report || f.detail.Report
		d.Strategies = d.Strategies || f.detail.Strategies
	}
	return d
}

func (m *multiRun) StartStage(ctx context.Context, s StageStart) context.Context {
	started := 0
	defer func() {
		if started < len(m.all) { // a follower panicked: those before it have started the stage
			before := multiRun{all: m.all[:started]}
			abandoned := StageEnd{Stage: s.Stage, CountIn: s.CountIn, Err: &AbandonedError{s.Stage}}
			at := moment{s.Start, s.real}
			abandoned = abandoned.lasting(at, at, span{})
			quietly(func() { before.EndStage(ctx, abandoned) })
		}
	}()
	for ; started < len(m.all); started++ {
		f := &m.all[started]
		if f.state == nil {
			continue
		}
		if c := f.state.StartStage(ctx, s.by(f.detail)); c != nil {
			ctx = c
		}
	}
	return ctx
}

func (m *multiRun) EndStage(ctx context.Context, e StageEnd) {
	m.each(func(f *follower) {
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
		if !f.detail.Lent {
			e.Excluded, e.Included = slices.Clone(e.Excluded), slices.Clone(e.Included)
		}
		if !f.detail.Strategies {
			e.Strategies = nil
		}
		e.Reasons, e.Strategies = slices.Clone(e.Reasons), slices.Clone(e.Strategies)
		f.state.EndStage(ctx, e.by(f.detail))
	})
}

func (m *multiRun) EndRun(ctx context.Context, e RunEnd) {
	m.each(func(f *follower) {
		e := e
		e.Shortfalls = slices.Clone(e.Shortfalls)
		switch {
		case !f.detail.Report:
			e.Report = nil
		case e.Report != nil:
			e.Report = e.Report.clone() // a copy each: a follower may change it
		}
		f.state.EndRun(ctx, e.by(f.detail))
	})
}

func (m *multiRun) each(tell func(f *follower)) {
	tellAll(m.all, func(f *follower) {
		if f.state != nil {
			tell(f)
		}
	})
}

// tellAll reports an end to each of all, even if one panics, because each must end
// what it started.
func tellAll[T any](all []T, tell func(*T)) {
	next := 0
	tellNext := func() {
		next++
		tell(&all[next-1])
	}
	defer func() {
		for next < len(all) {
			quietly(tellNext)
		}
	}()
	for next < len(all) {
		tellNext()
	}
}
