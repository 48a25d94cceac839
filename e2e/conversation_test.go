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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
)

const service = "cupel-coding-agent"

// turns is the number of turns of the example's conversation, failing the one
// that does not fit.
const (
	turns   = 6
	failing = 3
)

// TestConversation runs the example with a real Jaeger and compares Jaeger's
// traces with the example's output, and both with the OpenTelemetry chapter.
func TestConversation(t *testing.T) {
	j := startJaeger(t)
	e := startExample(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+j.endpoint())
	var records []record
	for range turns {
		records = append(records, e.next(t))
	}
	code, stderr := e.end(t)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "all spans and metrics arrived at ")

	for _, r := range records {
		t.Run(fmt.Sprintf("turn %d", r.Turn), func(t *testing.T) {
			got := j.trace(t, r.Spans[0].TraceID, len(r.Spans))
			// Jaeger writes attributes and spans in an order of its own.
			assert.Equal(t, describe(r.Spans), describe(got))
			checkTree(t, r, got)
		})
	}

	var services struct{ Services []string }
	require.NoError(t, j.ask(t.Context(), "/api/v3/services", nil, func() any { return &services }))
	assert.Equal(t, []string{service}, services.Services)
	// A search by operation, as in the first steps of the example's README.
	found := make(map[string]bool)
	for _, s := range j.find(t, service, "cupel.pipeline") {
		found[s.TraceID] = true
	}
	for _, r := range records {
		assert.True(t, found[r.Spans[0].TraceID], "the search for cupel.pipeline does not find turn %d", r.Turn)
	}
	// And by tags, through what Jaeger's own pages ask.
	searches := map[string][]int{
		`{"error.type":"*pipeline.PinnedExceedsBudgetError"}`: {failing},
		`{"cupel.session.break_reason":"forced"}`:             broken(records, "forced"),
		`{"cupel.session.break_reason":"free"}`:               broken(records, "free"),
		`{"cupel.session.committed":"true"}`:                  committed,
	}
	// Every reason has an event, whose attributes Jaeger searches too.
	for _, reason := range cupel.ExclusionCodes() {
		searches[fmt.Sprintf(`{"cupel.exclusion.reason":%q}`, reason)] = leftOut(records, string(reason))
	}
	assert.NotEmpty(t, leftOut(records, string(cupel.ExcludeBudgetExceeded)), "no turn left out an item that does not fit")
	for tags, want := range searches {
		var answer struct{ Data []struct{ TraceID string } }
		query := url.Values{"service": {service}, "tags": {tags}, "lookback": {"1h"}, "limit": {"20"}}
		require.NoError(t, j.ask(t.Context(), "/api/traces", query, func() any { return &answer }))
		var got []int
		for _, trace := range answer.Data {
			for _, r := range records {
				if r.Spans[0].TraceID == trace.TraceID {
					got = append(got, r.Turn)
				}
			}
		}
		slices.Sort(got)
		assert.Equal(t, want, got, tags)
	}
}

// committed are the turns that the model answered.
var committed = []int{1, 2, 4, 5, 6}

// leftOut returns the turns that left something out for a reason.
func leftOut(records []record, reason string) []int {
	var list []int
	for _, r := range records {
		for _, stage := range r.Excluded {
			if stage[reason] > 0 && !slices.Contains(list, r.Turn) {
				list = append(list, r.Turn)
			}
		}
	}
	return list
}

// broken returns the turns that broke for a reason.
func broken(records []record, reason string) []int {
	var list []int
	for _, r := range records {
		if r.Break == reason {
			list = append(list, r.Turn)
		}
	}
	return list
}

var stages = []string{"classify", "score", "deduplicate", "slice", "place"}

// wantTree returns how many spans of a turn there are by path.
func wantTree(r record) map[string]int {
	const root, search, session = "agent.turn", "agent.turn/agent.search", "agent.turn/cupel.session.turn"
	want := map[string]int{root: 1, search: 1, session: 1}
	run := func(parent string, stages []string, times int) {
		want[parent+"/cupel.pipeline"] += times
		for _, stage := range stages {
			want[parent+"/cupel.pipeline/cupel.stage."+stage] += times
		}
	}
	run(search, stages, 1)
	if r.Break != "" {
		run(session, stages, 1)
	}
	if r.Turn == failing {
		run(session, stages[:1], 2) // the pinned check ends classify (R35), for two targets
	} else {
		want["agent.turn/chat stand-in"], want["agent.turn/cupel.session.commit"] = 1, 1
	}
	return want
}

