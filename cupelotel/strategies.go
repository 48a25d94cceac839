package cupelotel

import (
	"context"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel/observe"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// strategyKeys returns the key of the time of each strategy: strategyTimePrefix and
// the types from the pipeline's own strategy down, without their packages, such as
// "Composite.Recency". Of several parts with one name, the second is called
// "Recency.2".
func strategyKeys(list []observe.StrategyTime) []string {
	keys := make([]string, len(list))
	for i := range list {
		name, same := bareType(list[i].Strategy), 1
		for j := range i {
			if list[j].Parent == list[i].Parent && bareType(list[j].Strategy) == name {
				same++
			}
		}
		if same > 1 {
			name += "." + strconv.Itoa(same)
		}
		if parent := list[i].Parent; parent >= 0 {
			keys[i] = keys[parent] + "." + name
		} else {
			keys[i] = strategyTimePrefix + name
		}
	}
	return keys
}

// bareType returns the name of a Go type without its package and type arguments.
func bareType(name string) string {
	name, _, _ = strings.Cut(name, "[")
	name, _, _ = strings.Cut(name, " ") // an anonymous struct
	return strings.TrimPrefix(name[strings.LastIndexByte(name, '.')+1:], "*")
}

// appendStrategies appends the times of a stage's strategies.
func appendStrategies(attrs []attribute.KeyValue, list []observe.StrategyTime) []attribute.KeyValue {
	for i, key := range strategyKeys(list) {
		attrs = append(attrs, attribute.Float64(key, list[i].Duration.Seconds()))
	}
	return attrs
}

// startStrategies makes the spans of a stage's strategies. They come late, with the
// times that were measured, so that a strategy is in one span however often it is
// called.
func (r *traceRun) startStrategies(ctx context.Context, stage trace.Span, list []observe.StrategyTime) {
	spans := make([]trace.Span, len(list))
	for i, s := range list {
		parent := stage
		if s.Parent >= 0 {
			parent = spans[s.Parent]
		}
		//nolint:spancheck // the loop below ends them
		_, spans[i] = r.tracer.Start(trace.ContextWithSpan(ctx, parent), strategySpanPrefix+bareType(s.Strategy),
			trace.WithTimestamp(s.Start), trace.WithAttributes(
				strategyTypeKey.String(s.Strategy),
				strategyCallsKey.Int(s.Calls),
				strategyBusyTimeKey.Float64(s.Duration.Seconds()),
			))
	}
	for i := range list {
		spans[i].End(trace.WithTimestamp(list[i].End))
	}
}
