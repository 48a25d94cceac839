package cupel

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// tracing holds what a run records for its observers. Its zero value observes
// nothing. The stages may write count at any time; everything else goes through
// methods of run that check on or items first.
type tracing struct {
	on         bool // there is an observer
	counts     bool // pass counts by reason to EndStage
	items      bool // record which items were left out, and why
	itemEvents bool // make an event for each item
	excludes   bool // pass the items left out to EndStage
	includes   bool // pass the items of the window to EndStage
	report     bool // pass a report to EndRun
	detail     TraceDetail

	recorder TraceCollector // receives events
	state    RunTrace       // receives starts and ends; nil for a plain collector

	runStart, stageStart moment
	times                *strategyTimes // of the current stage; nil unless the observer asked for them
	countIn              int
	open                 bool          // the stage's start was reported, its end not yet
	left                 PipelineStage // the stage in which the run was abandoned
	count                int           // items leaving the current stage
	placed               []int
	reasons              reasonCounts // of the current stage; a streaming run has one for each stage

	excluded  []ExcludedItem // pooled
	stages    []int          // by excluded: an ascending number of its stage; pooled
	stageFrom int            // where the exclusions of the current stage begin
	included  []IncludedItem // pooled

	messages []byte // of item events; pooled
	ends     []int  // where each message ends; pooled
}

// forget clears everything but the memory, which the next run reuses.
func (t *tracing) forget() {
	clear(t.excluded)
	t.reasons.reset()
	if t.report {
		t.included = nil // it belongs to the report
	}
	clear(t.included)
	*t = tracing{included: t.included[:0], excluded: t.excluded[:0], stages: t.stages[:0], messages: t.messages[:0], ends: t.ends[:0], reasons: t.reasons}
}

// observe asks the collector whether to observe this run, and in what detail.
func (r *run) observe(ctx context.Context, collector TraceCollector) context.Context {
	if collector == nil || !collector.IsEnabled() {
		return ctx
	}
	t := &r.trace
	t.runStart = r.pipeline.now()
	// A collector without the extension cannot say how much it wants, so it
	// gets every event.
	detail := TraceDetail{ItemEvents: true}
	t.recorder = collector
	if observer, ok := collector.(RunObserver); ok {
		observed, state := observer.StartRun(ctx, RunInfo{
			Start: t.runStart.clock, Candidates: len(r.items), Items: r.items, Budget: r.budget, DryRun: r.dry, Streaming: r.stream != nil,
			Prepared: r.prepared != nil, Preparing: r.preparing, Preparation: r.preparation, Pipeline: r.pipeline.config.Name, PolicyHash: r.pipeline.config.PolicyHash,
		})
		if observed != nil {
			ctx = observed
		}
		if isNil(state) {
			return ctx
		}
		t.state, detail = state, state.Detail()
		if recorder, ok := state.(TraceCollector); ok {
			t.recorder = recorder
		}
	}
	t.on, t.detail = true, detail
	t.counts, t.itemEvents, t.report = detail.Reasons, detail.ItemEvents, detail.Report
	t.excludes, t.includes = detail.Items || detail.Exclusions, detail.Items
	t.items = r.preparing || detail.ItemEvents || t.excludes || detail.Report
	return ctx
}

func (r *run) startStage(ctx context.Context, stage PipelineStage) context.Context {
	t := &r.trace
	t.stageFrom, t.count = len(t.excluded), 0
	t.reasons.reset()
	switch stage {
	case StageClassify:
		t.countIn = len(r.items)
	case StageScore, StageDeduplicate:
		t.countIn = len(r.scoreable)
	case StageSlice:
		t.countIn = len(r.unique)
	case StagePlace:
		t.countIn = len(r.pinned) + r.numSelected()
	}
	t.stageStart = r.pipeline.now()
	if t.state == nil {
		return ctx
	}
	if c := t.state.StartStage(ctx, StageStart{stage, t.stageStart.clock, t.countIn, t.stageStart.real}.by(t.detail)); c != nil {
		ctx = c
	}
	t.open = true
	t.times = t.timesOf(ctx, stage)
	return ctx
}

