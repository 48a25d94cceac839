package cupelotel_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

// full runs the candidates at Full with a redactor, which may be nil, and
// returns the spans as text.
func full(t *testing.T, redact cupelotel.Redactor, arrange func(*testing.T, *failing)) string {
	t.Helper()
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull), cupelotel.WithRedaction(redact))
	if arrange == nil {
		if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	} else {
		var f failing
		_ = f.run(t, arrange, collector)
	}
	return tree(recorder.Ended())
}

func TestRedactorSeesAllText(t *testing.T) {
	seen := make(map[string]bool)
	shown := full(t, func(source cupelotel.TextSource, text string) string {
		seen[fmt.Sprint(source, " ", text)] = true
		return "XX"
	}, nil)
	for _, text := range []string{"1 SystemPrompt", "1 Message", "1 ToolOutput", "1 Document", "1 Journal", "2 Boring"} {
		if !seen[text] {
			t.Errorf("the redactor did not see %q", text)
		}
		if strings.Contains(shown, text[2:]) {
			t.Errorf("%q is shown:\n%s", text[2:], shown)
		}
	}
	if len(seen) != 6 || strings.Count(shown, "XX") != 9 {
		t.Errorf("the redactor saw %v and is shown %d times, want 6 texts and 9 times", seen, strings.Count(shown, "XX"))
	}
}

func TestRedactorOfErrors(t *testing.T) {
	panics := func(_ *testing.T, f *failing) {
		f.config.Scorer = scoreFunc(func(*cupel.ContextItem) float64 { panic("secret of 4 tokens") })
	}
	const summary = "status Error: cupel: scorer cupelotel_test.scoreFunc panicked\n"
	for _, tt := range []struct {
		name   string
		redact func(text string) string
		want   string
		why    string
	}{
		{"everything", func(text string) string { return text },
			"status Error: cupel: scorer cupelotel_test.scoreFunc panicked: panic: secret of 4 tokens\n", "the redactor may show the text"},
		{"some of it", func(text string) string { return strings.ReplaceAll(text, "secret", "…") },
			"status Error: cupel: scorer cupelotel_test.scoreFunc panicked: panic: … of 4 tokens\n", "as the redactor says"},
		{"nothing", func(string) string { return "" }, summary, "a status has a description"},
		{"panic", func(string) string { panic("secret") }, summary, "a redactor that fails shows nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			handled := handledErrors(t)
			shown := full(t, func(source cupelotel.TextSource, text string) string {
				if source != cupelotel.TextError {
					return text
				}
				return tt.redact(text)
			}, panics)
			if strings.Count(shown, tt.want) != 2 { // root and stage
				t.Errorf("want twice %q, %s:\n%s", tt.want, tt.why, shown)
			}
			if errs := handled(); (len(errs) > 0) != (tt.name == "panic") || strings.Contains(fmt.Sprint(errs), "secret") {
				t.Errorf("the error handler got %v", errs)
			}
		})
	}
}

func TestRedactorOfKindsInErrors(t *testing.T) {
	shown := full(t, func(source cupelotel.TextSource, text string) string {
		if source == cupelotel.TextKind {
			return "(kind)"
		}
		return ""
	}, failureNamed(t, "scarcity"))
	if want := "cupel: too few candidates of a required kind: (kind) has 1 of 3 required items\n"; strings.Count(shown, want) != 2 {
		t.Errorf("want twice %q:\n%s", want, shown)
	}
}

// unspeakable is an error whose Error method panics.
type unspeakable struct{}

func (unspeakable) Error() string { panic("no text") }

func TestErrorsThatPanic(t *testing.T) {
	shown := full(t, func(_ cupelotel.TextSource, text string) string { return text }, func(_ *testing.T, f *failing) {
		f.ctx, f.cancel = context.WithCancelCause(f.ctx)
		f.cancel(unspeakable{})
	})
	if strings.Count(shown, "status Error: ") != 2 {
		t.Errorf("want two spans with the status Error:\n%s", shown)
	}
}

func TestInvalidUTF8(t *testing.T) {
	// One such string makes the exporter of OTLP refuse the whole batch.
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
	items := []*cupel.ContextItem{newItem(t, "a", 1, kind("bad\xff"))}
	if _, err := newPipeline(t, config()).Run(t.Context(), items, newBudget(t, 10, 5), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	events := spanNamed(t, recorder, "cupel.stage.slice").Events()
	if len(events) != 1 || attr(events[0].Attributes, "cupel.exclusion.item_kind") != "bad\uFFFD" {
		t.Errorf("the events are %v, want one with the replacement character", events)
	}
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
