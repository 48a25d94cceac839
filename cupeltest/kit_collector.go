package cupeltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// collectorKit is what a kit knows of collectors.
type collectorKit struct {
	start      func() observe.TraceCollector
	events     func() []cupel.TraceEvent
	levelKnown bool
	wantsItems bool
}

// WithDetailLevel sets the level at which the collector records. Without it the
// collector may record all item events or none.
func WithDetailLevel(level observe.TraceDetailLevel) KitOption {
	return func(k *kit) {
		k.collector.levelKnown, k.collector.wantsItems = true, level >= observe.TraceDetailItem
	}
}

// WithEvents sets a function that returns the recorded events of the collector
// that was made last, oldest first. It is not needed for a collector with a method
// Events() []cupel.TraceEvent. Without either, the rules about recorded events are not
// checked.
func WithEvents(events func() []cupel.TraceEvent) KitOption {
	return func(k *kit) { k.collector.events = events }
}

// TestTraceCollector checks that a collector keeps the contracts of
// [observe.TraceCollector] and, if it implements it, of [observe.RunObserver], and
// reports each broken rule. Each call of newCollector returns a new collector. The
// collectors receive made-up events and follow runs and streams of a pipeline,
// including runs that fail.
func TestTraceCollector(t T, newCollector func() observe.TraceCollector, opts ...KitOption) {
	t.Helper()
	k := &kit{role: collectors, collector: collectorKit{start: newCollector}}
	for _, opt := range opts {
		opt(k)
	}
	problem := "there is no function that makes the collector: it is nil"
	if newCollector != nil {
		k.made, problem = newCollector(), ""
		if k.made == nil {
			problem = "the collector is nil; use observe.NullTraceCollector{} for one that is not enabled"
		}
	}
	if problem != "" {
		t.Errorf("TestTraceCollector: %s", problem)
		t.FailNow()
		return
	}
	k.hold(t)
}

// recorded returns the events of a collector, if they can be read.
func (k *kit) recorded(c observe.TraceCollector) (events []cupel.TraceEvent, readable bool) {
	if k.collector.events != nil {
		return k.collector.events(), true
	}
	if reader, ok := c.(interface{ Events() []cupel.TraceEvent }); ok {
		return reader.Events(), true
	}
	return nil, false
}

func (k *kit) flickers() string {
	c := k.collector.start()
	first := c.IsEnabled()
	for range 10 {
		if c.IsEnabled() != first {
			return fmt.Sprintf("%t, then %t", first, !first)
		}
	}
	return ""
}

// oddEvents are valid events that no pipeline of this module emits.
var oddEvents = []cupel.TraceEvent{
	{},
	{Stage: "Sort", DurationMS: 0.5, ItemCount: 3},
	{Stage: cupel.StagePlace, DurationMS: math.NaN(), ItemCount: math.MinInt, Message: "\x00\xff"},
}

func (k *kit) refusesEvents() string {
	c := k.collector.start()
	for _, event := range oddEvents {
		found := protect(func() string {
			c.RecordStageEvent(event)
			c.RecordItemEvent(event)
			return ""
		})
		if found != "" {
			return eventText(event) + ": " + found
		}
	}
	return ""
}

// worksDisabled looks for a round without allocations, since other goroutines
// allocate too.
func (k *kit) worksDisabled() string {
	c := k.collector.start()
	if c.IsEnabled() {
		return ""
	}
	least := uint64(math.MaxUint64)
	for n := 64; n <= 4096; n *= 2 { // a buffer that grows allocates in each
		least = min(least, allocated(func() { k.record(c, n) }))
	}
	if events, _ := k.recorded(c); least > 0 || len(events) > 0 || c.IsEnabled() {
		return fmt.Sprintf("after some events: enabled %t, %d events recorded, %d bytes or more allocated", c.IsEnabled(), len(events), least)
	}
	return ""
}

// record sends n stage events and as many item events.
func (k *kit) record(c observe.TraceCollector, n int) {
	event := cupel.TraceEvent{Stage: cupel.StageScore, DurationMS: 1, ItemCount: 1}
	for range n {
		k.calls.Add(1)
		_ = c.IsEnabled()
		c.RecordStageEvent(event)
		c.RecordItemEvent(event)
	}
}

// losesEvents sends more events than buffers of the usual fixed sizes hold, one of
// them longer than such buffers and on two lines.
func (k *kit) losesEvents() string {
	c := k.collector.start()
	want, readable := k.recorded(c)
	if !readable || !c.IsEnabled() {
		return ""
	}
	stages := []cupel.PipelineStage{cupel.StageClassify, cupel.StageScore, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace}
	messages := []string{"", "made up", strings.Repeat("made up, ", 60) + "\nand long"}
	wantsItems := k.collector.wantsItems
	for i := range 1500 {
		k.calls.Add(1)
		event := cupel.TraceEvent{Stage: stages[i/2%len(stages)], ItemCount: i, DurationMS: 1.5 * float64(i%3), Message: messages[i%3]}
		if i%2 == 0 {
			c.RecordStageEvent(event)
			want = append(want, event)
			continue
		}
		c.RecordItemEvent(event)
		if got, _ := k.recorded(c); i == 1 && !k.collector.levelKnown {
			wantsItems = len(got) > len(want)
		}
		if wantsItems {
			want = append(want, event)
		}
	}
	got, _ := k.recorded(c)
	return otherEvents(want, got)
}

