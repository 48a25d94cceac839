package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const service = "cupel-coding-agent"

// turns is the number of turns of the example's conversation, failing the one
// that does not fit.
const (
	turns   = 5
	failing = 4
)

// TestConversation runs the example with a real Jaeger and compares Jaeger's
// traces with the example's output, and both with the OpenTelemetry chapter.
func TestConversation(t *testing.T) {
	j := startJaeger(t)
	e := startExample(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + j.endpoint()})
	var records []record
	for range turns {
		records = append(records, e.next(t))
	}
	if code, stderr := e.end(t); code != 0 || !strings.Contains(stderr, "spans arrived") {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}

	for _, r := range records {
		t.Run(fmt.Sprintf("turn %d", r.Turn), func(t *testing.T) {
			got := j.trace(t, r.Spans[0].TraceID, len(r.Spans))
			// Jaeger writes attributes and spans in an order of its own.
			if got, want := describe(got), describe(r.Spans); got != want {
				t.Errorf("Jaeger has:\n%s\nthe example did:\n%s", got, want)
			}
			checkTree(t, r, got)
		})
	}

	var services struct{ Services []string }
	if err := j.ask(t.Context(), "/api/v3/services", nil, func() any { return &services }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(services.Services, []string{service}) {
		t.Errorf("services: %q", services.Services)
	}
	// A search by operation, as in the first steps of the example's README.
	found := make(map[string]bool)
	for _, s := range j.find(t, service, "cupel.pipeline") {
		found[s.TraceID] = true
	}
	for _, r := range records {
		if !found[r.Spans[0].TraceID] {
			t.Errorf("the search for cupel.pipeline does not find turn %d", r.Turn)
		}
	}
	// And by tags, through what Jaeger's own pages ask.
	for tags, want := range map[string][]int{
		`{"error.type":"*cupel.PinnedExceedsBudgetError"}`: {failing},
		`{"cupel.exclusion.reason":"Deduplicated"}`:        duplicated(records),
	} {
		var answer struct{ Data []struct{ TraceID string } }
		query := url.Values{"service": {service}, "tags": {tags}, "lookback": {"1h"}, "limit": {"20"}}
		if err := j.ask(t.Context(), "/api/traces", query, func() any { return &answer }); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, trace := range answer.Data {
			for _, r := range records {
				if r.Spans[0].TraceID == trace.TraceID {
					got = append(got, r.Turn)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the search for %s finds the turns %v, want %v", tags, got, want)
		}
	}
}

func duplicated(records []record) []int {
	var list []int
	for _, r := range records {
		if r.Excluded["deduplicate"]["Deduplicated"] > 0 {
			list = append(list, r.Turn)
		}
	}
	return list
}

var stages = []string{"classify", "score", "deduplicate", "slice", "place"}

// checkTree looks at the spans of a turn as Jaeger has them.
func checkTree(t *testing.T, r record, spans []span) {
	t.Helper()
	wantStages := stages
	if r.Turn == failing {
		wantStages = stages[:1] // the pinned check ends classify (R35)
	}
	parents := map[string]string{"agent.turn": "", "agent.prepare": "agent.turn", "cupel.pipeline": "agent.turn"}
	for _, stage := range wantStages {
		parents["cupel.stage."+stage] = "cupel.pipeline"
	}
	byName := make(map[string]span)
	for _, s := range spans {
		byName[s.Name] = s
	}
	if len(spans) != len(parents) || len(byName) != len(parents) {
		t.Fatalf("%d spans with %d names, want %d", len(spans), len(byName), len(parents))
	}
	for name, parent := range parents {
		s, ok := byName[name]
		if !ok || s.ParentSpanID != byName[parent].SpanID {
			t.Errorf("%s (there: %t) is not a child of %q", name, ok, parent)
			continue
		}
		if s.Service != service {
			t.Errorf("%s is of the service %q", name, s.Service)
		}
		if want := "Wollax.Cupel"; strings.HasPrefix(name, "cupel.") && s.Scope != want {
			t.Errorf("%s is of the scope %q, want %q (R44)", name, s.Scope, want)
		}
		start, end := nanos(t, s.StartTimeUnixNano), nanos(t, s.EndTimeUnixNano)
		if p, ok := byName[parent]; ok && (start < nanos(t, p.StartTimeUnixNano) || end > nanos(t, p.EndTimeUnixNano)) {
			t.Errorf("%s is not within %s", name, parent)
		}
		failed := r.Turn == failing && name != "agent.prepare"
		if (s.Status.Code == 2) != failed {
			t.Errorf("%s has the status %+v, failed: %t", name, s.Status, failed)
		}
		if failed && name != "agent.turn" {
			if got := attributesOf(s.Attributes)["error.type"]; got != `string "*cupel.PinnedExceedsBudgetError"` {
				t.Errorf("%s has the error.type %s", name, got)
			}
			if !strings.HasPrefix(s.Status.Message, "cupel: Pinned items require ") {
				t.Errorf("%s says %q", name, s.Status.Message)
			}
		}
	}
	checkStages(t, r, byName, wantStages)
}

// checkStages holds attributes and events against the counts of the run.
func checkStages(t *testing.T, r record, byName map[string]span, wantStages []string) {
	t.Helper()
	root := attributesOf(byName["cupel.pipeline"].Attributes)
	if want := fmt.Sprint("int ", r.TargetTokens*4/3); root["cupel.budget.max_tokens"] != want || root["cupel.verbosity"] != `string "Full"` {
		t.Errorf("the root has %v, want a budget of %s at Full", root, want)
	}
	in := r.Candidates
	for i, stage := range wantStages {
		s := byName["cupel.stage."+stage]
		attrs := attributesOf(s.Attributes)
		number := func(key string) int {
			text, ok := strings.CutPrefix(attrs[key], "int ")
			n, err := strconv.Atoi(text)
			if ok && err != nil {
				t.Error(err)
			}
			return n
		}
		left := 0
		for _, n := range r.Excluded[stage] {
			left += n
		}
		if attrs["cupel.stage.name"] != fmt.Sprintf("string %q", stage) || number("cupel.exclusion.count") != left {
			t.Errorf("%s has %v, want %d exclusions", stage, attrs, left)
		}
		if i == 0 && number("cupel.stage.item_count_in") != in {
			t.Errorf("%s: %v, want %d candidates", stage, attrs, in)
		}
		if i == len(stages)-1 && number("cupel.stage.item_count_out") != r.Selected {
			t.Errorf("%s: %v, want %d selected", stage, attrs, r.Selected)
		}
		// One event for each, but for those that the span says are missing.
		events := make(map[string]int)
		tokens := 0
		for _, e := range s.Events {
			events[e.Name]++
			if e.TimeUnixNano != s.EndTimeUnixNano {
				t.Errorf("%s: %s happened at %s, want %s", stage, e.Name, e.TimeUnixNano, s.EndTimeUnixNano)
			}
			n, err := strconv.Atoi(strings.TrimPrefix(attributesOf(e.Attributes)["cupel.item.tokens"], "int "))
			if err == nil {
				tokens += n
			}
		}
		wantIncluded := 0
		if stage == "place" {
			wantIncluded = r.Selected
		}
		droppedOut, droppedIn := number("cupel.exclusion.dropped_count"), number("cupel.item.dropped_count")
		if events["cupel.exclusion"] != left-droppedOut || events["cupel.item.included"] != wantIncluded-droppedIn ||
			(droppedOut+droppedIn > 0 && len(s.Events) != 128) {
			t.Errorf("%s has %v events and says that %d and %d are missing, of %d exclusions and %d items", stage, events, droppedOut, droppedIn, left, wantIncluded)
		}
		if stage == "place" && droppedIn == 0 && tokens != r.SelectedTokens {
			t.Errorf("the items of the window have %d tokens, want %d", tokens, r.SelectedTokens)
		}
	}
}

func nanos(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// describe writes spans down, times to the nanosecond, in one order of spans
// and attributes. Events keep theirs.
func describe(spans []span) string {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.SpanID, b.SpanID) })
	var b strings.Builder
	attributes := func(list []keyValue) {
		attrs := attributesOf(list)
		if len(attrs) != len(list) {
			b.WriteString(" (an attribute occurs twice)")
		}
		for _, key := range slices.Sorted(maps.Keys(attrs)) {
			fmt.Fprintf(&b, " %s=%s", key, attrs[key])
		}
		b.WriteByte('\n')
	}
	for _, s := range spans {
		start, _ := strconv.ParseInt(s.StartTimeUnixNano, 10, 64)
		end, _ := strconv.ParseInt(s.EndTimeUnixNano, 10, 64)
		fmt.Fprintf(&b, "%s %s<%s %s %s %s/%s from %d for %s, status %d %q:", s.TraceID, s.SpanID, s.ParentSpanID, s.Name,
			s.Service, s.Scope, s.ScopeVersion, start, time.Duration(end-start), s.Status.Code, s.Status.Message)
		attributes(s.Attributes)
		for _, e := range s.Events {
			fmt.Fprintf(&b, "\t%s %s", e.TimeUnixNano, e.Name)
			attributes(e.Attributes)
		}
	}
	return b.String()
}
