package cupeltest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// A CollectorOption describes a collector to [TestTraceCollector].
type CollectorOption interface{ applyCollector(*collectorKit) }

type collectorOption func(*collectorKit)

func (o collectorOption) applyCollector(k *collectorKit) { o(k) }

// WithDetailLevel sets the level at which the collector records. Without it the
// collector may record all item events or none.
func WithDetailLevel(level observe.TraceDetailLevel) CollectorOption {
	return collectorOption(func(k *collectorKit) { k.levelKnown, k.wantsItems = true, level >= observe.TraceDetailItem })
}

// WithEvents sets a function that returns the recorded events of the collector
// that was made last, oldest first. It is not needed for a collector with a method Events() []cupel.TraceEvent.
// Without either, the rules about recorded events are not checked.
func WithEvents(events func() []cupel.TraceEvent) CollectorOption {
	return collectorOption(func(k *collectorKit) { k.events = events })
}

// WithConcurrentRuns also checks that several runs may use the collector
// concurrently, which the contract does not require.
func WithConcurrentRuns() CollectorOption {
	return collectorOption(func(k *collectorKit) { k.concurrent = true })
}

// TestTraceCollector checks that a collector keeps the contracts of
// [observe.TraceCollector] and, if it implements it, of [observe.RunObserver], and
// reports each broken rule. Each call of newCollector returns a new collector, one
// for each rule. The collectors receive made-up events and follow runs and
// streams of a pipeline, including runs that fail.
func TestTraceCollector(t T, newCollector func() observe.TraceCollector, opts ...CollectorOption) {
	t.Helper()
	k := &collectorKit{newCollector: newCollector}
	for _, opt := range opts {
		if opt != nil {
			opt.applyCollector(k)
		}
	}
	problem := "there is no function that makes the collector: it is nil"
	if newCollector != nil {
		problem = protect(func() string { k.renew(); return "" })
		if problem == "" && k.collector == nil {
			problem = "the collector is nil; use observe.NullTraceCollector{} for one that is not enabled"
		}
	}
	if problem != "" {
		t.Errorf("TestTraceCollector: %s", problem)
		t.FailNow()
		return
	}
	hold(t, "collector", k.collector, k.rules(), &k.options)
}

type collectorKit struct {
	newCollector func() observe.TraceCollector
	collector    observe.TraceCollector    // of the current rule
	events       func() []cupel.TraceEvent // nil if events cannot be read
	levelKnown   bool
	wantsItems   bool
	concurrent   bool
	options      kitOptions
}

// renew replaces the collector.
func (k *collectorKit) renew() { k.collector = k.newCollector() }

// readable reports whether the recorded events can be read.
func (k *collectorKit) readable() bool {
	_, ok := k.collector.(eventReader)
	return ok || k.events != nil
}

type eventReader interface{ Events() []cupel.TraceEvent }

// recordedEvents returns the events of the current collector.
func (k *collectorKit) recordedEvents() []cupel.TraceEvent {
	if k.events != nil {
		return k.events()
	}
	return k.collector.(eventReader).Events()
}

