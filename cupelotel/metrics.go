package cupelotel

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
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
//	cupel.pipeline.duration         histogram, s        of runs; error.type when failed, so that its count gives the failures
//	cupel.stage.time                counter, s          spent in a stage, by cupel.stage.name; error.type when failed
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
//	cupel.session.kept_tokens       counter, {token}    sent as they were sent before
//	cupel.session.dropped           counter, {item}     that left the window
//	cupel.session.cost_ratio        histogram, 1        cost / cost of sending everything
//	cupel.session.read_predicted    counter, {token}    expected from the cache
//	cupel.session.read_reported     counter, {token}    that the provider reported
//	cupel.session.duration          histogram, s        of proposing a turn; error.type when failed
//
// Measurements of a turn's runs are recorded when the turn is committed or fails.
// Dry runs are not measured; runs that make or use a [pipeline.Prepared] are. A
// run that makes one has no window.
//
// All have cupel.pipeline.name, if the pipeline has a name, and the instruments of
// runs have cupel.run.mode.
//
// The number of time series is bounded: there are five stages, and all custom reasons are
// counted as "_OTHER". No text of an item becomes an attribute; kinds of shortfalls are
// those that the slicer's configuration requires. A pipeline has at most 100 series in
// Prometheus, besides those of failures and shortfalls. Names of pipelines multiply them:
// name a pipeline by its policy, never by a tenant or a conversation. After 100 names in
// one mode each, a collector measures pipelines with other names as "_OTHER".
//
// Names, units and attributes of these instruments are stable, so that dashboards and
// alerts may use them; the boundaries of histograms may change.
//
// It records in the context of the run and its stages, so exemplars link to the
// spans of a [TraceCollector] listed before it, or otherwise to the caller's
// span. An instrument without a reader costs nothing.
type MetricCollector struct {
	*instruments
	redaction redaction
}

// NewMetricCollector returns a collector. By default it records with the global
// MeterProvider.
func NewMetricCollector(opts ...MetricOption) *MetricCollector {
	c := &MetricCollector{}
	for _, opt := range opts {
		if opt != nil {
			opt(c)
		}
	}
	if c.instruments == nil {
		WithMeterProvider(otel.GetMeterProvider())(c)
	}
	return c
}

// IsEnabled returns true, except for a collector without [NewMetricCollector].
func (c *MetricCollector) IsEnabled() bool { return c != nil && c.instruments != nil }

// RecordStageEvent does nothing: the observer that StartRun returns records the
// measurements.
func (*MetricCollector) RecordStageEvent(cupel.TraceEvent) {}

// RecordItemEvent does nothing.
func (*MetricCollector) RecordItemEvent(cupel.TraceEvent) {}

// StartRun implements [observe.RunObserver].
func (c *MetricCollector) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	if info.DryRun || !c.enabled(ctx) {
		return ctx, nil
	}
	turn, _ := ctx.Value(metricTurnKey{c}).(*metricTurn)
	return ctx, &metricRun{
		instruments: c.instruments,
		redaction:   &c.redaction,
		series:      c.seriesOf(info.Pipeline, modeOf(info, turn != nil)),
		budget:      info.Budget,
		turn:        turn,
		preparing:   info.Preparing,
	}
}

// series has the attributes of the measurements of one pipeline in one mode, built
// once for all runs.
type series struct {
	attrs  []attribute.KeyValue
	run    metric.MeasurementOption
	stages [len(stages)]metric.MeasurementOption
}

// with returns the attributes of s and more.
func (s *series) with(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(slices.Concat(s.attrs, more)...))
}

// mostSeries is how many pipelines are measured under their names, counted once for
// each mode.
const mostSeries = 100

// seriesKey distinguishes the series of one collector.
type seriesKey struct{ pipeline, mode string }

// seriesOf returns the series of a run, or of turns if mode is empty.
func (c *MetricCollector) seriesOf(pipeline, mode string) *series {
	key := seriesKey{pipeline, mode}
	if known, ok := c.series.Load(key); ok {
		return known.(*series)
	}
	if c.known.Load() >= mostSeries && pipeline != other {
		return c.seriesOf(other, mode) // at most one more for each mode
	}
	s := &series{}
	if mode != "" {
		s.attrs = append(s.attrs, runModeKey.String(mode))
	}
	if pipeline != "" {
		s.attrs = append(s.attrs, pipelineNameKey.String(c.redaction.text(observe.PartPipeline, pipeline)))
	}
	s.run = s.with()
	for i, name := range stageNames {
		s.stages[i] = s.with(stageNameKey.String(name))
	}
	if stored, known := c.series.LoadOrStore(key, s); known {
		return stored.(*series)
	}
	c.known.Add(1)
	return s
}

// metricRun follows one run.
type metricRun struct {
	observe.NoTrace
	*instruments
	redaction *redaction
	series    *series
	budget    cupel.ContextBudget
	turn      *metricTurn // that the run chooses for; nil for other runs
	preparing bool
}

// Detail asks for reasons.
func (*metricRun) Detail() observe.TraceDetail { return observe.TraceDetail{Reasons: true} }

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
	attributes, name := r.series.stages[at], stageNameKey.String(stageNames[at])
	r.items.Add(ctx, int64(e.CountIn), attributes)
	var others int64
	for _, c := range e.Reasons { // each code comes once
		if slices.Contains(reasons, c.Code) {
			r.exclusions.Add(ctx, int64(c.Items), r.series.with(name, exclusionReasonKey.String(string(c.Code))))
		} else {
			others += int64(c.Items)
		}
	}
	if others > 0 {
		r.exclusions.Add(ctx, others, r.series.with(name, exclusionReasonKey.String(other)))
	}
	if e.Err != nil {
		attributes = r.series.with(name, errorTypeKey.String(errorType(e.Err)))
	}
	if !r.replaced(e.Err) {
		r.stageTime.Add(ctx, e.Duration.Seconds(), attributes)
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

// replaced reports whether err, of the run or a stage, is not a failure, because the
// session chose again, for more tokens.
func (r *metricRun) replaced(err error) bool {
	return err != nil && r.turn != nil && r.turn.end.Err == nil
}

func (r *metricRun) run(ctx context.Context, e observe.RunEnd) {
	seconds := e.End.Sub(e.Start).Seconds()
	if e.Err != nil {
		r.pipelineDuration.Record(ctx, seconds, r.series.with(errorTypeKey.String(errorType(e.Err))))
		return
	}
	r.pipelineDuration.Record(ctx, seconds, r.series.run)
	for _, s := range e.Shortfalls {
		r.shortfalls.Add(ctx, 1, r.series.with(shortfallKindKey.String(r.redaction.text(observe.PartKind, string(s.Kind)))))
	}
	if e.Overflow > 0 {
		r.overflow.Add(ctx, int64(e.Overflow), r.series.run)
	}
	if r.turn == nil && !r.preparing { // the window of a turn has more than this run chose
		r.window(ctx, r.series, e.SelectedTokens, r.budget)
	}
}

// window records the size of a window.
func (in *instruments) window(ctx context.Context, s *series, tokens int, budget cupel.ContextBudget) {
	in.selectedTokens.Record(ctx, int64(tokens), s.run)
	in.utilization.Record(ctx, fraction(tokens, budget.MaxTokens()), s.run)
	in.targetUtilization.Record(ctx, fraction(tokens, budget.TargetTokens()), s.run)
}

// fraction returns tokens as a fraction of all, or 0 of nothing.
func fraction(tokens, all int) float64 {
	if all <= 0 {
		return 0
	}
	return float64(tokens) / float64(all)
}
