package pipeline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
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
	state    observe.RunTrace // gets starts and ends; nil if nothing is observed
	detail   observe.TraceDetail
	recorder observe.TraceCollector // gets events
	start    time.Time
	stages   [numStages]stageState
	current  stageNumber // the stage that runs
	included []cupel.IncludedItem
	message  []byte // of an item event
}

// stageState is what is known of a stage. A streaming run enters a stage once for
// each batch.
type stageState struct {
	ctx      context.Context // the stage's; nil before its start
	open     bool            // the start was told, the end was not
	start    time.Time
	entered  time.Time // zero after it was left
	end      time.Time
	busy     time.Duration
	in, out  int
	reasons  []observe.ReasonCount // in the order in which the codes first occurred
	excluded []cupel.ExcludedItem
	told     int // of excluded, those that the recorder has
	err      error
}

// why reports whether the observer wants to know why items are left out.
func (o *observer) why() bool { return o.detail.Reasons || o.detail.ItemEvents || o.lists() }

// lists reports whether the observer wants lists of items.
func (o *observer) lists() bool { return o.detail.Items || o.detail.Exclusions || o.detail.Report }

// observe asks the collector whether to observe this run, and in what detail.
func (r *run) observe(ctx context.Context, collector observe.TraceCollector, info observe.RunInfo) context.Context {
	o := &r.observer
	o.current = noStage
	if collector == nil || !collector.IsEnabled() {
		return ctx
	}
	follows, ok := collector.(observe.RunObserver)
	if !ok { // it cannot say how much it wants, so it gets every event
		follows = observe.Multi(collector).(observe.RunObserver)
	}
	o.start = r.config.Clock()
	info.Start, info.Budget, info.Pipeline, info.PolicyHash = o.start, r.budget, r.config.Name, r.config.PolicyHash
	observed, state := follows.StartRun(ctx, info)
	if observed != nil {
		ctx = observed
	}
	if value.IsNil(state) {
		return ctx
	}
	o.state, o.detail, o.recorder = state, state.Detail(), collector
	if recorder, ok := state.(observe.TraceCollector); ok {
		o.recorder = recorder
	}
	return ctx
}

// enter starts a stage, or resumes it for another batch. It returns the context for
// the stage's strategy.
func (r *run) enter(ctx context.Context, stage stageNumber, in int) context.Context {
	o := &r.observer
	if o.state == nil {
		return ctx
	}
	st := &o.stages[stage]
	st.entered = r.config.Clock()
	st.in += in
	if st.ctx == nil {
		st.ctx, st.start = ctx, st.entered
		if r.streaming && stage != place { // only Place knows at its start how many items will enter
			in = 0
		}
		if c := o.state.StartStage(ctx, observe.StageStart{Stage: stageNames[stage], Start: st.start, CountIn: in}); c != nil {
			st.ctx = c
		}
		st.open = true
	}
	o.current = stage // not before: during the call of StartStage the stage does not run
	return st.ctx
}

// leave records that the current stage has finished a batch.
func (r *run) leave() {
	o := &r.observer
	if o.state != nil && o.current != noStage {
		o.stages[o.current].leave(r.config.Clock())
	}
	o.current = noStage
}

func (st *stageState) leave(now time.Time) {
	st.busy += now.Sub(st.entered)
	st.end, st.entered = now, time.Time{}
}

