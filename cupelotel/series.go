package cupelotel

import (
	"context"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// series has the attributes of the measurements of one pipeline in one mode, built
// once, so that a run does not allocate a set for each measurement.
type series struct {
	attrs  []attribute.KeyValue
	record []metric.RecordOption
	add    []metric.AddOption // the same
	stages [len(stages)]stageSeries
}

type stageSeries struct {
	name    attribute.KeyValue
	record  []metric.RecordOption // of the stage
	add     []metric.AddOption    // the same
	reasons [][]metric.AddOption  // as in reasons; the last one is of all other reasons
}

// with returns the attributes of s and more.
func (s *series) with(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(append(make([]attribute.KeyValue, 0, len(s.attrs)+len(more)), s.attrs...), more...)...))
}

func newSeries(attrs []attribute.KeyValue) *series {
	s := &series{attrs: attrs}
	if len(attrs) > 0 {
		s.record, s.add = []metric.RecordOption{s.with()}, []metric.AddOption{s.with()}
	}
	for i, stage := range stages {
		name := stageNameKey.String(stageSpanName(stage)[len(stageSpanPrefix):])
		st := &s.stages[i]
		st.name = name
		st.record, st.add = []metric.RecordOption{s.with(name)}, []metric.AddOption{s.with(name)}
		st.reasons = make([][]metric.AddOption, len(reasons)+1)
		for j := range st.reasons {
			reason := other
			if j < len(reasons) {
				reason = string(reasons[j])
			}
			st.reasons[j] = []metric.AddOption{s.with(name, exclusionReasonKey.String(reason))}
		}
	}
	return s
}

// seriesKey is what the series of one collector differ in.
type seriesKey struct {
	name, mode string
	dynamic    attribute.Distinct
}

// seriesCache keeps series by key. Beyond maxSeries they are built for each run:
// attributes without bound must not fill the memory.
type seriesCache struct {
	mu  sync.RWMutex
	all map[seriesKey]*series
}

const maxSeries = 256

// seriesOf returns the series of a run, or of turns if mode is empty.
func (c *MetricCollector) seriesOf(ctx context.Context, in *instruments, configured, mode string) *series {
	return c.seriesIn(in, configured, mode, c.attributes(ctx))
}

// attributes returns the caller's attributes of a run or a turn, or nil if all have
// the same.
func (c *MetricCollector) attributes(ctx context.Context) []attribute.KeyValue {
	if c.which.attrsOf == nil {
		return nil
	}
	return c.which.attributes(ctx, 2)
}

// seriesIn is seriesOf with the attributes of the run or the turn.
func (c *MetricCollector) seriesIn(in *instruments, configured, mode string, attrs []attribute.KeyValue) *series {
	key := seriesKey{name: configured, mode: mode}
	if c.which.attrsOf != nil {
		set := attribute.NewSet(slices.Clone(attrs)...) // it sorts what it is given
		key.dynamic, attrs = set.Equivalent(), set.ToSlice()
	}
	cache := &in.series
	cache.mu.RLock()
	s := cache.all[key]
	cache.mu.RUnlock()
	if s != nil {
		return s
	}
	if c.which.attrsOf == nil {
		attrs = slices.Clone(c.which.attrs)
	}
	if mode != "" {
		attrs = append(attrs, runModeKey.String(mode))
	}
	if key.name != "" {
		attrs = append(attrs, pipelineNameKey.String(strings.ToValidUTF8(key.name, "\uFFFD")))
	}
	s = newSeries(attrs)
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if cache.all == nil {
		cache.all = make(map[seriesKey]*series)
	}
	if len(cache.all) < maxSeries {
		cache.all[key] = s
	}
	return s
}
