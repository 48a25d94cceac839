package cupeltest_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupeltest"
)

func TestBuiltInCollectors(t *testing.T) {
	ignore := func(cupel.TraceEvent) {}
	diagnostic := func(level observe.TraceDetailLevel) func() observe.TraceCollector {
		return func() observe.TraceCollector {
			return observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(level))
		}
	}
	atLevel := cupeltest.WithDetailLevel
	var part *observe.DiagnosticTraceCollector
	for name, tt := range map[string]struct {
		collector func() observe.TraceCollector
		options   []cupeltest.CollectorOption
	}{
		"Null":                      {the[observe.TraceCollector](observe.NullTraceCollector{}), []cupeltest.CollectorOption{cupeltest.WithConcurrentRuns()}},
		"Diagnostic, stages":        {diagnostic(observe.TraceDetailStage), []cupeltest.CollectorOption{atLevel(observe.TraceDetailStage)}},
		"Diagnostic, items":         {diagnostic(observe.TraceDetailItem), []cupeltest.CollectorOption{atLevel(observe.TraceDetailItem), nil}},
		"Diagnostic, level unknown": {diagnostic(observe.TraceDetailStage), nil},
		"Diagnostic, shared":        {diagnostic(observe.TraceDetailItem), []cupeltest.CollectorOption{cupeltest.WithConcurrentRuns()}},
		"Funcs":                     {the[observe.TraceCollector](observe.Funcs{StageEvent: ignore, ItemEvent: ignore}), nil},
		"Funcs of stages":           {the[observe.TraceCollector](observe.Funcs{StageEvent: ignore}), []cupeltest.CollectorOption{cupeltest.WithConcurrentRuns()}},
		"Funcs of nothing":          {the[observe.TraceCollector](observe.Funcs{}), nil},
		"Multi": {func() observe.TraceCollector {
			part = observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
			return observe.Multi(part, observe.Funcs{StageEvent: ignore})
		}, []cupeltest.CollectorOption{cupeltest.WithEvents(func() []cupel.TraceEvent { return part.Events() }), atLevel(observe.TraceDetailItem)}},
		"Multi of nothing": {the[observe.TraceCollector](observe.Multi()), nil},
		"list":             {func() observe.TraceCollector { return new(listCollector) }, []cupeltest.CollectorOption{atLevel(observe.TraceDetailItem), cupeltest.WithConcurrentRuns()}},
	} {
		t.Run(name, func(t *testing.T) {
			cupeltest.TestTraceCollector(t, tt.collector, tt.options...)
		})
	}
}

// listCollector is a sound collector without any interface beyond its own. A
// fault is one of the functions, called in place of what the list would do.
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
	events := slices.Clone(l.events)
	if l.read != nil {
		events = l.read(events)
	}
	return events
}

// observer is a sound collector that observes runs, with faults as above.
type observer struct {
	listCollector
	run   func(ctx context.Context) context.Context
	first func(ctx context.Context) context.Context
	ended func(err error)
	less  bool // asks for no item events
}

func (o *observer) StartRun(ctx context.Context, _ observe.RunInfo) (context.Context, observe.RunTrace) {
	if o.run != nil {
		ctx = o.run(ctx)
	}
	return ctx, observed{o: o}
}

type observed struct {
	observe.NoTrace
	o *observer
}

func (o observed) Detail() observe.TraceDetail {
	return observe.TraceDetail{Items: true, ItemEvents: !o.o.less, Report: true}
}

func (o observed) EndRun(_ context.Context, e observe.RunEnd) {
	if o.o.ended != nil {
		o.o.ended(e.Err)
	}
}

func (o observed) StartStage(ctx context.Context, _ observe.StageStart) context.Context {
	if o.o.first != nil {
		return o.o.first(ctx)
	}
	return ctx
}

// other is a context that has forgotten where it comes from.
func other(ctx context.Context) context.Context {
	return context.WithoutCancel(ctx)
}

// TestCollectorsSeeRunsFail holds that the kit's runs fail where they are meant to:
// a collector that only goes wrong after such a failure must be found.
func TestCollectorsSeeRunsFail(t *testing.T) {
	var seen []error
	cupeltest.TestTraceCollector(t, func() observe.TraceCollector {
		return &observer{ended: func(err error) { seen = append(seen, err) }}
	})
	for _, tt := range []struct {
		name string
		is   func(err error) bool
	}{
		{"without a failure", func(err error) bool { return err == nil }},
		{"in the first stage", func(err error) bool { return errors.Is(err, pipeline.ErrPinnedExceedsBudget) }},
		{"in the slicer", func(err error) bool {
			return errors.Is(err, cupel.ErrStrategy) && strings.Contains(err.Error(), "on purpose")
		}},
		{"in the last stage", func(err error) bool { return errors.Is(err, pipeline.ErrOverflow) }},
	} {
		if !slices.ContainsFunc(seen, tt.is) {
			t.Errorf("no run ended %s: %v", tt.name, seen)
		}
	}
}

