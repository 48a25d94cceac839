package cupelotel

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/wollax/cupel-go/cupel"
)

var (
	_ cupel.TraceCollector = (*MetricCollector)(nil)
	_ cupel.RunObserver    = (*MetricCollector)(nil)
	_ cupel.RunTrace       = (*metricRun)(nil)
)

// MetricCollector measures the runs it is passed to. Create it with
// [NewMetricCollector]. It stores nothing about a run; one collector serves any
// number of concurrent runs.
//
// Its instruments:
//
//	cupel.pipeline.duration         histogram, s        of runs; error.type when failed
//	cupel.stage.duration            histogram, s        of stages, by cupel.stage.name; error.type when failed
//	cupel.pipeline.selected_tokens  histogram, {token}  of windows
//	cupel.budget.utilization        histogram, 1        selected tokens / maxTokens
//	cupel.items                     counter, {item}     entering a stage, by cupel.stage.name
//	cupel.exclusions                counter, {item}     left out, by cupel.stage.name and cupel.exclusion.reason
//	cupel.pipeline.errors           counter, {error}    failed runs, by error.type
//
// The number of time series is bounded: there are five stages, and all custom
// reasons are counted as "_OTHER". No text of an item or a caller becomes an
// attribute.
//
// It records in the context of the run and its stages, so exemplars link to the
// spans of a [TraceCollector] listed before it, or else to the caller's span.
// An instrument without a reader costs nothing.
type MetricCollector struct {
	provider metric.MeterProvider // nil: the global one

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

// StartRun implements [cupel.RunObserver].
func (c *MetricCollector) StartRun(ctx context.Context, info cupel.RunInfo) (context.Context, cupel.RunTrace) {
	provider := c.provider
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	in := c.instruments.get(provider, newInstruments)
	if !in.enabled(ctx) {
		return ctx, nil
	}
	return ctx, &metricRun{
		instruments: in,
		maxTokens:   info.Budget.MaxTokens(),
		exclusions:  in.exclusions.Enabled(ctx),
	}
}

// metricRun follows one run.
type metricRun struct {
	cupel.NoTrace
	*instruments
	maxTokens  int
	exclusions bool // the counter is read
}

// Detail asks for reasons only if the exclusion counter is read.
func (r *metricRun) Detail() cupel.TraceDetail { return cupel.TraceDetail{Reasons: r.exclusions} }

// EndStage records the measurements of a stage.
func (r *metricRun) EndStage(ctx context.Context, e cupel.StageEnd) {
	at := slices.Index(stages[:], e.Stage)
	if at < 0 {
		return // unknown stages would add time series
	}
	sets := &r.sets[at]
	attributes := sets.record
	if e.Err != nil {
		attributes = []metric.RecordOption{with(sets.name, ErrorTypeKey.String(errorType(e.Err)))}
	}
	r.stageDuration.Record(ctx, e.Duration.Seconds(), attributes...)
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
func (r *metricRun) EndRun(ctx context.Context, e cupel.RunEnd) {
	seconds := e.End.Sub(e.Start).Seconds()
	if e.Err != nil {
		set := with(ErrorTypeKey.String(errorType(e.Err)))
		r.pipelineDuration.Record(ctx, seconds, set)
		r.errors.Add(ctx, 1, set)
		return
	}
	r.pipelineDuration.Record(ctx, seconds)
	r.selectedTokens.Record(ctx, int64(e.SelectedTokens))
	utilization := 0.0
	if r.maxTokens > 0 {
		utilization = float64(e.SelectedTokens) / float64(r.maxTokens)
	}
	r.utilization.Record(ctx, utilization)
}
