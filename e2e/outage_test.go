package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// prompt is far more than any turn takes, and far less than the ten seconds
// after which an exporter gives up: a turn that waits for one is seen.
const prompt = 5 * time.Second

// outcome is the selection of a turn, with or without an observer.
func (r record) outcome() string {
	return fmt.Sprint(r.Turn, r.Candidates, r.Selected, r.SelectedTokens, r.Excluded, r.Error)
}

// unobserved returns the outcomes of a conversation that nothing is sent from.
func unobserved(t *testing.T) []string {
	t.Helper()
	e := startExample(t, nil)
	var outcomes []string
	for range turns {
		outcomes = append(outcomes, e.next(t).outcome())
	}
	if code, stderr := e.end(t); code != 0 || stderr != "" {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	return outcomes
}

// sendAtOnce has the SDK send what it has twenty times a second.
const sendAtOnce = "OTEL_BSP_SCHEDULE_DELAY=50"

// TestJaegerComesLate starts the conversation before Jaeger.
func TestJaegerComesLate(t *testing.T) {
	j := newJaeger(t)
	want := unobserved(t)
	e := startExample(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + j.endpoint(), sendAtOnce}, "-step")
	takeTurns(t, e, want, 1, 2)
	// Until the spans of both turns have been tried and lost, which takes a tenth
	// of a second on an idle machine.
	time.Sleep(3 * time.Second)
	j.start(t)
	later := takeTurns(t, e, want, 3, turns)
	code, stderr := e.end(t)
	checkLost(t, j, code, stderr)
	for _, r := range later {
		if got, want := describe(j.trace(t, r.Spans[0].TraceID, len(r.Spans))), describe(r.Spans); got != want {
			t.Errorf("turn %d: Jaeger has:\n%s\nthe example did:\n%s", r.Turn, got, want)
		}
	}
}

// TestJaegerDies ends Jaeger in the middle of the conversation.
func TestJaegerDies(t *testing.T) {
	j := startJaeger(t)
	want := unobserved(t)
	e := startExample(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + j.endpoint(), sendAtOnce}, "-step")
	for _, r := range takeTurns(t, e, want, 1, 2) {
		j.trace(t, r.Spans[0].TraceID, len(r.Spans)) // they arrive while the conversation goes on
	}
	j.kill(t)
	takeTurns(t, e, want, 3, turns)
	code, stderr := e.end(t)
	checkLost(t, j, code, stderr)
}

// takeTurns steps through turns and checks that they went as they should.
func takeTurns(t *testing.T, e *example, want []string, first, last int) []record {
	t.Helper()
	var records []record
	for number := first; number <= last; number++ {
		if number > 1 {
			e.step(t)
		}
		r := e.next(t)
		records = append(records, r)
		if got := r.outcome(); got != want[number-1] {
			t.Errorf("turn %d selected %s; want, as without an observer, %s", number, got, want[number-1])
		}
		for _, s := range r.Spans {
			if took := time.Duration(nanos(t, s.EndTimeUnixNano) - nanos(t, s.StartTimeUnixNano)); took > prompt {
				t.Errorf("turn %d: %s took %s", number, s.Name, took)
			}
		}
	}
	return records
}

// checkLost checks that the example says that spans are missing, and what to do.
func checkLost(t *testing.T, j *jaeger, code int, stderr string) {
	t.Helper()
	if code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	for _, text := range []string{
		"spans did not arrive at " + j.endpoint() + "/v1/traces", "connection refused",
		"docker compose up -d jaeger", "OTEL_EXPORTER_OTLP_ENDPOINT sets it", "port 4318",
	} {
		if !strings.Contains(stderr, text) {
			t.Errorf("the example does not say %q:\n%s", text, stderr)
		}
	}
}