// otherEvents says where two lists of events begin to differ.
func otherEvents(want, got []cupel.TraceEvent) string {
	for i, event := range want[:min(len(want), len(got))] {
		if event != got[i] {
			return fmt.Sprintf("event %d of %d is recorded as %s, want %s", i+1, len(want), eventText(got[i]), eventText(event))
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%d events are recorded, want %d", len(got), len(want))
	}
	return ""
}

// losesRunEvents compares the collector's events after a run with those of another
// collector of the same run. The collector may have dropped earlier events.
func (k *kit) losesRunEvents() string {
	c := k.collector.start()
	if _, readable := k.recorded(c); !readable || !c.IsEnabled() {
		return ""
	}
	for _, run := range kitRuns() {
		var stages, all []cupel.TraceEvent
		_ = run.start(context.Background(), observe.Funcs{
			StageEvent: func(e cupel.TraceEvent) { stages, all = append(stages, untimed(e)), append(all, untimed(e)) },
			ItemEvent:  func(e cupel.TraceEvent) { all = append(all, untimed(e)) },
		})
		_ = run.start(context.Background(), c)
		events, _ := k.recorded(c)
		last := func(want []cupel.TraceEvent) string {
			got := slices.Clone(events[max(0, len(events)-len(want)):])
			for i := range got {
				got[i] = untimed(got[i])
			}
			return otherEvents(want, got)
		}
		found := last(all)
		if k.collector.levelKnown && !k.collector.wantsItems || !k.collector.levelKnown && found != "" {
			found = last(stages)
		}
		if found != "" {
			return run.name + ": " + found
		}
	}
	return ""
}

// untimed returns the event without its duration, which differs from run to run.
func untimed(e cupel.TraceEvent) cupel.TraceEvent {
	e.DurationMS = 0
	return e
}

type contextKey struct{}

// changesRun compares errors, since an observer may end a run, and looks at the
// contexts that the strategies get.
func (k *kit) changesRun() string {
	c := k.collector.start()
	for _, run := range kitRuns() {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), contextKey{}, run.name))
		want := fmt.Sprint(run.start(ctx, nil))
		err := fmt.Sprint(run.start(ctx, c))
		if want != err {
			cancel()
			return fmt.Sprintf("%s: the error is %v, and %v under observation", run.name, want, err)
		}
		cancel()
		for _, inside := range *run.seen {
			if _, limited := inside.Deadline(); inside.Value(contextKey{}) != run.name || limited || inside.Err() == nil {
				return run.name + ": the strategies get another context, whose values or whose end are not those of the run's"
			}
		}
	}
	return ""
}

// A kitRun is a run for a collector to follow.
type kitRun struct {
	name  string
	start func(ctx context.Context, c observe.TraceCollector) error
	seen  *[]context.Context // by the strategies
}

// kitRuns are runs with something to tell in every stage, without anything, and
// such as fail in the first, a middle and the last stage.
func kitRuns() []kitRun {
	g := nextGeneration()
	items := append(append(sampleItems(g), unitItems(g)...), Item("pinned", 20, cupel.WithPinned()), Item("negative", -5), Item("large", 5000))
	return []kitRun{
		newKitRun("a run with every kind of exclusion", items, pipeline.OverflowTruncate, nil),
		newKitRun("a run without candidates", nil, pipeline.OverflowThrow, nil),
		newKitRun("a run whose pinned items do not fit", []*cupel.ContextItem{Item("pinned", 2000, cupel.WithPinned())}, pipeline.OverflowThrow, nil),
		newKitRun("a run whose slicer fails", items, pipeline.OverflowThrow, errors.New("on purpose")),
		newKitRun("a run that overflows", append(items, Item("pinned too", 900, cupel.WithPinned())), pipeline.OverflowThrow, nil),
		newKitRun("a stream of several batches", mixedItems(g, 301), pipeline.OverflowTruncate, nil),
	}
}

// newKitRun is a run of strategies that remember the contexts that they are given;
// the slicer fails with failure. Many items are streamed.
func newKitRun(name string, items []*cupel.ContextItem, overflow pipeline.OverflowStrategy, failure error) kitRun {
	seen := new([]context.Context)
	p := must(pipeline.New(pipeline.Config{
		Overflow: overflow, Scorer: scorer.Reflexive{}, Placer: placer.UShaped{},
		Slicer: strategy.SlicerFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			*seen = append(*seen, ctx)
			if failure != nil {
				return strategy.Selection{}, failure
			}
			return slicer.Greedy{}.Slice(ctx, items, budget)
		}),
	}))
	return kitRun{name: name, seen: seen, start: func(ctx context.Context, c observe.TraceCollector) (err error) {
		if len(items) < 100 {
			_, err = p.Run(ctx, items, Budget(1000, 400), pipeline.WithTrace(c))
			return err
		}
		_, err = p.RunStream(ctx, func(yield func(*cupel.ContextItem, error) bool) {
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}, Budget(10_000, 9000), pipeline.WithBatchSize(64), pipeline.WithTrace(c))
		return err
	}}
}

func eventText(e cupel.TraceEvent) string {
	return fmt.Sprintf("(stage=%s, count=%d, duration=%s, message=%.60q)", e.Stage, e.ItemCount, score(e.DurationMS), e.Message)
}
