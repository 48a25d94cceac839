package cupelotel_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelotel"
)

// The place stage of this run truncates two items and keeps three, so that
// both kinds of events share its limit; the slice stage leaves out three:
//
//	slice: s1 0.95 (BudgetExceeded), s2 0.15, s3 0.45
//	place, out: t1 0.3, t2 0.2
//	place, in:  p 1 (pinned), i1 0.8, i2 0.6
func crowded(tb testing.TB) []*cupel.ContextItem {
	tb.Helper()
	take := cupel.WithTags("take")
	return []*cupel.ContextItem{
		newItem(tb, "p", 10, kind("p"), cupel.WithPinned()),
		newItem(tb, "i1", 40, kind("i1"), hint(0.8), take),
		newItem(tb, "i2", 40, kind("i2"), hint(0.6), take),
		newItem(tb, "t1", 40, kind("t1"), hint(0.3), take),
		newItem(tb, "t2", 40, kind("t2"), hint(0.2), take),
		newItem(tb, "s1", 40, kind("s1"), hint(0.95)),
		newItem(tb, "s2", 40, kind("s2"), hint(0.15)),
		newItem(tb, "s3", 40, kind("s3"), hint(0.45)),
	}
}

// eventKinds lists the kinds of a span's events: exclusions with a minus before
// them, inclusions with a plus.
func eventKinds(span sdktrace.ReadOnlySpan) string {
	var kinds []string
	for _, event := range span.Events() {
		switch event.Name {
		case "cupel.exclusion":
			kinds = append(kinds, "-"+attr(event.Attributes, "cupel.exclusion.item_kind"))
		case "cupel.item.included":
			kinds = append(kinds, "+"+attr(event.Attributes, "cupel.item.kind"))
		default:
			kinds = append(kinds, "?"+event.Name)
		}
	}
	return strings.Join(kinds, " ")
}

func counts(span sdktrace.ReadOnlySpan) string {
	var counts []string
	for _, kv := range span.Attributes() {
		switch kv.Key {
		case "cupel.exclusion.count", "cupel.exclusion.dropped_count", "cupel.item.dropped_count":
			counts = append(counts, strings.TrimPrefix(string(kv.Key), "cupel.")+"="+kv.Value.String())
		}
	}
	return strings.Join(counts, " ")
}

func TestEventLimit(t *testing.T) {
	tests := []struct {
		name               string
		verbosity          cupelotel.Verbosity
		limit              int
		slice, sliceCounts string
		place, placeCounts string
		why                string
	}{
		{name: "three", verbosity: cupelotel.VerbosityFull, limit: 3, slice: "-s1 -s3 -s2", sliceCounts: "exclusion.count=3",
			place: "-t1 +p +i1", placeCounts: "exclusion.count=2 exclusion.dropped_count=1 item.dropped_count=1", why: "the limit is one over both kinds, and t1 is the first of its reason"},
		{name: "one", verbosity: cupelotel.VerbosityFull, limit: 1, slice: "-s1", sliceCounts: "exclusion.count=3 exclusion.dropped_count=2",
			place: "-t1", placeCounts: "exclusion.count=2 exclusion.dropped_count=1 item.dropped_count=3", why: "a reason goes before a score"},
		{name: "none", verbosity: cupelotel.VerbosityFull, limit: 0, slice: "", sliceCounts: "exclusion.count=3 exclusion.dropped_count=3",
			place: "", placeCounts: "exclusion.count=2 exclusion.dropped_count=2 item.dropped_count=3", why: "as with the SDK, 0 means none; the counts stay"},
		{name: "exclusions only", verbosity: cupelotel.VerbosityStageAndExclusions, limit: 1, slice: "-s1", sliceCounts: "exclusion.count=3 exclusion.dropped_count=2",
			place: "-t1", placeCounts: "exclusion.count=2 exclusion.dropped_count=1", why: "below Full, inclusions neither use up the limit nor count as dropped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			collector, recorder := traced(t, tt.verbosity, cupelotel.WithEventLimit(tt.limit))
			_, err := newPipeline(t, config()).Run(t.Context(), crowded(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
			require.NoError(t, err)
			slice, place := spanNamed(t, recorder, "cupel.stage.slice"), spanNamed(t, recorder, "cupel.stage.place")
			assert.Equal(t, tt.slice, eventKinds(slice), tt.why)
			assert.Equal(t, tt.place, eventKinds(place), tt.why)
			assert.Equal(t, tt.sliceCounts, counts(slice), tt.why)
			assert.Equal(t, tt.placeCounts, counts(place), tt.why)
		})
	}
}

// many returns n items that are all left out by the slicer, with the scores
// 1/n, 2/n, … 1.
func many(tb testing.TB, n int) []*cupel.ContextItem {
	tb.Helper()
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		items[i] = newItem(tb, fmt.Sprint("item ", i), 1, kind(cupel.ContextKind(strconv.Itoa(i))), hint(float64(i+1)/float64(n)))
	}
	return items
}