func (r *run) endStage(ctx context.Context, stage PipelineStage, err error) {
	t := &r.trace
	end := r.pipeline.now() // before anything is built, so that observing is not measured
	if stage == StagePlace && err == nil && (t.includes || t.itemEvents || t.report) {
		r.explainIncluded()
	}
	if t.itemEvents {
		r.recordItems(stage)
	}
	e := StageEnd{Stage: stage, CountIn: t.countIn, Err: err}
	if err == nil {
		e.CountOut = t.count
		t.recorder.RecordStageEvent(TraceEvent{Stage: stage, DurationMS: milliseconds(end.sub(t.stageStart).clock), ItemCount: t.count})
	}
	r.tellStageEnd(ctx, e, end)
}

func (r *run) tellStageEnd(ctx context.Context, e StageEnd, end moment) {
	t := &r.trace
	if t.state == nil {
		return
	}
	t.open = false
	e.Strategies = t.times.close()
	e = e.lasting(t.stageStart, end, end.sub(t.stageStart))
	if t.counts {
		e.Reasons = t.reasons.all()
	}
	if t.excludes {
		e.Excluded = slices.Clip(t.excluded[t.stageFrom:])
	}
	if t.includes && e.Stage == StagePlace {
		e.Included = slices.Clip(t.included)
	}
	if !t.detail.Lent { // the originals go into the report, or back into the pool
		e.Excluded, e.Included = slices.Clone(e.Excluded), slices.Clone(e.Included)
	}
	t.state.EndStage(ctx, e.by(t.detail))
}

func (r *run) end(ctx context.Context, err error) {
	t := &r.trace
	if t.state == nil {
		return
	}
	e, end := RunEnd{Err: err}, r.pipeline.now()
	if err == nil {
		var tokens exact.Sum
		for _, item := range r.window {
			tokens.Add(item.tokens)
		}
		e.Selected, e.SelectedTokens = len(r.window), tokens.Int()
		e.Shortfalls, e.Overflow = slices.Clone(r.shortfalls), r.over
	}
	r.tellRunEnd(ctx, e, end)
}

func (r *run) tellRunEnd(ctx context.Context, e RunEnd, end moment) {
	t := &r.trace
	state := t.state
	if state == nil {
		return
	}
	if t.report {
		e.Report = r.buildReport()
	}
	t.state = nil // EndRun is called once, even if it panics
	e.Start, e.End, e.real = t.runStart.clock, end.clock, realTimes{start: t.runStart.real, end: end.real}
	state.EndRun(ctx, e.by(t.detail))
}

// exclude records that a candidate was left out, if the observer wants to know.
func (r *run) exclude(candidate int, score float64, reason ExclusionReason) {
	t := &r.trace
	if r.stream != nil {
		r.stream.stageOf(r.stream.current).reasons.add(reason.Code, 1)
	} else if t.counts {
		t.reasons.add(reason.Code, 1)
	}
	if !t.items {
		return
	}
	at := originOf(candidate)
	if r.units != nil {
		at = (at | originHasAt).withStale(r.units.isStale(candidate))
	}
	t.excluded = append(t.excluded, ExcludedItem{Item: r.items[candidate], Score: score, Reason: reason, at: at})
	t.stages = append(t.stages, t.stageFrom)
}

// why reports whether the observer wants to know why items are left out.
func (t *tracing) why() bool { return t.counts || t.items }

// expect makes room for n more exclusions.
func (t *tracing) expect(n int) {
	t.excluded = slices.Grow(t.excluded, n)
	t.stages = slices.Grow(t.stages, n)
}

func (r *run) explainIncluded() {
	if r.units != nil {
		r.explainIncludedUnits()
		return
	}
	t := &r.trace
	t.included = resize(t.included, len(t.placed))
	for i, at := range t.placed {
		m := r.mergedFrom[at]
		item, reason := r.items[m.candidate], IncludeScored
		switch {
		case item.pinned: // before the tokens are checked (R26)
			reason = IncludePinned
		case item.tokens == 0:
			reason = IncludeZeroToken
		}
		t.included[i] = IncludedItem{Item: item, Score: m.score, Reason: reason, at: originOf(m.candidate)}
	}
}