func TestBrokenCollectors(t *testing.T) {
	broken := func(c observe.TraceCollector, options ...cupeltest.CollectorOption) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestTraceCollector(t, the(c), options...) }
	}
	off := func() bool { return false }
	count := counter()
	discard := func(*listCollector, cupel.TraceEvent) {}
	var kept perGoroutine[*cupel.TraceEvent]
	of := func(newCollector func() observe.TraceCollector) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestTraceCollector(t, newCollector) }
	}
	keeping := func(most int) func() observe.TraceCollector {
		return func() observe.TraceCollector {
			return &listCollector{read: func(events []cupel.TraceEvent) []cupel.TraceEvent { return events[max(0, len(events)-most):] }}
		}
	}
	// twice allocates in each round of calls that are twice as many as before.
	twice := func() observe.TraceCollector {
		kept := make([]cupel.TraceEvent, 0, 32)
		return &listCollector{enabled: off, item: discard, stage: func(_ *listCollector, e cupel.TraceEvent) {
			if len(kept) == cap(kept) {
				kept = append(make([]cupel.TraceEvent, 0, 2*cap(kept)), kept...)
			}
			kept = append(kept, e)
		}}
	}
	checkFaults(t, "collector", []fault{
		{"changes its mind", "IsEnabled gives the same answer until something is changed.",
			broken(&listCollector{enabled: func() bool { return int(count(nil))%2 == 0 }}), "true, then false"},
		{"panics at an unknown stage", "every event is taken, those of unknown stages too, without a panic.",
			broken(&listCollector{stage: func(_ *listCollector, e cupel.TraceEvent) {
				if e.Stage == "Sort" {
					panic("no such stage")
				}
			}}), "RecordStageEvent of (stage=Sort, count=3, duration=0.5, message=\"\"): panic: no such stage"},
		{"panics at an item event without a stage", "every event is taken, those of unknown stages too, without a panic.",
			broken(&listCollector{item: func(_ *listCollector, e cupel.TraceEvent) {
				if e.Stage == "" {
					panic("no stage")
				}
			}}), "RecordItemEvent of (stage=, count=0, message=\"\"): panic: no stage"},
		{"a buffer that doubles", "a collector that is not enabled allocates nothing, neither in IsEnabled nor for an event.", of(twice), "every round of calls allocates"},
		{"allocates though not enabled", "a collector that is not enabled allocates nothing, neither in IsEnabled nor for an event.",
			broken(&listCollector{enabled: off, stage: discard, item: func(_ *listCollector, e cupel.TraceEvent) {
				kept.use(func(v **cupel.TraceEvent) { *v = &e })
			}}), "every round of calls allocates"},
		{"records though not enabled", "a collector that is not enabled records nothing.", broken(&listCollector{enabled: off}), "2 events"},
		{"records stage events though not enabled", "a collector that is not enabled records nothing.", broken(&listCollector{enabled: off, item: discard}), "1 events"},
		{"read by a function", "every stage event is recorded, at any level.", func(t cupeltest.T) {
			l := &listCollector{stage: discard}
			cupeltest.TestTraceCollector(t, the[observe.TraceCollector](struct{ observe.TraceCollector }{l}), cupeltest.WithEvents(l.Events))
		}, "for stage Classify the event (stage=Classify, count=0, message=\"\") was sent and these were recorded: []"},
		{"the first 1000 events", "every stage event is recorded, at any level.",
			of(func() observe.TraceCollector {
				return &listCollector{read: func(events []cupel.TraceEvent) []cupel.TraceEvent { return events[:min(1000, len(events))] }}
			}), "1500 events were sent and 989 were recorded"},
		{"an item event instead of those before", "item events are recorded at level Item and above, and discarded at level Stage.",
			broken(&listCollector{item: func(l *listCollector, e cupel.TraceEvent) { l.events = []cupel.TraceEvent{e} }}), "events that had been recorded before are gone or changed"},
		{"filters stages", "every stage event is recorded, at any level.",
			broken(&listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
				if e.Stage != cupel.StageDeduplicate {
					l.add(e)
				}
			}}), "for stage Deduplicate the event (stage=Deduplicate, count=2, message=\"\") was sent and these were recorded: []"},
		{"loses messages", "every stage event is recorded, at any level.",
			broken(&listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
				e.Message = ""
				l.add(e)
			}}), "the event (stage=Classify, count=0, duration=1.5, message=\"made up\") was sent and these were recorded: [(stage=Classify, count=0, duration=1.5, message=\"\")]"},
		{"rounds durations", "every stage event is recorded, at any level.",
			broken(&listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
				e.DurationMS = math.Floor(e.DurationMS)
				l.add(e)
			}}), "these were recorded: [(stage=Classify, count=0, duration=1, message=\"made up\")]"},
		{"times items", "item events are recorded at level Item and above, and discarded at level Stage.",
			broken(&listCollector{item: func(l *listCollector, e cupel.TraceEvent) {
				e.DurationMS = 3
				l.add(e)
			}}), "these were recorded: [(stage=Classify, count=1, duration=3, message=\"BudgetExceeded: made up\")]"},
		{"forgets", "every stage event is recorded, at any level.",
			broken(&listCollector{read: func(events []cupel.TraceEvent) []cupel.TraceEvent { return events[max(0, len(events)-2):] }}), "events that had been recorded before are gone or changed"},
		{"ignores its level", "item events are recorded at level Item and above, and discarded at level Stage.",
			broken(&listCollector{}, cupeltest.WithDetailLevel(observe.TraceDetailStage)), "an item event of stage Classify was recorded"},
		{"discards items at level Item", "item events are recorded at level Item and above, and discarded at level Stage.",
			broken(&listCollector{item: discard}, cupeltest.WithDetailLevel(observe.TraceDetailItem)), "for stage Classify the item event (stage=Classify, count=1, message=\"BudgetExceeded: made up\") was sent and these were recorded: []"},
		{"records some items", "item events are recorded at level Item and above, and discarded at level Stage.",
			broken(&listCollector{item: func(l *listCollector, e cupel.TraceEvent) {
				if e.Stage != cupel.StagePlace {
					l.add(e)
				}
			}}), "for stage Place the item event (stage=Place, count=1, message=\"BudgetExceeded: made up\") was sent and these were recorded: []"},
		{"stages first", "events stay in the order in which they came.",
			broken(&listCollector{item: func(l *listCollector, e cupel.TraceEvent) {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.events = append(l.events, e)
				if n := len(l.events); n > 1 && e.ItemCount > 10 {
					l.events[n-1], l.events[n-2] = l.events[n-2], l.events[n-1]
				}
			}}), "comes after event"},
		{"wants less than its level", "the events of a run are all there, a run that failed included.",
			broken(&observer{less: true}, cupeltest.WithDetailLevel(observe.TraceDetailItem)), "a run with every kind of exclusion: "},
		{"ends the run", "observing a run does not change its result.",
			broken(&observer{run: func(ctx context.Context) context.Context {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx
			}}), "a run with every kind of exclusion: the error is <nil>, and cupel: stopped in stage Classify: context canceled under observation"},
		{"loses values", "a context that an observer returns carries the values and the end of the one that it was given.",
			broken(&observer{run: func(context.Context) context.Context { return t.Context() }}), "a value of the run's context does not reach the strategies"},
		{"loses the end", "a context that an observer returns carries the values and the end of the one that it was given.",
			broken(&observer{first: other}), "the run's context is canceled, and that of the strategies is not"},
		{"panics when shared", "runs at once may share the collector (WithConcurrentRuns).",
			func(t cupeltest.T) {
				cupeltest.TestTraceCollector(t, func() observe.TraceCollector { return &observer{run: onlyAt(new(home))} }, cupeltest.WithConcurrentRuns())
			}, "panic: two runs at once"},
		{"an exporter for each run", "observing runs starts no goroutine", broken(&observer{run: func(ctx context.Context) context.Context {
			leak()
			return ctx
		}}), " goroutines after a third of them, "},
		{"an exporter for each run that waits for its end", "observing runs starts no goroutine", broken(&observer{run: func(ctx context.Context) context.Context {
			ended := make(chan struct{})
			go func() { <-ended }() // which no EndRun closes
			return ctx
		}}), "24 runs: 8 goroutines after a third of them, 24 after all"},
		{"no event twice in a row", "the events of a run are all there", broken(&listCollector{item: func(l *listCollector, e cupel.TraceEvent) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if n := len(l.events); n == 0 || l.events[n-1] != e {
				l.events = append(l.events, e)
			}
		}}), ""},
		{"enabled after a while", "a collector that is not enabled allocates nothing", of(func() observe.TraceCollector {
			calls := 0
			return &listCollector{stage: discard, item: discard, enabled: func() bool { calls++; return calls > 100 }}
		}), "IsEnabled returns true"},
		{"the last 100 events", "every stage event is recorded", of(keeping(100)), ""},
		{"the last 1024 events", "every stage event is recorded", of(keeping(1024)), ""},
		{"one score stage for each run", "the events of a run are all there", of(func() observe.TraceCollector {
			scored := false
			return &listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
				if e.Stage == cupel.StagePlace || e.ItemCount == 1 || e.Message != "" {
					scored = false
				}
				if e.Stage != cupel.StageScore || !scored {
					l.add(e)
				}
				scored = scored || e.Stage == cupel.StageScore
			}}
		}), ""},
	})
}

// onlyAt panics in any goroutine but the one that came first.
func onlyAt(h *home) func(ctx context.Context) context.Context {
	return func(ctx context.Context) context.Context {
		if h.away() {
			panic("two runs at once")
		}
		return ctx
	}
}

func TestNoCollector(t *testing.T) {
	s := watch(func(t cupeltest.T) { cupeltest.TestTraceCollector(t, the[observe.TraceCollector](nil)) })
	equalMessages(t, "TestTraceCollector", s.messages,
		[]string{"TestTraceCollector: the collector is nil; use observe.NullTraceCollector{} for one that is not enabled"}, "there is nothing to test")
	if !s.stopped {
		t.Error("the kit went on without a collector")
	}
}
