package observe

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/wollax/cupel-go/cupel"
)

// TraceDetailLevel sets how much a [DiagnosticTraceCollector] records. Each level
// includes everything that the lower levels record.
//
// It implements the TraceCollector chapter of the specification.
type TraceDetailLevel uint8

// The levels, in ascending order. The zero value is the default.
const (
	TraceDetailStage TraceDetailLevel = iota // one event per stage
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
	level TraceDetailLevel

	mu     sync.Mutex // so that misuse by two runs at once is not a data race
	events []cupel.TraceEvent
	report *cupel.SelectionReport
}

// DiagnosticOption is an optional setting of a [DiagnosticTraceCollector].
type DiagnosticOption func(*DiagnosticTraceCollector)

// WithDetailLevel sets how much is recorded; [TraceDetailStage] by default.
func WithDetailLevel(level TraceDetailLevel) DiagnosticOption {
	return func(c *DiagnosticTraceCollector) { c.level = level }
}

// NewDiagnosticTraceCollector returns a collector with the given settings.
func NewDiagnosticTraceCollector(opts ...DiagnosticOption) *DiagnosticTraceCollector {
	c := new(DiagnosticTraceCollector)
	for _, opt := range opts {
		if opt != nil {
			opt(c)
		}
	}
	return c
}

// IsEnabled returns true, except for a nil collector.
func (c *DiagnosticTraceCollector) IsEnabled() bool { return c != nil }

// RecordStageEvent records the event.
func (c *DiagnosticTraceCollector) RecordStageEvent(event cupel.TraceEvent) { c.record(event) }

// RecordItemEvent records the event at level [TraceDetailItem] and discards it
// at [TraceDetailStage].
func (c *DiagnosticTraceCollector) RecordItemEvent(event cupel.TraceEvent) {
	if c != nil && c.level >= TraceDetailItem {
		c.record(event)
	}
}

func (c *DiagnosticTraceCollector) record(event cupel.TraceEvent) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event)
}

// Events returns a copy of the events recorded since the run began, in order.
func (c *DiagnosticTraceCollector) Events() []cupel.TraceEvent {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]cupel.TraceEvent(nil), c.events...)
}

// BuildReport returns the report of the last run, with the recorded events. If
// the run failed, the report holds what the earlier stages found; before any
// run, it holds only events. Each call returns a new report, in time
// proportional to its size.
func (c *DiagnosticTraceCollector) BuildReport() *cupel.SelectionReport {
	if c == nil {
		return &cupel.SelectionReport{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	report := cmp.Or(c.report, &cupel.SelectionReport{}).Clone()
	report.Events = append([]cupel.TraceEvent(nil), c.events...)
	return report
}

// StartRun implements [RunObserver].
func (c *DiagnosticTraceCollector) StartRun(ctx context.Context, info RunInfo) (context.Context, RunTrace) {
	if c == nil {
		return ctx, nil
	}
	events := 5 // one for each stage
	if c.level >= TraceDetailItem {
		events += info.Candidates
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report, c.events = nil, slices.Grow(c.events[:0], events) // Events returns copies
	return ctx, diagnosticRun{collector: c}
}

type diagnosticRun struct {
	NoTrace
	collector *DiagnosticTraceCollector
}

func (d diagnosticRun) Detail() TraceDetail {
	return TraceDetail{ItemEvents: d.collector.level >= TraceDetailItem, Report: true}
}

func (d diagnosticRun) EndRun(_ context.Context, e RunEnd) {
	d.collector.mu.Lock()
	defer d.collector.mu.Unlock()
	d.collector.report = e.Report
}
