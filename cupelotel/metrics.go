package cupelotel

import (
	"context"
	"slices"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

var (
	_ observe.TraceCollector = (*MetricCollector)(nil)
	_ observe.RunObserver    = (*MetricCollector)(nil)
	_ observe.RunTrace       = (*metricRun)(nil)
)

// MetricCollector measures the runs it is passed to. Create it with
// [NewMetricCollector]. It stores nothing about a run; one collector serves any
// number of concurrent runs.
//
// Its instruments:
//
//	cupel.pipeline.duration         histogram, s        of runs; error.type when failed, so that its count is that of failures
//	cupel.stage.duration            histogram, s        of stages, by cupel.stage.name; error.type when failed
//	cupel.pipeline.selected_tokens  histogram, {token}  of windows
//	cupel.budget.utilization        histogram, 1        selected tokens / maxTokens
//	cupel.budget.target_utilization histogram, 1        selected tokens / targetTokens
//	cupel.shortfalls                counter, {shortfall} of required items, by cupel.shortfall.kind
//	cupel.overflow.tokens           counter, {token}    over the target under OverflowProceed
//	cupel.items                     counter, {item}     entering a stage, by cupel.stage.name
//	cupel.exclusions                counter, {item}     left out, by cupel.stage.name and cupel.exclusion.reason
//
// Of sessions, when a turn is committed:
//
//	cupel.session.turns             counter, {turn}     committed turns
//	cupel.session.breaks            counter, {break}    by cupel.session.break_reason
//	cupel.session.kept_tokens       histogram, {token}  sent as they were sent before
//	cupel.session.dropped           counter, {item}     that left the window
//	cupel.session.cost_ratio        histogram, 1        cost / cost of sending everything
//	cupel.session.read_predicted    counter, {token}    that the cache should have had
//	cupel.session.read_reported     counter, {token}    that it had
//	cupel.session.duration          histogram, s        of proposing a turn; error.type when failed
//
// What the runs of a turn measure is recorded when the turn is committed or fails.
// Dry runs are not measured; runs that make or use a
// [pipeline.Prepared] are. One that makes it has no window.
//
// All have cupel.pipeline.name, if the pipeline has a name, and those of runs have
// cupel.run.mode.
//
// The number of time series of a pipeline is bounded: there are five stages, and all
// custom reasons are counted as "_OTHER". No text of an item becomes an
// attribute; kinds of shortfalls are those that the slicer's configuration requires. Names of pipelines and what [WithAttributes] and [WithAttributesFunc]
// add multiply the series.
//
// It records in the context of the run and its stages, so exemplars link to the
// spans of a [TraceCollector] listed before it, or else to the caller's span.
// An instrument without a reader costs nothing.
type MetricCollector struct {
	provider metric.MeterProvider // nil: the global one
	which    which

	instruments memo[metric.MeterProvider, *instruments]
}

// NewMetricCollector returns a collector. By default it records with the global
// MeterProvider.
func NewMetricCollector(opts ...MetricOption) *MetricCollector {
	c := &MetricCollector{}
	for _, opt := range opts {
		if opt != nil {
			opt.applyMetric(c)
		}
	}
	return c
}

// IsEnabled returns true, except for a nil collector.
func (c *MetricCollector) IsEnabled() bool { return c != nil }

// RecordStageEvent does nothing: the observer that StartRun returns records the
// measurements.
func (*MetricCollector) RecordStageEvent(cupel.TraceEvent) {}

// RecordItemEvent does nothing.
func (*MetricCollector) RecordItemEvent(cupel.TraceEvent) {}

// StartRun implements [observe.RunObserver].
func (c *MetricCollector) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	if info.DryRun {
		return ctx, nil
	}
	in := c.current()
	if !in.enabled(ctx) || !c.which.observes(ctx, info) {
		return ctx, nil
	}
	turn := c.turnOf(ctx)
	return ctx, &metricRun{
		instruments: in,
		series:      c.seriesOf(ctx, in, info.Pipeline, modeOf(info, turn != nil)),
		maxTokens:   info.Budget.MaxTokens(),
		target:      info.Budget.TargetTokens(),
		exclusions:  in.exclusions.Enabled(ctx),
		turn:        turn,
		preparing:   info.Preparing,
	}
}

// current returns the instruments of the provider.
func (c *MetricCollector) current() *instruments {
	provider := c.provider
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	return c.instruments.get(provider, newInstruments)
}

// metricRun follows one run.
type metricRun struct {
	observe.NoTrace
	*instruments
	series     *series
	maxTokens  int
	target     int
	exclusions bool        // the counter is read
	turn       *metricTurn // that the run chooses for; nil for other runs
	preparing  bool
}

// Detail asks for reasons only if the exclusion counter is read.
func (r *metricRun) Detail() observe.TraceDetail {
	return observe.TraceDetail{Reasons: r.exclusions}
}

// EndStage records the measurements of a stage.
func (r *metricRun) EndStage(ctx context.Context, e observe.StageEnd) {
	at := slices.Index(stages[:], e.Stage)
	if at < 0 {
		return // unknown stages would add time series
	}
	if r.turn != nil {
		r.turn.record(func() { r.stage(ctx, at, e) })
		return
	}
	r.stage(ctx, at, e)
}

func (r *metricRun) stage(ctx context.Context, at int, e observe.StageEnd) {
	sets := &r.series.stages[at]
	attributes := sets.record
	if e.Err != nil {
		attributes = []metric.RecordOption{r.series.with(sets.name, errorTypeKey.String(errorType(e.Err)))}
	}
	if !r.replaced(e.Err) {
		r.stageDuration.Record(ctx, e.Duration.Seconds(), attributes...)
	}
	r.items.Add(ctx, int64(e.CountIn), sets.add...)
	var others int64
	for _, c := range e.Reasons { // each code comes once
		if reason := slices.Index(reasons, c.Code); reason >= 0 {
			r.instruments.exclusions.Add(ctx, int64(c.Items), sets.reasons[reason]...)
		} else {
			others += int64(c.Items)
		}
	}
	if others > 0 {
		r.instruments.exclusions.Add(ctx, others, sets.reasons[len(reasons)]...)
	}
}

// EndRun records the measurements of the run.
func (r *metricRun) EndRun(ctx context.Context, e observe.RunEnd) {
	if r.turn == nil {
		r.run(ctx, e)
		return
	}
	r.turn.record(func() {
		if !r.replaced(e.Err) {
			r.run(ctx, e)
		}
	})
}

// replaced reports whether err, of the run or a stage, is no failure: the session chose
// again, for more tokens.
func (r *metricRun) replaced(err error) bool {
	return err != nil && r.turn != nil && r.turn.end.Err == nil
}

func (r *metricRun) run(ctx context.Context, e observe.RunEnd) {
	seconds := e.End.Sub(e.Start).Seconds()
	if e.Err != nil {
		r.pipelineDuration.Record(ctx, seconds, r.series.with(errorTypeKey.String(errorType(e.Err))))
		return
	}
	r.pipelineDuration.Record(ctx, seconds, r.series.record...)
	for _, s := range e.Shortfalls {
		r.shortfalls.Add(ctx, 1, r.series.with(shortfallKindKey.String(strings.ToValidUTF8(string(s.Kind), "\uFFFD"))))
	}
	if e.Overflow > 0 {
		r.overflow.Add(ctx, int64(e.Overflow), r.series.add...)
	}
	if r.turn == nil && !r.preparing { // the window of a turn has more than this run chose
		r.window(ctx, r.series, e.SelectedTokens, r.maxTokens, r.target)
	}
}
