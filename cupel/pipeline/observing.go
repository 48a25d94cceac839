package pipeline

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/internal/timing"
	"github.com/wollax/cupel-go/cupel/internal/value"
	"github.com/wollax/cupel-go/cupel/observe"
)

// stageNumber is the position of a stage in the order in which stages run.
type stageNumber int

const (
	classify stageNumber = iota
	score
	deduplicate
	slice
	place
	numStages
	noStage stageNumber = -1
)

var stageNames = [numStages]cupel.PipelineStage{
	cupel.StageClassify, cupel.StageScore, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace,
}

// observer tells the observers of a run what happens. Its zero value tells nothing.
type observer struct {
	on       bool
	detail   observe.TraceDetail
	recorder observe.TraceCollector // gets events
	state    observe.RunTrace       // gets starts and ends; nil for a plain collector
	start    time.Time
	stages   [numStages]stageState
	current  stageNumber // the stage that runs

	excluded []cupel.ExcludedItem
	stageOf  []stageNumber // by excluded
	told     int           // of excluded, those that the recorder has
	included []cupel.IncludedItem
}

// stageState is what is known of a stage. A streaming run enters a stage once for
// each batch.
type stageState struct {
	ctx     context.Context // the stage's; nil before its start
	open    bool            // the start was told, the end was not
	inside  bool            // entered, and not left
	start   time.Time
	entered time.Time
	end     time.Time
	busy    time.Duration
	in, out int
	reasons reasonCounts
	times   *timing.Stage // nil unless the observer asked for them
	err     error
}

// why reports whether the observer wants to know why items are left out.
func (o *observer) why() bool { return o.on && (o.detail.Reasons || o.items()) }

// items reports whether the observer wants to know which items are left out.
func (o *observer) items() bool {
	return o.detail.ItemEvents || o.detail.Items || o.detail.Exclusions || o.detail.Report
}

// observe asks the collector whether to observe this run, and in what detail.
func (r *run) observe(ctx context.Context, collector observe.TraceCollector, info observe.RunInfo) context.Context {
	o := &r.observer
	o.current = noStage
	if collector == nil || !collector.IsEnabled() {
		return ctx
	}
	o.start = r.config.Clock()
	o.recorder = collector
	// A collector without the extension cannot say how much it wants, so it gets
	// every event.
	o.detail = observe.TraceDetail{ItemEvents: true}
	if follows, ok := collector.(observe.RunObserver); ok {
		info.Start, info.Budget, info.Pipeline, info.PolicyHash = o.start, r.budget, r.config.Name, r.config.PolicyHash
		observed, state := follows.StartRun(ctx, info)
		if observed != nil {
			ctx = observed
		}
		if value.IsNil(state) {
			return ctx
		}
		o.state, o.detail = state, state.Detail()
		if recorder, ok := state.(observe.TraceCollector); ok {
			o.recorder = recorder
		}
	}
	o.on = true
	return ctx
}

// enter starts a stage, or resumes it for another batch. It returns the context for
// the stage's strategy.
func (r *run) enter(ctx context.Context, stage stageNumber, in int) context.Context {
	o := &r.observer
	if !o.on {
		return ctx
	}
	st := &o.stages[stage]
	st.entered = r.config.Clock()
	st.inside = true
	st.in += in
	if st.ctx == nil {
		r.tellStageStart(ctx, stage, in)
	}
	o.current = stage // not before: during the call of StartStage the stage does not run
	return st.ctx
}

// tellStageStart tells of the start of a stage, and sets the stage's context.
func (r *run) tellStageStart(ctx context.Context, stage stageNumber, in int) {
	o := &r.observer
	st := &o.stages[stage]
	st.ctx, st.start = ctx, st.entered
	if o.state == nil {
		return
	}
	start := observe.StageStart{Stage: stageNames[stage], Start: st.start, CountIn: in}
	if r.streaming && stage != place { // only Place knows at its start how many items will enter
		start.CountIn = 0
	}
	if c := o.state.StartStage(ctx, start); c != nil {
		st.ctx = c
	}
	st.open = true
	if o.detail.Strategies && stage != classify && stage != deduplicate {
		st.times = timing.Start(st.ctx)
	}
}

// leave records that the current stage has finished a batch.
func (r *run) leave() {
	o := &r.observer
	if o.on && o.current != noStage {
		o.stages[o.current].leave(r.config.Clock())
	}
	o.current = noStage
}