// stage runs one stage for one batch, and tells of its items. do returns the number
// of items that leave the stage.
func (r *run) stage(ctx context.Context, stage stageNumber, in int, do func(ctx context.Context) (int, error)) error {
	ctx = r.enter(ctx, stage, in)
	o := &r.observer
	st := &o.stages[stage]
	n, err := 0, ctx.Err()
	if err == nil {
		n, err = do(ctx)
	}
	err = canceled(ctx, stage, err) // the observer may have given the stage a deadline of its own
	r.leave()                       // before anything is built, so that observing is not measured
	if o.state == nil {
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
	st := &o.stages[stage]
	if stage == place && err == nil && (o.detail.Items || o.detail.ItemEvents || o.detail.Report) {
		o.included = r.listIncluded()
	}
	if o.detail.ItemEvents {
		before := o.current
		o.current = stage // a panic of the recorder is one of the stage
		r.tellItemEvents(stage, err)
		o.current = before
	}
	if !o.lists() { // nothing else wants them
		st.excluded = st.excluded[:0]
	}
	st.told = len(st.excluded)
}

func (r *run) tellItemEvents(stage stageNumber, err error) {
	o := &r.observer
	excluded := o.stages[stage].excluded[o.stages[stage].told:]
	const usual = 48             // bytes of a message
	var messages strings.Builder // one after the other, so that they share memory
	messages.Grow(usual * max(len(excluded), len(o.included)))
	tell := func(message []byte) {
		from := messages.Len()
		messages.Write(message)
		o.message = message
		o.recorder.RecordItemEvent(cupel.TraceEvent{Stage: stageNames[stage], ItemCount: 1, Message: messages.String()[from:]})
	}
	for i := range excluded {
		tell(data.AppendReason(o.message[:0], &excluded[i].Reason))
	}
	if stage == slice && err == nil {
		for _, s := range r.selection.Shortfalls {
			tell([]byte(s.String()))
		}
	}
	for i := range o.included { // of Place alone
		tell(data.AppendIncluded(o.message[:0], &o.included[i]))
	}
}

// leftOut records that candidates were left out.
func (r *run) leftOut(list []engine.Decision) {
	o := &r.observer
	for i := 0; i < len(list); { // neighbors have mostly the same reason
		code, from := r.codeOf(&list[i]), i
		for i < len(list) && r.codeOf(&list[i]) == code {
			i++
		}
		r.count(code, i-from)
	}
	if !o.lists() && !o.detail.ItemEvents { // only the numbers matter
		return
	}
	st := &o.stages[o.current]
	st.excluded = slices.Grow(st.excluded, len(list))
	for i := range list {
		d := &list[i]
		st.excluded = append(st.excluded, cupel.ExcludedItem{
			Item: r.items[d.Candidate], Score: d.Score, Reason: r.reasonOf(d), Candidate: r.position(d.Candidate), Stale: r.set.IsStale(d.Candidate), Units: r.columns.Links != nil,
		})
	}
}

// count counts what is left out, by reason.
func (r *run) count(code cupel.ExclusionCode, items int) {
	if r.tally != nil {
		r.tally[code] += items
	}
	if !r.observer.detail.Reasons {
		return
	}
	st := &r.observer.stages[r.observer.current]
	at := slices.IndexFunc(st.reasons, func(c observe.ReasonCount) bool { return c.Code == code })
	if at < 0 {
		at = len(st.reasons)
		st.reasons = append(st.reasons, observe.ReasonCount{Code: code})
	}
	st.reasons[at].Items += items
}

// exclude leaves out one item for a reason of a stream's own.
func (r *run) exclude(e cupel.ExcludedItem) {
	r.count(e.Reason.Code, 1)
	if o := &r.observer; o.lists() || o.detail.ItemEvents {
		st := &o.stages[o.current]
		st.excluded = append(st.excluded, e)
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

// reasonOf returns why a candidate was left out.
func (r *run) reasonOf(d *engine.Decision) cupel.ExclusionReason {
	var other *cupel.ContextItem
	switch {
	case d.Code == engine.Dropped:
		return r.selection.Drops[d.Tokens].Reason
	case d.Code == engine.NegativeTokens || d.Code == engine.OverBudget && d.Unit == engine.None:
	case d.Code == engine.OverBudget:
		other = r.standIns[d.Unit]
	case d.Other == engine.None: // the first pinned item is of an earlier batch
		other = r.pinned
	default:
		other = r.items[d.Other]
	}
	return data.Reason(codes[d.Code], d.Tokens, d.Available, other)
}

// takeBack removes the exclusions of older versions that came back.
func (r *run) takeBack() {
	st := &r.observer.stages[deduplicate]
	st.excluded = slices.DeleteFunc(st.excluded, func(e cupel.ExcludedItem) bool { return r.choice.HasReturned(engine.Candidate(e.Candidate)) })
	st.told = len(st.excluded)
}

// endStage tells of the end of a stage, if its start was told.
func (r *run) endStage(stage stageNumber) {
	o := &r.observer
	if o.state == nil {
		return
	}
	st := &o.stages[stage]
	if st.err == nil {
		o.current = stage // as above
		o.recorder.RecordStageEvent(cupel.TraceEvent{
			Stage: stageNames[stage], DurationMS: float64(st.busy) / float64(time.Millisecond), ItemCount: st.out,
		})
		o.current = noStage
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
	if st.err != nil {
		e.CountOut = 0
	}
	if o.detail.Reasons {
		e.Reasons = st.reasons
	}
	if o.detail.Items || o.detail.Exclusions {
		e.Excluded = st.excluded
	}
	if o.detail.Items && stage == place {
		e.Included = o.included
	}
	o.state.EndStage(st.ctx, e)
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
		if r.observer.detail.Decisions && !r.streaming && !r.preparing {
			e.Decisions = r.decisions()
		}
	}
	r.tellRunEnd(ctx, e)
}

// decisions lists what was decided about each candidate.
func (r *run) decisions() []observe.Decision {
	list := make([]observe.Decision, len(r.items))
	for _, c := range r.set.Scoreable {
		list[c].Score = r.ranking.ScoreOfCandidate(c)
	}
	place := int32(0)
	for _, at := range r.order {
		m := &r.choice.Merged[at]
		var made *engine.Made
		if w := r.windowed[at]; w != nil {
			made = &w.made
		}
		for i, c := range r.set.Members(m.Unit) {
			place++
			d := &list[c]
			d.Place, d.Form = place, int32(r.formOf(made, i, c))
			if r.set.IsPinned(r.set.UnitOf(c)) {
				d.Score = engine.PinnedScore
			}
		}
	}
	return list
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
	value.Quietly(func() { now = r.config.Clock() }) // the clock may be what panics
	for i := range o.stages {
		st := &o.stages[i]
		if stageNumber(i) == at {
			if now.Before(st.entered) {
				now = st.entered
			}
			if !st.entered.IsZero() {
				st.leave(now)
			}
			st.err = &observe.AbandonedError{Stage: stageNames[i]}
		}
		value.Quietly(func() { r.tellStageEnd(stageNumber(i)) })
	}
	e := observe.RunEnd{End: now, Err: &observe.AbandonedError{}}
	if at != noStage {
		e.Err = &observe.AbandonedError{Stage: stageNames[at]}
	}
	value.Quietly(func() { r.tellRunEnd(ctx, e) })
}

// report makes the report of the run as far as it got.
func (r *run) report() *cupel.SelectionReport {
	total, tokens := r.total, r.tokens
	if !r.streaming {
		total = len(r.items)
		for _, item := range r.items {
			tokens.Add(item.Tokens())
		}
	}
	return &cupel.SelectionReport{
		Included: r.observer.included, Excluded: r.observer.sortedExclusions(total),
		TotalCandidates: total, TotalTokensConsidered: tokens.Int(),
		CountRequirementShortfalls: slices.Clone(r.selection.Shortfalls),
		Overflow:                   r.overflow,
	}
}

// sortedExclusions returns the exclusions by score, then stage, then candidate
// (R34). It sorts small keys and moves each exclusion once.
func (o *observer) sortedExclusions(candidates int) []cupel.ExcludedItem {
	n := 0
	for i := range o.stages {
		n += len(o.stages[i].excluded)
	}
	keys := order.Borrow(n)
	defer keys.Return()
	entries := make([]*cupel.ExcludedItem, candidates)
	pairs := keys.Pairs[:0]
	for stage := range o.stages {
		for i := range o.stages[stage].excluded {
			e := &o.stages[stage].excluded[i]
			entries[e.Candidate] = e
			pairs = append(pairs, order.Pair{Key: order.Key(e.Score), Index: stage*candidates + e.Candidate})
		}
	}
	slices.SortFunc(pairs, func(a, b order.Pair) int { return cmp.Or(cmp.Compare(b.Key, a.Key), cmp.Compare(a.Index, b.Index)) })
	list := make([]cupel.ExcludedItem, n)
	for i, k := range pairs {
		list[i] = *entries[k.Index%candidates]
	}
	return list
}

// canceled names the stage when err is the end of the run's context.
func canceled(ctx context.Context, stage stageNumber, err error) error {
	if err == nil || !value.IsContextError(ctx, err) {
		return err
	}
	return &CanceledError{Stage: stageNames[stage], Err: ctx.Err(), Cause: context.Cause(ctx)}
}