// checkTree looks at the spans of a turn as Jaeger has them.
func checkTree(t *testing.T, r record, spans []span) {
	t.Helper()
	byID := make(map[string]span)
	for _, s := range spans {
		byID[s.SpanID] = s
	}
	path := func(s span) string {
		text := s.Name
		for s.ParentSpanID != "" {
			s = byID[s.ParentSpanID]
			text = s.Name + "/" + text
		}
		return text
	}
	got := make(map[string]int)
	for _, s := range spans {
		at := path(s)
		got[at]++
		assert.Equal(t, service, s.Service, at)
		if strings.HasPrefix(s.Name, "cupel.") {
			assert.Equal(t, "Wollax.Cupel", s.Scope, "%s (R44)", at)
		}
		p, ok := byID[s.ParentSpanID]
		start, end := number(t, s.StartTimeUnixNano), number(t, s.EndTimeUnixNano)
		if ok {
			assert.GreaterOrEqual(t, start, number(t, p.StartTimeUnixNano), "%s is not within %s", at, p.Name)
			assert.LessOrEqual(t, end, number(t, p.EndTimeUnixNano), "%s is not within %s", at, p.Name)
		}
		failed := r.Turn == failing && !strings.Contains(at, "agent.search")
		assert.Equal(t, failed, s.Status.Code == 2, "%s has the status %+v", at, s.Status)
		if failed && s.Name != "agent.turn" {
			assert.Equal(t, `string "*pipeline.PinnedExceedsBudgetError"`, attributesOf(s.Attributes)["error.type"], at)
			assert.Regexp(t, "^cupel: Pinned items require ", s.Status.Message, at)
		}
	}
	assert.Equal(t, wantTree(r), got)
	checkStages(t, spans)
	checkSession(t, r, spans)
}

// checkSession holds the spans of a session against what the example says of it.
func checkSession(t *testing.T, r record, spans []span) {
	t.Helper()
	for _, s := range spans {
		committed := s.Name == "cupel.session.commit"
		if s.Name != "cupel.session.turn" && !committed || r.Turn == failing {
			continue
		}
		attrs := attributesOf(s.Attributes)
		want := map[string]string{"cupel.session.committed": fmt.Sprint("bool ", committed)}
		if r.Break != "" {
			want["cupel.session.break_reason"] = fmt.Sprintf("string %q", r.Break)
		}
		if !committed {
			want["cupel.session.candidates"] = fmt.Sprint("int ", r.Candidates)
			want["cupel.budget.max_tokens"] = fmt.Sprint("int ", targetTokens*4/3)
		}
		for key, value := range want {
			assert.Equal(t, value, attrs[key], "%s: %s", s.Name, key)
		}
		_, ok := attrs["cupel.session.break_reason"]
		assert.Equal(t, r.Break != "", ok, "%s: %v", s.Name, attrs)
		_, ok = attrs["cupel.session.read_reported"]
		assert.Equal(t, committed, ok, "%s: %v", s.Name, attrs)
	}
}

// checkStages holds attributes and events of all runs of a turn against each other.
func checkStages(t *testing.T, spans []span) {
	t.Helper()
	for _, s := range spans {
		attrs := attributesOf(s.Attributes)
		if s.Name == "cupel.pipeline" {
			assert.Equal(t, `string "Full"`, attrs["cupel.verbosity"])
		}
		stage, ok := strings.CutPrefix(s.Name, "cupel.stage.")
		if !ok {
			continue
		}
		count := func(key string) int {
			if attrs[key] == "" {
				return 0
			}
			return number(t, strings.TrimPrefix(attrs[key], "int "))
		}
		assert.Equal(t, fmt.Sprintf("string %q", stage), attrs["cupel.stage.name"], s.Name)
		// One event for each, but for those that the span says are missing.
		events := make(map[string]int)
		for _, e := range s.Events {
			events[e.Name]++
			at := number(t, e.TimeUnixNano)
			assert.GreaterOrEqual(t, at, number(t, s.StartTimeUnixNano), "%s: %s", stage, e.Name)
			assert.LessOrEqual(t, at, number(t, s.EndTimeUnixNano), "%s: %s", stage, e.Name)
		}
		wantIncluded := 0
		if stage == "place" {
			wantIncluded = count("cupel.stage.item_count_out")
		}
		droppedOut, droppedIn := count("cupel.exclusion.dropped_count"), count("cupel.item.dropped_count")
		assert.Equal(t, count("cupel.exclusion.count")-droppedOut, events["cupel.exclusion"], stage)
		assert.Equal(t, wantIncluded-droppedIn, events["cupel.item.included"], stage)
		if droppedOut+droppedIn > 0 {
			assert.Len(t, s.Events, 128, stage)
		}
	}
}

// describe writes spans down, times to the nanosecond, in one order of spans
// and attributes. Events keep theirs.
func describe(spans []span) string {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.SpanID, b.SpanID) })
	var b strings.Builder
	attributes := func(list []keyValue) {
		// Jaeger adds remarks of its own, such as an empty @jaeger@warnings.
		list = slices.DeleteFunc(slices.Clone(list), func(a keyValue) bool { return strings.HasPrefix(a.Key, "@jaeger@") })
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
