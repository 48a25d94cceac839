package cupeltest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// A CollectorOption describes a collector to [TestTraceCollector].
type CollectorOption func(*collectorKit)

// WithDetailLevel sets the level at which the collector records. Without it the
// collector may record all item events or none.
func WithDetailLevel(level cupel.TraceDetailLevel) CollectorOption {
	return func(k *collectorKit) { k.levelKnown, k.wantsItems = true, level >= cupel.TraceDetailItem }
}

// WithEvents sets a function that returns the recorded events, oldest first. It
// is not needed for a collector with a method Events() []cupel.TraceEvent.
// Without either, the rules about recorded events are not checked.
func WithEvents(events func() []cupel.TraceEvent) CollectorOption {
	return func(k *collectorKit) { k.events = events }
}

// WithConcurrentRuns also checks that several runs may use the collector
// concurrently, which the contract does not require.
func WithConcurrentRuns() CollectorOption {
	return func(k *collectorKit) { k.concurrent = true }
}

// TestTraceCollector checks that a collector keeps the contracts of
// [cupel.TraceCollector] and, if it implements it, of [cupel.RunObserver], and
// reports each broken rule. The collector receives made-up events and follows
// runs of a pipeline, including runs that fail.
func TestTraceCollector(t T, c cupel.TraceCollector, opts ...CollectorOption) {
	t.Helper()
	if c == nil {
		t.Errorf("TestTraceCollector: the collector is nil; use cupel.NullTraceCollector{} for one that is not enabled")
		t.FailNow()
		return
	}
	k := &collectorKit{collector: c}
	if readable, ok := c.(interface{ Events() []cupel.TraceEvent }); ok {
		k.events = readable.Events
	}
	for _, opt := range opts {
		if opt != nil {
			opt(k)
		}
	}
	hold(t, "collector", c, k.rules())
}

type collectorKit struct {
	collector  cupel.TraceCollector
	events     func() []cupel.TraceEvent // nil if events cannot be read
	levelKnown bool
	wantsItems bool
	concurrent bool
}

func (k *collectorKit) rules() []rule {
	rules := []rule{
		{"IsEnabled gives the same answer until something is changed.", k.answersTheSame},
		{"every event is taken, those of unknown stages too, without a panic.", k.takesEverything},
	}
	enabled := false
	protect(func() string { enabled = k.collector.IsEnabled(); return "" })
	if !enabled {
		rules = append(rules, rule{"a collector that is not enabled allocates nothing, neither in IsEnabled nor for an event.", k.allocatesNothing})
		if k.events != nil {
			rules = append(rules, rule{"a collector that is not enabled records nothing.", k.recordsNothing})
		}
	} else if k.events != nil {
		rules = append(rules,
			rule{"every stage event is recorded, at any level.", k.recordsStages},
			rule{"item events are recorded at level Item and above, and discarded at level Stage.", k.recordsItems},
			rule{"events stay in the order in which they came.", k.keepsOrder},
			rule{"the events of a run are all there, a run that failed included.", k.recordsRuns},
		)
	}
	rules = append(rules,
		rule{"observing a run does not change its result.", k.changesNothing},
		rule{"a context that an observer returns carries the values and the end of the one that it was given.", k.keepsContext},
	)
	if k.concurrent {
		rules = append(rules, rule{"runs at once may share the collector (WithConcurrentRuns).", k.runsConcurrently})
	}
	return rules
}

func (k *collectorKit) answersTheSame() string {
	first := k.collector.IsEnabled()
	for range 10 {
		if k.collector.IsEnabled() != first {
			return fmt.Sprintf("%t, then %t", first, !first)
		}
	}
	return ""
}

// oddEvents are valid events that no pipeline of this module emits.
var oddEvents = []cupel.TraceEvent{
	{},
	{Stage: "Sort", DurationMS: 0.5, ItemCount: 3},
	{Stage: cupel.StagePlace, DurationMS: math.NaN(), ItemCount: math.MinInt},
	{Stage: cupel.StageSlice, DurationMS: -1, ItemCount: math.MaxInt, Message: "\x00\xff"},
}