func (k *collectorKit) rules() []rule {
	var rules []rule
	add := func(sentence, cause string, broken func() string) {
		rules = append(rules, rule{sentence: sentence, cause: cause, broken: func() string {
			k.renew()
			return broken()
		}})
	}
	add("IsEnabled gives the same answer until something is changed.", "IsEnabled changes from call to call", k.answersTheSame)
	add("every event is taken, those of unknown stages too, without a panic.", "does not take every event", k.takesEverything)
	add("observing a run does not change its result.", "changes the result of a run", k.changesNothing)
	enabled := false
	protect(func() string { enabled = k.collector.IsEnabled(); return "" })
	if !enabled {
		if k.readable() {
			add("a collector that is not enabled records nothing.", "records though it is not enabled", k.recordsNothing)
		}
		add("a collector that is not enabled allocates nothing, neither in IsEnabled nor for an event.", "allocates though it is not enabled", k.allocatesNothing)
	} else if k.readable() {
		add("every stage event is recorded, at any level.", "loses or changes stage events", k.recordsStages)
		add("item events are recorded at level Item and above, and discarded at level Stage.", "records item events in a wrong way", k.recordsItems)
		add("events stay in the order in which they came.", "changes the order of events", k.keepsOrder)
		add("the events of a run are all there, a run that failed included.", "loses events of a run", k.recordsRuns)
	}
	add("a context that an observer returns carries the values and the end of the one that it was given.", "replaces the context of a run", k.keepsContext)
	add("observing runs starts no goroutine that goes on after the run, except for a number that does not grow.", "leaves goroutines behind", k.endsGoroutines)
	if enabled {
		add("recording takes time in proportion to the number of events.", "recording is slow for many events", k.slows)
		rules[len(rules)-1].advice = true
	}
	if k.concurrent {
		add("runs at once may share the collector (WithConcurrentRuns).", "runs at once change each other", k.runsConcurrently)
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

// longMessage is longer than buffers of the usual fixed sizes, on two lines.
var longMessage = strings.Repeat("made up, ", 60) + "\nand long"

// timed returns an event with a duration and a message, which must be recorded
// too.
func timed(stage cupel.PipelineStage, n int) cupel.TraceEvent {
	return cupel.TraceEvent{Stage: stage, ItemCount: n, DurationMS: 1.5 + float64(n), Message: "made up"}
}

// recorded checks the events that tell added.
func (k *collectorKit) recorded(tell func(), check func(added []cupel.TraceEvent) string) string {
	before := slices.Clone(k.recordedEvents())
	tell()
	after := k.recordedEvents()
	if !sameEvents(before, after[:min(len(before), len(after))]) {
		return "events that had been recorded before are gone or changed"
	}
	return check(after[len(before):])
}

func (k *collectorKit) recordsNothing() string {
	return k.recorded(func() {
		k.collector.RecordStageEvent(numbered(cupel.StageScore, 1))
		k.collector.RecordItemEvent(numbered(cupel.StageScore, 2))
	}, func(added []cupel.TraceEvent) string {
		if len(added) > 0 {
			return fmt.Sprintf("%d events", len(added))
		}
		return ""
	})
}

var stageOrder = []cupel.PipelineStage{cupel.StageClassify, cupel.StageScore, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace}

func (k *collectorKit) recordsStages() string {
	for i, stage := range stageOrder {
		for _, event := range []cupel.TraceEvent{numbered(stage, i), timed(stage, i)} {
			found := k.recorded(func() { k.collector.RecordStageEvent(event) }, func(added []cupel.TraceEvent) string {
				if sameEvents(added, []cupel.TraceEvent{event}) {
					return ""
				}
				return fmt.Sprintf("for stage %s the event %s was sent and these were recorded: [%s]", stage, eventText(event), eventTexts(added))
			})
			if found != "" {
				return found
			}
		}
	}
	long := numbered(cupel.StageSlice, 1)
	long.Message = longMessage
	found := k.recorded(func() { k.collector.RecordStageEvent(long) }, func(added []cupel.TraceEvent) string {
		if sameEvents(added, []cupel.TraceEvent{long}) {
			return ""
		}
		return fmt.Sprintf("an event with a message of %d bytes in two lines is not recorded as it was sent", len(longMessage))
	})
	if found != "" {
		return found
	}
	return k.recorded(func() {
		for i := range manyEvents {
			k.options.began()
			k.collector.RecordStageEvent(numbered(stageOrder[i%len(stageOrder)], i))
		}
	}, func(added []cupel.TraceEvent) string {
		if len(added) != manyEvents {
			return fmt.Sprintf("%d events were sent and %d were recorded", manyEvents, len(added))
		}
		return ""
	})
}

// manyEvents is more than buffers of the usual fixed sizes hold.
const manyEvents = 1500

func (k *collectorKit) recordsItems() string {
	want := k.wantsItems
	for i, stage := range stageOrder {
		event := numbered(stage, 1)
		event.Message = "BudgetExceeded: made up"
		found := k.recorded(func() { k.collector.RecordItemEvent(event) }, func(added []cupel.TraceEvent) string {
			if i == 0 && !k.levelKnown {
				want = len(added) > 0
			}
			switch {
			case want && !sameEvents(added, []cupel.TraceEvent{event}):
				return fmt.Sprintf("for stage %s the item event %s was sent and these were recorded: [%s]", stage, eventText(event), eventTexts(added))
			case !want && len(added) > 0:
				return fmt.Sprintf("an item event of stage %s was recorded", stage)
			}
			return ""
		})
		if found != "" {
			return found
		}
	}
	return ""
}

func (k *collectorKit) keepsOrder() string {
	return k.recorded(func() {
		for i := range manyEvents {
			k.options.began()
			event := numbered(stageOrder[i%len(stageOrder)], i)
			if i%3 == 0 {
				k.collector.RecordStageEvent(event)
			} else {
				k.collector.RecordItemEvent(event)
			}
		}
	}, func(added []cupel.TraceEvent) string {
		last := 0
		for _, event := range added {
			if event.ItemCount < last {
				return fmt.Sprintf("event %d comes after event %d", event.ItemCount, last)
			}
			last = event.ItemCount
		}
		return ""
	})
}

// recordsRuns compares the collector's events after a run with those of another
// collector of the same run. The collector may have dropped earlier events.
func (k *collectorKit) recordsRuns() string {
	for _, run := range kitRuns() {
		var stages, all []cupel.TraceEvent
		_, _ = run.start(context.Background(), observe.Funcs{
			StageEvent: func(e cupel.TraceEvent) { stages, all = append(stages, e), append(all, e) },
			ItemEvent:  func(e cupel.TraceEvent) { all = append(all, e) },
		})
		_, _ = run.start(context.Background(), k.collector)
		got, stages, all := untimed(k.recordedEvents()), untimed(stages), untimed(all)
		last := func(n int) []cupel.TraceEvent { return got[len(got)-min(n, len(got)):] }
		ends := func(want []cupel.TraceEvent) bool { return sameEvents(last(len(want)), want) }
		want := all
		if k.levelKnown && !k.wantsItems || !k.levelKnown && !ends(all) {
			want = stages
		}
		if !ends(want) {
			return fmt.Sprintf("%s: the last of %d events are [%s], want [%s]", run.name, len(got), eventTexts(last(len(want))), eventTexts(want))
		}
	}
	return ""
}

// changesNothing compares errors: an observer may end a run, and gets nothing
// that would change what the run selects.
func (k *collectorKit) changesNothing() string {
	for _, run := range kitRuns() {
		_, want := run.start(context.Background(), nil)
		_, err := run.start(context.Background(), k.collector)
		if fmt.Sprint(want) != fmt.Sprint(err) {
			return fmt.Sprintf("%s: the error is %v, and %v under observation", run.name, want, err)
		}
	}
	return ""
}

type contextKey struct{}

func (k *collectorKit) keepsContext() string {
	for _, run := range kitRuns() {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), contextKey{}, run.name))
		seen := run.spy.seen
		_, _ = run.start(ctx, k.collector)
		cancel()
		for _, inside := range run.spy.seen[len(seen):] {
			switch {
			case inside.Value(contextKey{}) != run.name:
				return run.name + ": a value of the run's context does not reach the strategies"
			case deadlined(inside):
				return run.name + ": the run's context has no deadline, and that of the strategies has one"
			case inside.Err() == nil:
				return run.name + ": the run's context is canceled, and that of the strategies is not"
			}
		}
	}
	return ""
}

func deadlined(ctx context.Context) bool {
	_, ok := ctx.Deadline()
	return ok
}

func (k *collectorKit) endsGoroutines() string {
	runs := kitRuns()
	before, after := leftBehind(func() {
		for _, run := range runs {
			_, _ = run.start(context.Background(), k.collector)
		}
	})
	if after > before {
		return fmt.Sprintf("%d runs: %d goroutines after a third of them, %d after all", 3*len(runs), before, after)
	}
	return ""
}

func (k *collectorKit) slows() string {
	return growth("events", func(n int) func() {
		k.renew()
		return func() {
			for i := range n {
				k.options.began()
				k.collector.RecordStageEvent(numbered(cupel.StageScore, i))
				k.collector.RecordItemEvent(numbered(cupel.StageScore, i))
			}
		}
	})
}

func (k *collectorKit) runsConcurrently() string {
	found := make(chan string, kitGoroutines)
	for range kitGoroutines {
		go func() { found <- protect(k.changesNothing) }()
	}
	first := ""
	for range kitGoroutines {
		first = cmp.Or(first, <-found)
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
