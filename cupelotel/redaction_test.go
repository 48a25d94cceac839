package cupelotel_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupelotel"
)

// full runs the candidates at Full with a redactor, which may be nil, and
// returns the spans as text.
func full(t *testing.T, redact func(observe.Part, string) string, arrange func(*testing.T, *failing)) string {
	t.Helper()
	collector, recorder := traced(t, cupelotel.VerbosityFull, cupelotel.WithRedaction(observe.Redaction{Show: observe.PartError, Rewrite: redact}))
	if arrange == nil {
		run(t, config(), collector)
	} else {
		var f failing
		f.run(t, arrange, collector)
	}
	return tree(recorder.Ended())
}

func TestRedactorSeesAllText(t *testing.T) {
	seen := make(map[string]bool)
	shown := full(t, func(source observe.Part, text string) string {
		seen[fmt.Sprint(source, " ", text)] = true
		return "XX"
	}, nil)
	want := map[string]bool{"1 SystemPrompt": true, "1 Message": true, "1 ToolOutput": true, "1 Document": true, "1 Journal": true, "2 Boring": true}
	assert.Equal(t, want, seen)
	for text := range want {
		assert.NotContains(t, shown, text[2:])
	}
	assert.Equal(t, 9, strings.Count(shown, "XX"))
}

func TestRedactorOfErrors(t *testing.T) {
	panics := func(_ *testing.T, f *failing) {
		f.config.Scorer = scoreFunc(func(*cupel.ContextItem) float64 { panic("secret of 4 tokens") })
	}
	const summary = "status Error: cupel: scorer panicked\n"
	for _, tt := range []struct {
		name   string
		redact func(text string) string
		want   string
		why    string
	}{
		{"some of it", func(text string) string { return strings.ReplaceAll(text, "secret", "…") },
			"status Error: cupel: scorer cupelotel_test.scoreFunc panicked: panic: … of 4 tokens\n", "as the redactor says"},
		{"nothing", func(string) string { return "" }, summary, "a status has a description"},
		{"panic", func(string) string { panic("secret") }, summary, "a redactor that fails shows nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			handled := handledErrors(t)
			shown := full(t, func(source observe.Part, text string) string {
				if source != observe.PartError {
					return text
				}
				return tt.redact(text)
			}, panics)
			assert.Equal(t, 2, strings.Count(shown, tt.want), "root and stage; %s:\n%s", tt.why, shown)
			errs := handled()
			assert.Equal(t, tt.name == "panic", len(errs) > 0)
			assert.NotContains(t, fmt.Sprint(errs), "secret")
		})
	}
}

func TestRedactorOfKindsInErrors(t *testing.T) {
	shown := full(t, func(source observe.Part, text string) string {
		if source == observe.PartKind {
			return "(kind)"
		}
		return ""
	}, failureNamed(t, "scarcity"))
	assert.Equal(t, 2, strings.Count(shown, "cupel: too few candidates of a required kind: (kind) has 1 of 3 required items\n"))
}

// unspeakable is an error whose Error method panics.
type unspeakable struct{}

func (unspeakable) Error() string { panic("no text") }

func TestErrorsThatPanic(t *testing.T) {
	shown := full(t, func(_ observe.Part, text string) string { return text }, func(_ *testing.T, f *failing) {
		f.ctx, f.cancel = context.WithCancelCause(f.ctx)
		f.cancel(unspeakable{})
	})
	assert.Equal(t, 2, strings.Count(shown, "status Error: "))
}

// handledErrors collects the errors passed to OpenTelemetry's error handler.
func handledErrors(t *testing.T) func() []error {
	t.Helper()
	var mu sync.Mutex
	var errs []error
	previous := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}))
	t.Cleanup(func() { otel.SetErrorHandler(previous) })
	return func() []error {
		mu.Lock()
		defer mu.Unlock()
		return errs
	}
}