// TestNoReasonVanishes: 900 items with high scores are too large, and 100 with low
// ones are dropped for reasons of the slicer's own. The default limit is that of the
// SDK: one event for each reason, and the rest by score.
func TestNoReasonVanishes(t *testing.T) {
	var items []*cupel.ContextItem
	for i := range 1000 {
		k, score := cupel.ContextKind("large"), hint(1)
		if i%10 == 0 {
			k, score = cupel.ContextKind([]string{"Filtered", "Boring", "Dull"}[i/10%3]), hint(0)
		}
		items = append(items, newItem(t, fmt.Sprint("item ", i), 1, kind(k), score))
	}
	c := config()
	c.Slicer = sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
		var s strategy.Selection
		for i, scored := range items {
			if k := scored.Item.Kind(); k != "large" {
				s.Drops = append(s.Drops, strategy.Drop{Index: i, Reason: cupel.ExclusionReason{Code: cupel.ExclusionCode(k)}})
			}
		}
		return s, nil
	})
	spans, recorder := traced(t, cupelotel.VerbosityStageAndExclusions)
	_, err := newPipeline(t, c).Run(t.Context(), items, newBudget(t, 1000, 0), pipeline.WithTrace(spans))
	require.NoError(t, err)
	span := spanNamed(t, recorder, "cupel.stage.slice")
	events := make(map[string]int)
	for _, event := range span.Events() {
		events[attr(event.Attributes, "cupel.exclusion.reason")]++
	}
	assert.Equal(t, map[string]int{"BudgetExceeded": 125, "Filtered": 1, "Boring": 1, "Dull": 1}, events)
	assert.Equal(t, `["BudgetExceeded","Filtered","_OTHER"]`, attr(span.Attributes(), "cupel.exclusion.reasons"))
	assert.Equal(t, "[900,34,66]", attr(span.Attributes(), "cupel.exclusion.reason_counts"))
	assert.Zero(t, span.DroppedEvents())
}

// The data of a custom reason are attributes, but for contents; the size of a group
// is one of its own where the group did not fit.
func TestDataOfReasons(t *testing.T) {
	grouped := cupel.WithGroup("g")
	shown := observe.Redaction{Show: observe.PartGroup | observe.PartReasonData}
	for _, row := range []struct {
		policy observe.Redaction
		opts   []cupel.ItemOption
		reason cupel.ExclusionReason
		want   string
		why    string
	}{
		{observe.Redaction{}, []cupel.ItemOption{grouped}, cupel.NewExclusionReason("Boring", cupel.ReasonData{Cap: 3, Kind: "Note", FilterName: "spam", Of: "a secret"}),
			"data.kind=Note data.cap=3", "numbers and kinds leave by default"},
		{shown, nil, cupel.NewExclusionReason("Boring", cupel.ReasonData{Cap: 3, Score: 0.5, Kind: "Note", FilterName: "spam", Of: "a secret"}),
			"data.score=0.5 data.kind=Note data.cap=3 data.filter_name=spam", "a content is left out"},
		{shown, nil, cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 3}), "", "its data are in fixed attributes"},
		{shown, []cupel.ItemOption{grouped}, cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{GroupTokens: 1}), "item_group=g group_tokens=1", "the group did not fit"},
		{shown, []cupel.ItemOption{grouped}, cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{}), "item_group=g", "its size is not known"},
		{shown, []cupel.ItemOption{grouped}, cupel.NewExclusionReason("Boring", cupel.ReasonData{GroupTokens: 7}), "item_group=g data.group_tokens=7", "it did not fit another rule"},
	} {
		collector, recorder := traced(t, cupelotel.VerbosityStageAndExclusions, cupelotel.WithRedaction(row.policy))
		c := config()
		c.Slicer = sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
			return strategy.Selection{Drops: []strategy.Drop{{Index: 0, Reason: row.reason}}}, nil
		})
		items := []*cupel.ContextItem{newItem(t, "secret", 3, row.opts...)}
		_, err := newPipeline(t, c).Run(t.Context(), items, newBudget(t, 10, 10), pipeline.WithTrace(collector))
		require.NoError(t, err)
		var got []string
		for _, event := range spanNamed(t, recorder, "cupel.stage.slice").Events() {
			for _, kv := range event.Attributes[4:] { // after those of each exclusion
				got = append(got, strings.TrimPrefix(string(kv.Key), "cupel.exclusion.")+"="+kv.Value.String())
			}
		}
		assert.Equal(t, row.want, strings.Join(got, " "), row.why)
	}
}
