package cupelotel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

// writtenByHand returns a function that writes the spans and events of one run at the given
// verbosity against the SDK, as a program would that has all values at hand.
func writtenByHand(t *testing.T, p *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, verbosity cupelotel.Verbosity, provider trace.TracerProvider) func() {
	t.Helper()
	collector, recorder := traced(t, verbosity)
	_, err := p.Run(t.Context(), items, budget, pipeline.WithTrace(collector))
	require.NoError(t, err)
	spans := recorder.Ended()
	root := spans[len(spans)-1]
	tracer := provider.Tracer(cupelotel.ScopeName)
	// As many attributes at the start as the collector knows then.
	write := func(ctx context.Context, span sdktrace.ReadOnlySpan, atStart int) (context.Context, func()) {
		all := span.Attributes()
		//nolint:spancheck // the function that is returned ends it
		ctx, out := tracer.Start(ctx, span.Name(), trace.WithTimestamp(span.StartTime()), trace.WithAttributes(fresh(all[:atStart])...))
		return ctx, func() { //nolint:spancheck // see above
			for _, e := range span.Events() {
				out.AddEvent(e.Name, trace.WithTimestamp(e.Time), trace.WithAttributes(fresh(e.Attributes)...))
			}
			out.SetAttributes(fresh(all[atStart:])...)
			out.End(trace.WithTimestamp(span.EndTime()))
		}
	}
	return func() {
		ctx, end := write(t.Context(), root, 6)
		for _, span := range spans[:len(spans)-1] {
			_, endStage := write(ctx, span, 2)
			endStage()
		}
		end()
	}
}

// fresh makes a list of attributes, as a program does for each span and event.
func fresh(attrs []attribute.KeyValue) []attribute.KeyValue {
	list := make([]attribute.KeyValue, len(attrs))
	copy(list, attrs)
	return list
}