func (st *stageState) leave(now time.Time) {
	st.end, st.inside = now, false
	st.busy += now.Sub(st.entered)
}

// stage runs one stage for one batch, and tells of its items. do returns the number
// of items that leave the stage.
func (r *run) stage(ctx context.Context, stage stageNumber, in int, do func(ctx context.Context) (int, error)) error {
	ctx = r.enter(ctx, stage, in)
	o := &r.observer
	st := &o.stages[stage]
	inner := ctx
	if st.times != nil {
		inner = st.times.Context()
	}
	n, err := 0, inner.Err()
	if err == nil {
		n, err = do(inner)
	}
	err = canceled(ctx, stage, err) // the observer may have given the stage a deadline of its own
	r.leave()                       // before anything is built, so that observing is not measured
	if !o.on {
		return err
	}
	if st.err = err; err == nil {
		st.out += n
	}
	r.tellItems(stage, err)
	return err
}

// tellItems makes the events for the latest decisions of a stage.
func (r *run) tellItems(stage stageNumber, err error) {
	o := &r.observer
	if stage == place && err == nil && (o.detail.Items || o.detail.ItemEvents || o.detail.Report) {
		o.included = slices.Grow(o.included, len(r.order))
		for _, at := range r.order {
			o.included = r.include(o.included, &r.choice.Merged[at], &r.placed[at])
		}
	}
	if o.detail.ItemEvents {
		r.tellItemEvents(stage, err)
	}
	if !o.detail.Items && !o.detail.Exclusions && !o.detail.Report { // nothing else wants them
		o.excluded, o.stageOf = o.excluded[:0], o.stageOf[:0]
	}
	o.told = len(o.excluded)
}

func (r *run) tellItemEvents(stage stageNumber, err error) {
	o := &r.observer
	tell := func(message string) {
		o.recorder.RecordItemEvent(cupel.TraceEvent{Stage: stageNames[stage], ItemCount: 1, Message: message})
	}
	o.during(stage, func() {
		for i := o.told; i < len(o.excluded); i++ {
			tell(o.excluded[i].Reason.String())
		}
		if stage == slice && err == nil {
			for _, s := range r.selection.Shortfalls {
				tell(s.String())
			}
		}
		if stage == place {
			for i := range o.included {
				tell(o.included[i].String())
			}
		}
	})
}

// during calls a recorder, whose panic is one of the stage.
func (o *observer) during(stage stageNumber, record func()) {
	before := o.current
	o.current = stage
	record()
	o.current = before
}

// leftOut records that candidates were left out, if somebody wants to know.
func (r *run) leftOut(list []engine.Decision) {
	if !r.observer.why() && r.tally == nil {
		return
	}
	if o := &r.observer; o.items() {
		o.excluded, o.stageOf = slices.Grow(o.excluded, len(list)), slices.Grow(o.stageOf, len(list))
	}
	if r.tally == nil && !r.observer.items() { // only the numbers matter
		for i := range list {
			r.observer.stages[r.observer.current].reasons.add(r.codeOf(&list[i]))
		}
		return
	}
	for i := range list {
		d := &list[i]
		r.exclude(cupel.ExcludedItem{
			Item: r.items[d.Candidate], Score: d.Score, Reason: r.reasonOf(d), Candidate: r.position(d.Candidate), Stale: r.set.IsStale(d.Candidate), Units: r.columns.Links != nil,
		})
	}
}

func (r *run) exclude(e cupel.ExcludedItem) {
	o := &r.observer
	if r.tally != nil {
		r.tally[e.Reason.Code]++
	}
	if !o.on {
		return
	}
	o.stages[o.current].reasons.add(e.Reason.Code)
	if o.items() {
		o.excluded, o.stageOf = append(o.excluded, e), append(o.stageOf, o.current)
	}
}

// codes are those of the engine's codes, except for what a slicer dropped.
var codes = [...]cupel.ExclusionCode{
	engine.NegativeTokens: cupel.ExcludeNegativeTokens, engine.Superseded: cupel.ExcludeSuperseded, engine.NearCopy: cupel.ExcludeNearDuplicate,
	engine.Duplicate: cupel.ExcludeDeduplicated, engine.OverBudget: cupel.ExcludeBudgetExceeded, engine.PinnedFirst: cupel.ExcludePinnedOverride,
}