func (k *collectorKit) takesEverything() string {
	for _, event := range oddEvents {
		if found := protect(func() string { k.collector.RecordStageEvent(event); return "" }); found != "" {
			return fmt.Sprintf("RecordStageEvent of %s: %s", eventText(event), found)
		}
		if found := protect(func() string { k.collector.RecordItemEvent(event); return "" }); found != "" {
			return fmt.Sprintf("RecordItemEvent of %s: %s", eventText(event), found)
		}
	}
	return ""
}

// allocatesNothing looks for a round without allocations. The rounds get
// longer, so a growing buffer must allocate in each of them, while allocations
// of other goroutines do not fall into every round.
func (k *collectorKit) allocatesNothing() string {
	event := cupel.TraceEvent{Stage: cupel.StageScore, DurationMS: 1, ItemCount: 1}
	least := uint64(math.MaxUint64)
	for calls := 64; calls <= 8192; calls *= 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			if k.collector.IsEnabled() {
				return "IsEnabled returns true"
			}
			k.collector.RecordStageEvent(event)
			k.collector.RecordItemEvent(event)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least > 0 {
		return "every round of calls allocates"
	}
	return ""
}

// numbered returns an event identified by its count.
func numbered(stage cupel.PipelineStage, n int) cupel.TraceEvent {
	return cupel.TraceEvent{Stage: stage, ItemCount: n}
}

// timed returns an event with a duration and a message, which must be recorded
// too.
func timed(stage cupel.PipelineStage, n int) cupel.TraceEvent {
	return cupel.TraceEvent{Stage: stage, ItemCount: n, DurationMS: 1.5 + float64(n), Message: "made up"}
}

// recorded returns the events that tell added.
func (k *collectorKit) recorded(tell func()) (added []cupel.TraceEvent, problem string) {
	before := slices.Clone(k.events())
	tell()
	after := k.events()
	if len(after) < len(before) || !sameEvents(before, after[:len(before)]) {
		return nil, "events that had been recorded before are gone or changed"
	}
	return after[len(before):], ""
}

func (k *collectorKit) recordsNothing() string {
	added, problem := k.recorded(func() {
		k.collector.RecordStageEvent(numbered(cupel.StageScore, 1))
		k.collector.RecordItemEvent(numbered(cupel.StageScore, 2))
	})
	if problem == "" && len(added) > 0 {
		problem = fmt.Sprintf("%d events", len(added))
	}
	return problem
}

var stageOrder = []cupel.PipelineStage{cupel.StageClassify, cupel.StageScore, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace}

func (k *collectorKit) recordsStages() string {
	for i, stage := range stageOrder {
		for _, event := range []cupel.TraceEvent{numbered(stage, i), timed(stage, i)} {
			added, problem := k.recorded(func() { k.collector.RecordStageEvent(event) })
			if problem == "" && !sameEvents(added, []cupel.TraceEvent{event}) {
				problem = fmt.Sprintf("for stage %s the event %s was sent and these were recorded: [%s]", stage, eventText(event), eventTexts(added))
			}
			if problem != "" {
				return problem
			}
		}
	}
	return ""
}

func (k *collectorKit) recordsItems() string {
	want := k.wantsItems
	for i, stage := range stageOrder {
		event := numbered(stage, 1)
		event.Message = "BudgetExceeded: made up"
		added, problem := k.recorded(func() { k.collector.RecordItemEvent(event) })
		if problem != "" {
			return problem
		}
		if i == 0 && !k.levelKnown {
			want = len(added) > 0
		}
		switch {
		case want && !sameEvents(added, []cupel.TraceEvent{event}):
			return fmt.Sprintf("for stage %s the item event %s was sent and these were recorded: [%s]", stage, eventText(event), eventTexts(added))
		case !want && len(added) > 0:
			return fmt.Sprintf("an item event of stage %s was recorded", stage)
		}
	}
	return ""
}

