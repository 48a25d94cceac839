package cupeltest_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupeltest"
)

// listCollector is a sound collector. A fault is one of the functions, called in
// place of what the list would do.
type listCollector struct {
	mu     sync.Mutex
	events []cupel.TraceEvent

	enabled func() bool
	stage   func(l *listCollector, e cupel.TraceEvent)
	item    func(l *listCollector, e cupel.TraceEvent)
	read    func(events []cupel.TraceEvent) []cupel.TraceEvent
}

func (l *listCollector) IsEnabled() bool { return l.enabled == nil || l.enabled() }

func (l *listCollector) add(e cupel.TraceEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *listCollector) RecordStageEvent(e cupel.TraceEvent) {
	if l.stage != nil {
		l.stage(l, e)
		return
	}
	l.add(e)
}

func (l *listCollector) RecordItemEvent(e cupel.TraceEvent) {
	if l.item != nil {
		l.item(l, e)
		return
	}
	l.add(e)
}

func (l *listCollector) Events() []cupel.TraceEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read != nil {
		return l.read(l.events)
	}
	return slices.Clone(l.events)
}

// observer is a sound collector that observes runs, with faults as above.
type observer struct {
	listCollector
	run  func(ctx context.Context) context.Context
	less bool // asks for no item events
}

func (o *observer) StartRun(ctx context.Context, _ observe.RunInfo) (context.Context, observe.RunTrace) {
	if o.run != nil {
		ctx = o.run(ctx)
	}
	return ctx, observed{less: o.less}
}

type observed struct {
	observe.NoTrace
	less bool
}

func (o observed) Detail() observe.TraceDetail {
	return observe.TraceDetail{Items: true, ItemEvents: !o.less, Report: true}
}

func TestBrokenCollectors(t *testing.T) {
	leak := leaking(t)
	discard := func(*listCollector, cupel.TraceEvent) {}
	off := func() bool { return false }
	last := func(n int) func() any {
		return func() any {
			return &listCollector{read: func(events []cupel.TraceEvent) []cupel.TraceEvent { return events[max(0, len(events)-n):] }}
		}
	}
	altered := func(change func(e *cupel.TraceEvent)) func() any {
		return func() any {
			return &listCollector{stage: func(l *listCollector, e cupel.TraceEvent) { change(&e); l.add(e) }}
		}
	}
	running := func(run func(ctx context.Context) context.Context) func() any {
		return func() any { return &observer{run: run} }
	}
	atItems := []cupeltest.KitOption{cupeltest.WithDetailLevel(observe.TraceDetailItem)}
	checkFaults(t, "collector", []fault{
		{name: "changes its mind", rule: "steady", make: func() any {
			calls := 0
			return &listCollector{enabled: func() bool { calls++; return calls%2 == 0 }}
		}},
		{name: "panics at an unknown stage", rule: "events", make: the(&listCollector{stage: func(_ *listCollector, e cupel.TraceEvent) {
			if e.Stage == "Sort" {
				panic("no such stage")
			}
		}})},
		{name: "ends the run", rule: "run", make: running(func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx
		})},
		{name: "loses values", rule: "run", make: running(func(context.Context) context.Context { return t.Context() })},
		{name: "loses the end", rule: "run", make: running(context.WithoutCancel)},
		{name: "a deadline of its own", rule: "run", make: running(func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			context.AfterFunc(ctx, cancel)
			return ctx
		})},
		{name: "records though not enabled", rule: "disabled", make: func() any { return &listCollector{enabled: off, stage: discard} }},
		{name: "allocates though not enabled", rule: "disabled", make: func() any {
			var kept *cupel.TraceEvent
			return &listCollector{enabled: off, item: discard, stage: func(_ *listCollector, e cupel.TraceEvent) {
				if kept = &e; kept.Stage == "" {
					kept = nil
				}
			}}
		}},
		{name: "enabled after a while", rule: "disabled", make: func() any {
			calls := 0
			return &listCollector{stage: discard, item: discard, enabled: func() bool { calls++; return calls > 100 }}
		}},
		{name: "the last 1024 events", rule: "record", make: last(1024)},
		{name: "cuts messages", rule: "record", make: altered(func(e *cupel.TraceEvent) { e.Message = e.Message[:min(256, len(e.Message))] })},
		{name: "rounds durations", rule: "record", make: altered(func(e *cupel.TraceEvent) { e.DurationMS = math.Floor(e.DurationMS) })},
		{name: "filters a stage", rule: "record", make: func() any {
			return &listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
				if e.Stage != cupel.StageDeduplicate {
					l.add(e)
				}
			}}
		}},
		{name: "ignores its level", rule: "record", make: func() any { return new(listCollector) },
			opts: []cupeltest.KitOption{cupeltest.WithDetailLevel(observe.TraceDetailStage)}},
		{name: "discards items at level Item", rule: "record", make: func() any { return &listCollector{item: discard} }, opts: atItems},
		{name: "stages first", rule: "record", make: func() any {
			return &listCollector{read: func(events []cupel.TraceEvent) []cupel.TraceEvent {
				return slices.SortedStableFunc(slices.Values(events), func(a, b cupel.TraceEvent) int { return a.ItemCount%2 - b.ItemCount%2 })
			}}
		}},
		{name: "wants less than its level", rule: "run-events", make: func() any { return &observer{less: true} }, opts: atItems},
		{name: "no event twice in a row", rule: "run-events", make: func() any {
			return &listCollector{item: func(l *listCollector, e cupel.TraceEvent) {
				if n := len(l.events); n == 0 || l.events[n-1] != e {
					l.add(e)
				}
			}}
		}},
		{name: "leaves goroutines", rule: "goroutines", make: running(func(ctx context.Context) context.Context {
			leak()
			return ctx
		})},
		{name: "longer for each event", rule: "growth", make: func() any {
			return &listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
				l.events = append(slices.Clip(l.events), e)
			}}
		}},
	})
	l := &listCollector{stage: discard}
	s := watch(func(t cupeltest.T) {
		test(t, the(struct{ observe.TraceCollector }{l}), cupeltest.WithEvents(l.Events))
	})
	if len(s.messages) == 0 {
		t.Error("events that a function reads are not looked at")
	}
}
