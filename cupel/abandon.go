package cupel

import "context"

// AbandonedError reports to observers that a run never returned: a panic of
// another collector or of [Config.OnOverflow], which the pipeline does not
// catch, went up through it, or something in it called [runtime.Goexit]. Run
// itself cannot return it.
type AbandonedError struct {
	Stage PipelineStage // the stage that ran, or "" between two of them
}

func (e *AbandonedError) Error() string {
	if e.Stage == "" {
		return "cupel: the run was abandoned"
	}
	return "cupel: the run was abandoned in stage " + string(e.Stage)
}

// abandonStage tells of the end of a stage that is being unwound, and does
// nothing for one whose end was told. It must be deferred.
func (r *run) abandonStage(ctx context.Context, stage PipelineStage) {
	t := &r.trace
	if !t.open {
		return
	}
	t.left = stage
	end := r.endOfAbandoned(t.stageStart)
	quietly(func() {
		r.tellStageEnd(ctx, StageEnd{Stage: stage, CountIn: t.countIn, Err: &AbandonedError{stage}}, end)
	})
}

// abandon tells of the end of a run that is being unwound, if that was not told.
func (r *run) abandon(ctx context.Context) {
	t := &r.trace
	if t.state == nil {
		return
	}
	end := r.endOfAbandoned(t.runStart)
	quietly(func() { r.tellRunEnd(ctx, RunEnd{Err: &AbandonedError{t.left}}, end) })
}

// endOfAbandoned reads the clock, which may be what panics.
func (r *run) endOfAbandoned(start moment) moment {
	end := start
	quietly(func() { end = r.pipeline.now() })
	return end
}

// quietly calls do while something unwinds the stack. A panic of do ends here,
// so that the caller sees the first one, which is not recovered.
func quietly(do func()) {
	defer func() { _ = recover() }()
	do()
}
