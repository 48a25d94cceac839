package cupel

import (
	"context"
	"slices"
)

// stageOrder lists the stages as they run.
var stageOrder = [...]PipelineStage{StageClassify, StageScore, StageDeduplicate, StageSlice, StagePlace}

func ordinal(stage PipelineStage) int { return slices.Index(stageOrder[:], stage) }

// streamStage is what a streaming run keeps about a stage from batch to batch.
type streamStage struct {
	ctx     context.Context // the stage's; nil before its start
	open    bool            // the start was reported to a state, the end not yet
	times   *strategyTimes  // nil unless the observer asked for them
	start   moment
	entered moment // when the current batch entered
	end     moment // when the last batch had left
	busy    span
	in, out int
	reasons reasonCounts
	err     error
}

func (s *stream) stageOf(stage PipelineStage) *streamStage { return &s.stages[ordinal(stage)] }

// fail records err as the error of stage, if it is not nil.
func (s *stream) fail(stage PipelineStage, err error) error {
	if err != nil {
		s.stageOf(stage).err = err
	}
	return err
}

// enter starts a stage, or resumes it for another batch.
func (s *stream) enter(stage PipelineStage) {
	st := s.stageOf(stage)
	s.current = stage
	if !s.trace.on {
		st.ctx = s.ctx
		return
	}
	st.entered = s.pipeline.now()
	if st.ctx != nil {
		return
	}
	st.ctx, st.start = s.ctx, st.entered
	if s.trace.state == nil {
		return
	}
	// Only Place knows at its start how many items will enter.
	start := StageStart{Stage: stage, Start: st.start.clock, real: st.start.real}
	if stage == StagePlace {
		start.CountIn = s.numKept()
	}
	if ctx := s.trace.state.StartStage(s.ctx, start.by(s.trace.detail)); ctx != nil {
		st.ctx = ctx
	}
	st.times = s.trace.timesOf(st.ctx, stage)
	st.open = true
}

// leave records that the current stage has finished a batch.
func (s *stream) leave() {
	if s.current == "" {
		return
	}
	if s.trace.on {
		s.stageOf(s.current).leave(s.pipeline.now())
	}
	s.current = ""
}

// leave ends the work on the current batch.
func (st *streamStage) leave(now moment) {
	busy := now.sub(st.entered)
	st.end = now
	st.busy.clock += busy.clock
	st.busy.real += busy.real
}

// step runs one stage for one batch.
func (s *stream) step(stage PipelineStage, in int, do func(ctx context.Context) error) error {
	s.enter(stage)
	st, t := s.stageOf(stage), &s.trace
	t.stageFrom, t.count = len(t.excluded), 0
	err := s.fail(stage, s.canceled(st.ctx, stage, s.attempt(st.times.context(st.ctx), do)))
	s.leave() // before anything is built, so that observing is not measured
	st.in += in
	if err == nil {
		st.out += t.count
	}
	for i := t.stageFrom; i < len(t.excluded); i++ { // until here these are positions in the batch
		e := &t.excluded[i]
		e.at, t.stages[i] = e.at.in(s.arrivals[e.Candidate()]), ordinal(stage)
	}
	s.tell(stage)
	return err
}

// excludeNegative is exclude for an item that never enters a batch.
func (s *stream) excludeNegative(item *ContextItem, tokens, arrival int) {
	t := &s.trace
	s.stageOf(StageClassify).reasons.add(ExcludeNegativeTokens, 1)
	if !t.items {
		return
	}
	t.stageFrom = len(t.excluded)
	t.excluded = append(t.excluded, ExcludedItem{Item: item, Reason: negativeTokens(tokens), at: originOf(arrival)})
	t.stages = append(t.stages, ordinal(StageClassify))
	s.tell(StageClassify)
}

// tell makes the item events for the latest decisions of a stage, and forgets
// what is no longer needed.
func (s *stream) tell(stage PipelineStage) {
	t := &s.trace
	if t.itemEvents {
		s.telling = stage
		s.recordItems(stage)
		s.telling = ""
	}
	if !t.excludes && !t.report {
		clear(t.excluded)
		t.excluded, t.stages = t.excluded[:0], t.stages[:0]
	}
}

// endStages ends those of the stages that have started. After an error none of
// them is complete, so there are no stage events.
func (s *stream) endStages(err error, stages ...PipelineStage) {
	t := &s.trace
	if !t.on {
		return
	}
	for _, stage := range stages {
		st := s.stageOf(stage)
		if stage == StageClassify {
			st.in, st.out = s.total, s.total-st.reasons.of(ExcludeNegativeTokens)
		}
		if err == nil {
			t.recorder.RecordStageEvent(TraceEvent{Stage: stage, DurationMS: milliseconds(st.busy.clock), ItemCount: st.out})
		}
		s.endStage(stage)
	}
}

// endStage reports the end of a stage if its start was reported.
func (s *stream) endStage(stage PipelineStage) {
	t, st := &s.trace, s.stageOf(stage)
	if !st.open {
		return
	}
	st.open = false
	e := StageEnd{Stage: stage, CountIn: st.in, CountOut: st.out, Strategies: st.times.close(), Err: st.err}.lasting(st.start, st.end, st.busy)
	if st.err != nil {
		e.CountOut = 0
	}
	if t.counts {
		e.Reasons = st.reasons.all()
	}
	if t.excludes {
		for i, n := range t.stages {
			if n == ordinal(stage) {
				e.Excluded = append(e.Excluded, t.excluded[i])
			}
		}
	}
	if t.includes && stage == StagePlace {
		e.Included = slices.Clone(t.included)
	}
	t.state.EndStage(st.ctx, e.by(t.detail))
}

// abandonAll reports the ends of the stages and of the run when a panic that
// the pipeline does not catch unwinds it. The stage that panicked gets the
// error.
func (s *stream) abandonAll(ctx context.Context) {
	t := &s.trace
	if t.state == nil {
		return
	}
	t.left = s.current
	if t.left == "" {
		t.left = s.telling
	}
	for i, stage := range stageOrder {
		st := &s.stages[i]
		if stage == s.current {
			st.leave(s.endOfAbandoned(st.entered))
		}
		if stage == t.left {
			st.err = &AbandonedError{stage}
		}
		quietly(func() { s.endStage(stage) })
	}
	s.abandon(ctx)
}
