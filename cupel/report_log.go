package cupel

import (
	"log/slog"
	"math"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// logStages is the order in which a log line lists stages. Unknown names follow
// in alphabetical order.
var logStages = []PipelineStage{StageClassify, StageScore, StageDeduplicate, StageSlice, StagePlace}

// LogValue returns a group that is safe to log: the number of candidates, of
// items included and excluded, and their tokens; the exclusions by reason; the
// durations of the stages in milliseconds; and, if there are any, shortfalls
// and the tokens over the budget. It never holds the content, a tag or metadata
// of an item.
//
// It takes time proportional to the size of the report. The receiver is a
// value, so that logging a report by value does not reveal its contents.
func (r SelectionReport) LogValue() slog.Value {
	excluded := make(map[ExclusionCode]int64)
	for _, e := range r.Excluded {
		excluded[e.Reason.Code]++
	}
	durations := make(map[PipelineStage]float64)
	for _, e := range r.Events {
		durations[e.Stage] += e.DurationMS
	}
	attrs := append(logCounts(r.TotalCandidates, r.TotalTokensConsidered, r.Included),
		slog.Int("excluded", len(r.Excluded)),
		slog.Attr{Key: "excluded_by_reason", Value: logGroup(excluded, ExclusionCodes(), slog.Int64Value)},
		slog.Attr{Key: "duration_ms", Value: logGroup(durations, logStages, logFloat)},
	)
	if n := len(r.CountRequirementShortfalls); n > 0 {
		attrs = append(attrs, slog.Int("count_requirement_shortfalls", n))
	}
	if r.Overflow != nil {
		attrs = append(attrs, slog.Int("tokens_over_budget", r.Overflow.TokensOverBudget))
	}
	return slog.GroupValue(attrs...)
}

// LogValue implements [slog.LogValuer]: a group of the same counts as
// [SelectionReport.LogValue] has, without the content of any item.
func (r StreamResult) LogValue() slog.Value {
	return slog.GroupValue(append(logCounts(r.TotalCandidates, r.TotalTokensConsidered, r.Included),
		slog.Attr{Key: "excluded_by_reason", Value: logGroup(r.Excluded, ExclusionCodes(), slog.IntValue)},
		slog.Bool("source_ended", r.SourceEnded),
	)...)
}

func logCounts(candidates, tokens int, included []IncludedItem) []slog.Attr {
	return []slog.Attr{
		slog.Int("total_candidates", candidates),
		slog.Int("total_tokens_considered", tokens),
		slog.Int("included", len(included)),
		slog.Int("included_tokens", tokensOf(included)),
	}
}

// LogValue implements [slog.LogValuer]: a group of the tokens over the budget,
// the number of items and the target, without the content of any item.
func (e OverflowEvent) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Int("tokens_over_budget", e.TokensOverBudget),
		slog.Int("items", len(e.OverflowingItems)),
		slog.Int("target_tokens", e.Budget.TargetTokens()),
	)
}

// LogValue implements [slog.LogValuer]: a group of the item, without its
// content, and the score.
func (s ScoredItem) LogValue() slog.Value {
	attrs := []slog.Attr{{Key: "score", Value: logFloat(s.Score)}}
	if s.Item != nil {
		attrs = append(attrs, slog.Attr{Key: "item", Value: s.Item.LogValue()})
	}
	return slog.GroupValue(attrs...)
}

func tokensOf(included []IncludedItem) int {
	var sum exact.Sum
	for _, i := range included {
		sum.Add(i.Item.Tokens())
	}
	return sum.Int()
}

// logFloat turns numbers that are not finite into words, since slog's JSON has
// no numbers for them.
func logFloat(f float64) slog.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return slog.StringValue(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return slog.Float64Value(f)
}

func floatAttr(name string, f float64) slog.Attr { return slog.Attr{Key: name, Value: logFloat(f)} }

// logGroup returns the entries of m as a group: first those in order, then all
// others.
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
