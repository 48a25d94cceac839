package cupel

import (
	"log/slog"
	"math"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// logStages is the order in which a log line lists stages. Names that are not
// known follow in the order of the alphabet.
var logStages = []PipelineStage{StageClassify, StageScore, StageDeduplicate, StageSlice, StagePlace}

// LogValue returns a group of what can be logged without care: how many
// candidates there were and how many items are in and out, their tokens, the
// exclusions by reason, the durations of the stages in milliseconds, and, if
// there are any, shortfalls and the tokens over the budget. It never holds the
// content, a tag or metadata of an item.
//
// It takes time proportional to the size of the report. The receiver is a
// value, so that a report that is logged by value does not give its contents
// away.
func (r SelectionReport) LogValue() slog.Value {
	var includedTokens exact.Sum
	for _, i := range r.Included {
		includedTokens.Add(i.Item.Tokens())
	}
	excluded := make(map[ExclusionCode]int64)
	for _, e := range r.Excluded {
		excluded[e.Reason.Code]++
	}
	durations := make(map[PipelineStage]float64)
	for _, e := range r.Events {
		durations[e.Stage] += e.DurationMS
	}
	attrs := []slog.Attr{
		slog.Int("total_candidates", r.TotalCandidates),
		slog.Int("total_tokens_considered", r.TotalTokensConsidered),
		slog.Int("included", len(r.Included)),
		slog.Int("included_tokens", includedTokens.Int()),
		slog.Int("excluded", len(r.Excluded)),
		{Key: "excluded_by_reason", Value: logGroup(excluded, ExclusionCodes(), slog.Int64Value)},
		{Key: "duration_ms", Value: logGroup(durations, logStages, logFloat)},
	}
	if n := len(r.CountRequirementShortfalls); n > 0 {
		attrs = append(attrs, slog.Int("count_requirement_shortfalls", n))
	}
	if r.Overflow != nil {
		attrs = append(attrs, slog.Int("tokens_over_budget", r.Overflow.TokensOverBudget))
	}
	return slog.GroupValue(attrs...)
}

// logFloat makes a word of what is not finite: slog's JSON has no number for it.
func logFloat(f float64) slog.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return slog.StringValue(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return slog.Float64Value(f)
}

// logGroup returns a group of the entries of m, first those in the given order
// and then all others.
func logGroup[K ~string, V any](m map[K]V, order []K, value func(V) slog.Value) slog.Value {
	var others []K
	for k := range m {
		if !slices.Contains(order, k) {
			others = append(others, k)
		}
	}
	slices.Sort(others)
	var attrs []slog.Attr
	for _, k := range slices.Concat(order, others) {
		if v, ok := m[k]; ok {
			attrs = append(attrs, slog.Attr{Key: string(k), Value: value(v)})
		}
	}
	return slog.GroupValue(attrs...)
}
