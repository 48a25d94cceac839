package cupelotel

import (
	"cmp"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// selection lists the items that get an event on one span.
type selection struct {
	excluded []cupel.ExcludedItem // highest score first
	included []cupel.IncludedItem // in placed order
}

// choose selects the items that get an event, under one limit for exclusions
// and inclusions together: the exclusion with the highest score of each reason
// first, then the highest scores; among equal scores exclusions first, then the
// earlier item. NaN is the lowest score. It does not modify its arguments.
func choose(excluded []cupel.ExcludedItem, included []cupel.IncludedItem, limit int) selection {
	if limit >= 0 && len(excluded)+len(included) > limit {
		kept := ranked(excluded, included)[:limit]
		slices.Sort(kept)
		n, _ := slices.BinarySearch(kept, len(excluded))
		out, in := make([]cupel.ExcludedItem, n), make([]cupel.IncludedItem, len(kept)-n)
		for i, at := range kept[:n] {
			out[i] = excluded[at]
		}
		for i, at := range kept[n:] {
			in[i] = included[at-len(excluded)]
		}
		excluded, included = out, in
	}
	byScore := func(a, b cupel.ExcludedItem) int { return cmp.Compare(b.Score, a.Score) }
	if !slices.IsSortedFunc(excluded, byScore) { // they mostly are: the slicer sees a sorted list
		excluded = slices.Clone(excluded)
		slices.SortStableFunc(excluded, byScore)
	}
	return selection{excluded, included}
}

// ranked returns the positions of all items, exclusions before inclusions, in the order
// in which they get events.
func ranked(excluded []cupel.ExcludedItem, included []cupel.IncludedItem) []int {
	scores := make([]float64, 0, len(excluded)+len(included))
	for i := range excluded {
		scores = append(scores, excluded[i].Score)
	}
	for i := range included {
		scores = append(scores, included[i].Score)
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })

	seen := make(map[cupel.ExclusionCode]bool)
	var firsts, rest []int
	for _, at := range order {
		if at < len(excluded) && !seen[excluded[at].Reason.Code] {
			seen[excluded[at].Reason.Code] = true
			firsts = append(firsts, at)
		} else {
			rest = append(rest, at)
		}
	}
	return append(firsts, rest...)
}

// itemKeys are the names of attributes that events of exclusions and
// inclusions share.
type itemKeys struct{ kind, tokens, score, group, stale attribute.Key }

var (
	exclusionKeys = itemKeys{exclusionItemKindKey, exclusionItemTokensKey, exclusionItemScoreKey, exclusionItemGroupKey, exclusionItemStaleKey}
	includedKeys  = itemKeys{itemKindKey, itemTokensKey, itemScoreKey, itemGroupKey, itemStaleKey}
)

// appendFacts appends the attributes of an item that both kinds of events
// have.
func (c *TraceCollector) appendFacts(attrs []attribute.KeyValue, keys itemKeys, item *cupel.ContextItem, score float64, stale bool) []attribute.KeyValue {
	attrs = append(attrs, keys.kind.String(c.redaction.text(observe.PartKind, string(item.Kind()))), keys.tokens.Int(item.Tokens()), keys.score.Float64(score))
	if group := c.redaction.text(observe.PartGroup, item.Group()); group != "" {
		attrs = append(attrs, keys.group.String(group))
	}
	if stale {
		attrs = append(attrs, keys.stale.Bool(true))
	}
	return attrs
}

// addEvents records an event for each item of s.
func (c *TraceCollector) addEvents(span trace.Span, s selection) {
	for i := range s.excluded {
		e := &s.excluded[i]
		attrs := append(make([]attribute.KeyValue, 0, 4), exclusionReasonKey.String(c.reason(e.Reason.Code)))
		attrs = c.appendFacts(attrs, exclusionKeys, e.Item, e.Score, e.Stale)
		switch tokens := e.Reason.Data().GroupTokens; {
		case !slices.Contains(pipelineReasons, e.Reason.Code):
			attrs = c.appendData(attrs, e.Reason)
		case e.Reason.Code == cupel.ExcludeBudgetExceeded && tokens != 0 && e.Item.Group() != "":
			attrs = append(attrs, exclusionGroupTokensKey.Int(tokens))
		}
		span.AddEvent(exclusionEventName, trace.WithAttributes(c.appendItem(attrs, e.Item)...))
	}
	for i := range s.included {
		e := &s.included[i]
		attrs := c.appendFacts(make([]attribute.KeyValue, 0, 3), includedKeys, e.Item, e.Score, e.Stale)
		if e.Form > 0 {
			attrs = append(attrs, itemFormKey.Int(e.Form))
		}
		span.AddEvent(includedEventName, trace.WithAttributes(c.appendItem(attrs, e.Item)...))
	}
}

// appendReasons appends the reasons for which items were left out, and how many for
// each, if there are any. Reasons of custom strategies, which may be many, count as one.
func appendReasons(attrs []attribute.KeyValue, counts []observe.ReasonCount) []attribute.KeyValue {
	named := make(map[string]int)
	for _, c := range counts {
		name := other
		if slices.Contains(reasons, c.Code) {
			name = string(c.Code)
		}
		named[name] += c.Items
	}
	if len(named) == 0 {
		return attrs
	}
	names := slices.Sorted(maps.Keys(named))
	items := make([]int, len(names))
	for i, name := range names {
		items[i] = named[name]
	}
	return append(attrs, exclusionReasonsKey.StringSlice(names), exclusionReasonCountsKey.IntSlice(items))
}

// pipelineReasons are the codes of the pipeline and its slicers whose events
// have fixed attributes. The similarity of a near duplicate is shown like the
// data of custom reasons.
var pipelineReasons = []cupel.ExclusionCode{
	cupel.ExcludeBudgetExceeded, cupel.ExcludeDeduplicated, cupel.ExcludeNegativeTokens, cupel.ExcludePinnedOverride, cupel.ExcludeCountCapExceeded,
	cupel.ExcludeSuperseded,
}

// appendData appends the data of a custom reason, except contents, each under
// its JSON name.
func (c *TraceCollector) appendData(attrs []attribute.KeyValue, reason cupel.ExclusionReason) []attribute.KeyValue {
	for f := range reason.Fields() {
		key := attribute.Key(exclusionDataPrefix + f.Name)
		switch v := f.Value.(type) {
		case int:
			attrs = append(attrs, key.Int(v))
		case float64:
			attrs = append(attrs, key.Float64(v))
		case cupel.ContextKind:
			attrs = append(attrs, key.String(c.redaction.text(observe.PartKind, string(v))))
		case string:
			if text := c.redaction.text(observe.PartReasonData, v); text != "" && !f.Content {
				attrs = append(attrs, key.String(text))
			}
		}
	}
	return attrs
}

// reason returns the name of a reason. Unknown reasons keep their name (R45),
// which is redacted as text from outside Cupel.
func (c *TraceCollector) reason(code cupel.ExclusionCode) string {
	if slices.Contains(reasons, code) {
		return string(code)
	}
	return c.redaction.text(observe.PartReason, string(code))
}