func (k *collectorKit) keepsOrder() string {
	added, problem := k.recorded(func() {
		for i := range 20 {
			event := numbered(stageOrder[i%len(stageOrder)], i)
			if i%3 == 0 {
				k.collector.RecordStageEvent(event)
			} else {
				k.collector.RecordItemEvent(event)
			}
		}
	})
	if problem != "" {
		return problem
	}
	last := -1
	for _, event := range added {
		if event.ItemCount < last {
			return fmt.Sprintf("event %d comes after event %d", event.ItemCount, last)
		}
		last = event.ItemCount
	}
	return ""
}

// recordsRuns compares the collector's events after a run with those of another
// collector of the same run. The collector may have dropped earlier events.
func (k *collectorKit) recordsRuns() string {
	for _, run := range kitRuns() {
		var stages, all []cupel.TraceEvent
		_, _ = run.start(context.Background(), cupel.TraceFuncs{
			StageEvent: func(e cupel.TraceEvent) { stages, all = append(stages, e), append(all, e) },
			ItemEvent:  func(e cupel.TraceEvent) { all = append(all, e) },
		})
		_, _ = run.start(context.Background(), k.collector)
		got, stages, all := untimed(k.events()), untimed(stages), untimed(all)
		ends := func(want []cupel.TraceEvent) bool {
			return len(got) >= len(want) && sameEvents(got[len(got)-len(want):], want)
		}
		want := all
		if k.levelKnown && !k.wantsItems || !k.levelKnown && !ends(all) {
			want = stages
		}
		if !ends(want) {
			return fmt.Sprintf("%s: the last of %d events are [%s], want [%s]", run.name, len(got), eventTexts(got[max(0, len(got)-len(want)):]), eventTexts(want))
		}
	}
	return ""
}

func (k *collectorKit) changesNothing() string {
	for _, run := range kitRuns() {
		want, wantErr := run.start(context.Background(), nil)
		got, err := run.start(context.Background(), k.collector)
		switch {
		case fmt.Sprint(wantErr) != fmt.Sprint(err):
			return fmt.Sprintf("%s: the error is %v, and %v under observation", run.name, wantErr, err)
		case !slices.Equal(want, got):
			return fmt.Sprintf("%s: %d items are selected, and others or in another order under observation", run.name, len(want))
		}
	}
	return ""
}

type contextKey struct{}

func (k *collectorKit) keepsContext() string {
	for _, run := range kitRuns() {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), contextKey{}, run.name))
		seen := *run.seen
		_, _ = run.start(ctx, k.collector)
		cancel()
		for _, inside := range (*run.seen)[len(seen):] {
			switch {
			case inside.Value(contextKey{}) != run.name:
				return run.name + ": a value of the run's context does not reach the strategies"
			case inside.Err() == nil:
				return run.name + ": the run's context is canceled, and that of the strategies is not"
			}
		}
	}
	return ""
}

func (k *collectorKit) runsConcurrently() string {
	found := make(chan string, kitGoroutines)
	for range kitGoroutines {
		go func() { found <- protect(k.changesNothing) }()
	}
	first := ""
	for range kitGoroutines {
		if problem := <-found; problem != "" {
			first = problem
		}
	}
	return first
}

func sameEvents(a, b []cupel.TraceEvent) bool {
	return slices.EqualFunc(a, b, func(x, y cupel.TraceEvent) bool {
		return x.Stage == y.Stage && x.ItemCount == y.ItemCount && x.Message == y.Message && sameScore(x.DurationMS, y.DurationMS)
	})
}

// untimed returns the events without durations, which differ from run to run.
func untimed(events []cupel.TraceEvent) []cupel.TraceEvent {
	events = slices.Clone(events)
	for i := range events {
		events[i].DurationMS = 0
	}
	return events
}

func eventText(e cupel.TraceEvent) string {
	duration := ""
	if e.DurationMS != 0 {
		duration = ", duration=" + score(e.DurationMS)
	}
	return fmt.Sprintf("(stage=%s, count=%d%s, message=%q)", e.Stage, e.ItemCount, duration, e.Message)
}

func eventTexts(events []cupel.TraceEvent) string {
	var texts []string
	for _, event := range events {
		texts = append(texts, eventText(event))
	}
	return strings.Join(texts, ", ")
}