func (r *run) codeOf(d *engine.Decision) cupel.ExclusionCode {
	if d.Code == engine.Dropped {
		return r.selection.Drops[d.Tokens].Reason.Code
	}
	return codes[d.Code]
}

// reasonOf says why a candidate was left out.
func (r *run) reasonOf(d *engine.Decision) cupel.ExclusionReason {
	switch d.Code {
	case engine.NegativeTokens:
		return data.Reason(cupel.ExcludeNegativeTokens, d.Tokens, 0, nil)
	case engine.Superseded:
		return data.Reason(cupel.ExcludeSuperseded, 0, 0, r.items[d.Other])
	case engine.NearCopy:
		return data.Reason(cupel.ExcludeNearDuplicate, d.Tokens, d.Available, r.items[d.Other])
	case engine.Duplicate:
		return data.Reason(cupel.ExcludeDeduplicated, 0, 0, r.items[d.Other])
	case engine.PinnedFirst:
		if d.Other == engine.None {
			return data.Reason(cupel.ExcludePinnedOverride, 0, 0, r.pinned)
		}
		return data.Reason(cupel.ExcludePinnedOverride, 0, 0, r.items[d.Other])
	case engine.Dropped:
		return r.selection.Drops[d.Tokens].Reason
	case engine.OverBudget:
	}
	var group *cupel.ContextItem
	if d.Unit != engine.None {
		group = r.standIns[d.Unit]
	}
	return data.Reason(cupel.ExcludeBudgetExceeded, d.Tokens, d.Available, group)
}

// takeBack removes the exclusions of older versions that came back.
func (r *run) takeBack() {
	o := &r.observer
	if !o.on || !r.choice.HasReturned() {
		return
	}
	n := 0
	for i := range o.excluded {
		if !r.choice.Returned(engine.Candidate(o.excluded[i].Candidate)) {
			o.excluded[n], o.stageOf[n] = o.excluded[i], o.stageOf[i]
			n++
		}
	}
	o.told -= len(o.excluded) - n // earlier stages told of what came back
	o.excluded, o.stageOf = o.excluded[:n], o.stageOf[:n]
}

// endStage tells of the end of a stage, if its start was told.
func (r *run) endStage(stage stageNumber) {
	o := &r.observer
	if !o.on {
		return
	}
	st := &o.stages[stage]
	if st.err == nil {
		o.during(stage, func() {
			o.recorder.RecordStageEvent(cupel.TraceEvent{
				Stage: stageNames[stage], DurationMS: float64(st.busy) / float64(time.Millisecond), ItemCount: st.out,
			})
		})
	}
	r.tellStageEnd(stage)
}

func (r *run) tellStageEnd(stage stageNumber) {
	o := &r.observer
	st := &o.stages[stage]
	if !st.open {
		return
	}
	st.open = false
	e := observe.StageEnd{
		Stage: stageNames[stage], Start: st.start, End: st.end, Duration: st.busy, CountIn: st.in, CountOut: st.out, Err: st.err,
	}
	for _, t := range st.times.End() {
		e.Strategies = append(e.Strategies, observe.StrategyTime(t))
	}
	if st.err != nil {
		e.CountOut = 0
	}
	if o.detail.Reasons {
		e.Reasons = st.reasons.list
	}
	if o.detail.Items || o.detail.Exclusions {
		e.Excluded = o.excludedBy(stage)
	}
	if o.detail.Items && stage == place {
		e.Included = o.included
	}
	o.state.EndStage(st.ctx, e)
}

// excludedBy returns what a stage left out.
func (o *observer) excludedBy(stage stageNumber) (list []cupel.ExcludedItem) {
	for i, at := range o.stageOf {
		if at == stage {
			list = append(list, o.excluded[i])
		}
	}
	return list
}

// end tells of the end of the run.
func (r *run) end(ctx context.Context, err error) {
	if r.observer.state == nil {
		return
	}
	e := observe.RunEnd{Err: err, End: r.config.Clock()}
	if err == nil {
		var tokens exact.Sum
		for _, item := range r.window {
			tokens.Add(item.Tokens())
		}
		e.Selected, e.SelectedTokens = len(r.window), tokens.Int()
		e.Shortfalls, e.Overflow = r.selection.Shortfalls, r.over
	}
	r.tellRunEnd(ctx, e)
}