// recordItems makes an event for each item that the stage decided on: items
// left out, shortfalls and, at Place, items included (R33).
func (r *run) recordItems(stage PipelineStage) {
	t := &r.trace
	t.messages, t.ends = t.messages[:0], t.ends[:0]
	end := func() { t.ends = append(t.ends, len(t.messages)) }
	for i := t.stageFrom; i < len(t.excluded); i++ {
		t.messages = t.excluded[i].Reason.append(t.messages)
		end()
	}
	if stage == StageSlice {
		for _, s := range r.shortfalls {
			t.messages = append(t.messages, s.String()...)
			end()
		}
	}
	if stage == StagePlace {
		for i := range t.included {
			t.messages = t.included[i].append(t.messages)
			end()
		}
	}

	if len(t.ends) == 0 {
		return
	}
	all := string(t.messages) // one allocation for all of them
	if c, ok := t.recorder.(*DiagnosticTraceCollector); ok && c.settings.callback == nil {
		c.recordItems(stage, all, t.ends)
		return
	}
	begin := 0
	for _, end := range t.ends {
		t.recorder.RecordItemEvent(TraceEvent{Stage: stage, ItemCount: 1, Message: all[begin:end]})
		begin = end
	}
}

// buildReport makes the report of the run as far as it got.
func (r *run) buildReport() *SelectionReport {
	var tokens exact.Sum
	for _, item := range r.items {
		tokens.Add(item.Tokens())
	}
	candidates := len(r.items)
	if r.stream != nil { // items belong to one batch
		candidates, tokens = r.stream.total, r.stream.tokens
		if r.stream.groups != nil { // entries from before the first unit
			for i := range r.trace.excluded {
				r.trace.excluded[i].at |= originHasAt | originHasStale
			}
		}
	}
	return &SelectionReport{
		Included:                   r.trace.included,
		Excluded:                   r.trace.sortedExclusions(),
		TotalCandidates:            candidates,
		TotalTokensConsidered:      tokens.Int(),
		CountRequirementShortfalls: slices.Clone(r.shortfalls),
		Overflow:                   r.overflow,
	}
}

// sortedExclusions returns the exclusions by score, then stage, then candidate
// (R34). Usually they were made in that order, and the list itself becomes the
// report's. Otherwise it sorts small keys and moves each exclusion once.
func (t *tracing) sortedExclusions() []ExcludedItem {
	keys := order.Borrow(len(t.excluded))
	defer keys.Return()
	for i := range t.excluded {
		keys.Pairs[i] = order.Pair{Key: order.Key(t.excluded[i].Score), Index: i}
	}
	// Exclusions were made in the order of stages and, within a stage, of
	// candidates, except where a slicer dropped items in its own order.
	byOrigin := func(a, b order.Pair) int {
		return cmp.Or(cmp.Compare(t.stages[a.Index], t.stages[b.Index]), cmp.Compare(t.excluded[a.Index].Candidate(), t.excluded[b.Index].Candidate()))
	}
	sorted := slices.IsSortedFunc(keys.Pairs, func(a, b order.Pair) int {
		if a.Key != b.Key {
			return cmp.Compare(b.Key, a.Key)
		}
		return byOrigin(a, b)
	})
	if n := len(t.excluded); sorted && n > 0 && cap(t.excluded) <= 2*n { // not memory that a longer run left behind
		list := t.excluded
		t.excluded = nil // now it belongs to the report
		return list
	}

	order.SortDescending(keys.Pairs)
	for rest := keys.Pairs; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Key == rest[0].Key {
			n++
		}
		slices.SortFunc(rest[:n], byOrigin)
		rest = rest[n:]
	}
	list := make([]ExcludedItem, len(keys.Pairs))
	for i, k := range keys.Pairs {
		list[i] = t.excluded[k.Index]
	}
	return list
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