func (r *run) tellRunEnd(ctx context.Context, e observe.RunEnd) {
	o := &r.observer
	state := o.state
	o.state = nil // EndRun is called once, even if it panics
	e.Start = o.start
	if o.detail.Report {
		e.Report = r.report()
	}
	state.EndRun(ctx, e)
}

// abandon tells of the ends of the open stages and of the run while a panic that
// the pipeline does not catch, or runtime.Goexit, unwinds it.
func (r *run) abandon(ctx context.Context) {
	o := &r.observer
	if o.state == nil {
		return
	}
	at, now := o.current, o.start
	quietly(func() { now = r.config.Clock() }) // the clock may be what panics
	for i := range o.stages {
		st := &o.stages[i]
		if stageNumber(i) == at {
			if now.Before(st.entered) {
				now = st.entered
			}
			if st.inside {
				st.leave(now)
			}
			st.err = &observe.AbandonedError{Stage: stageNames[i]}
		}
		quietly(func() { r.tellStageEnd(stageNumber(i)) })
	}
	e := observe.RunEnd{End: now, Err: &observe.AbandonedError{}}
	if at != noStage {
		e.Err = &observe.AbandonedError{Stage: stageNames[at]}
	}
	quietly(func() { r.tellRunEnd(ctx, e) })
}

// quietly calls do while something unwinds the stack. A panic of do ends here,
// so that the caller sees the first one, which is not recovered.
func quietly(do func()) {
	defer func() { _ = recover() }()
	do()
}

// report makes the report of the run as far as it got.
func (r *run) report() *cupel.SelectionReport {
	o := &r.observer
	candidates, tokens := r.totals()
	return &cupel.SelectionReport{
		Included: o.included, Excluded: o.sortedExclusions(),
		TotalCandidates: candidates, TotalTokensConsidered: tokens,
		CountRequirementShortfalls: slices.Clone(r.selection.Shortfalls),
		Overflow:                   r.overflow,
	}
}

// totals returns the number of candidates and their tokens.
func (r *run) totals() (candidates, tokens int) {
	if r.considered != nil {
		return r.considered()
	}
	var sum exact.Sum
	for _, item := range r.items {
		sum.Add(item.Tokens())
	}
	return len(r.items), sum.Int()
}

// sortedExclusions returns the exclusions by score, then stage, then candidate
// (R34). It sorts small keys and moves each exclusion once.
func (o *observer) sortedExclusions() []cupel.ExcludedItem {
	keys := order.Borrow(len(o.excluded))
	defer keys.Return()
	for i := range o.excluded {
		keys.Pairs[i] = order.Pair{Key: order.Key(o.excluded[i].Score), Index: i}
	}
	order.SortDescending(keys.Pairs)
	for rest := keys.Pairs; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Key == rest[0].Key {
			n++
		}
		slices.SortFunc(rest[:n], func(a, b order.Pair) int {
			return cmp.Or(cmp.Compare(o.stageOf[a.Index], o.stageOf[b.Index]), cmp.Compare(o.excluded[a.Index].Candidate, o.excluded[b.Index].Candidate))
		})
		rest = rest[n:]
	}
	list := make([]cupel.ExcludedItem, len(keys.Pairs))
	for i, k := range keys.Pairs {
		list[i] = o.excluded[k.Index]
	}
	return list
}

// reasonCounts counts the items that a stage left out, by reason, in the order in
// which the codes first occurred.
type reasonCounts struct {
	list []observe.ReasonCount
	last int                         // in list: the code of the last item
	at   map[cupel.ExclusionCode]int // in list, if there are two; a slicer may invent any number of codes
}

func (c *reasonCounts) add(code cupel.ExclusionCode) {
	if c.last < len(c.list) && c.list[c.last].Code == code { // as most
		c.list[c.last].Items++
		return
	}
	at, ok := c.at[code]
	if !ok {
		at = len(c.list)
		if at == 1 {
			c.at = map[cupel.ExclusionCode]int{c.list[0].Code: 0}
		}
		if at > 0 {
			c.at[code] = at
		}
		c.list = append(c.list, observe.ReasonCount{Code: code})
	}
	c.last = at
	c.list[at].Items++
}

// canceled names the stage when err is the end of the run's context.
func canceled(ctx context.Context, stage stageNumber, err error) error {
	if err == nil || !value.IsContextError(ctx, err) {
		return err
	}
	return &CanceledError{Stage: stageNames[stage], Err: ctx.Err(), Cause: context.Cause(ctx)}
}
