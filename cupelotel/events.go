package cupelotel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// selection is what gets an event on one span.
type selection struct {
	excluded []cupel.ExcludedItem // highest score first
	included []cupel.IncludedItem // in placed order
}

// choose selects the items that get an event, under one limit for exclusions
// and inclusions together: the exclusion with the highest score of each reason
// first, then the highest scores; among equal scores exclusions first, then the
// earlier item. It does not modify its arguments. It takes O(N log limit), or the
// time to sort the exclusions when there is no limit.
func choose(excluded []cupel.ExcludedItem, included []cupel.IncludedItem, limit int) selection {
	if limit >= 0 && len(excluded)+len(included) > limit {
		best := newTop(limit)
		firsts := firstOfEachReason(excluded)
		for i := range excluded {
			first := len(firsts) > 0 && firsts[0] == i
			if first {
				firsts = firsts[1:]
			}
			best.offer(ranked{excluded[i].Score, i, first})
		}
		for i := range included {
			best.offer(ranked{included[i].Score, len(excluded) + i, false})
		}
		excluded, included = best.split(excluded, included)
	}
	byScore := func(a, b cupel.ExcludedItem) int { return cmp.Compare(b.Score, a.Score) }
	if !slices.IsSortedFunc(excluded, byScore) { // they mostly are: the slicer sees a sorted list
		excluded = slices.Clone(excluded)
		slices.SortStableFunc(excluded, byScore)
	}
	return selection{excluded, included}
}

// firstOfEachReason returns, ascending, the position of the exclusion with the
// highest score of each reason.
func firstOfEachReason(excluded []cupel.ExcludedItem) []int {
	best := make(map[cupel.ExclusionCode]*ranked, len(reasons))
	var last *ranked // neighbors mostly have one reason
	var code cupel.ExclusionCode
	for i := range excluded {
		if c := excluded[i].Reason.Code; last == nil || c != code {
			code, last = c, best[c]
			if last == nil {
				last = &ranked{excluded[i].Score, i, true}
				best[c] = last
			}
		}
		if this := (ranked{excluded[i].Score, i, true}); this.before(*last) {
			*last = this
		}
	}
	firsts := make([]int, 0, len(best))
	for _, r := range best {
		firsts = append(firsts, r.at)
	}
	slices.Sort(firsts)
	return firsts
}

// ranked is an item's score and its position among all candidates for an event,
// exclusions first.
type ranked struct {
	score float64
	at    int
	first bool // of its reason
}

// before reports whether a goes before b under the limit. NaN is the lowest.
func (a ranked) before(b ranked) bool {
	if a.first != b.first {
		return a.first
	}
	if order := cmp.Compare(b.score, a.score); order != 0 {
		return order < 0
	}
	return a.at < b.at
}

// top keeps the highest-ranked values it is offered, in a heap with the lowest
// at the root, so most offers take one comparison.
type top struct {
	limit int
	heap  []ranked
}

func newTop(limit int) *top { return &top{limit, make([]ranked, 0, limit)} }

func (t *top) offer(r ranked) {
	h := t.heap
	switch {
	case len(h) < t.limit:
		h = append(h, r)
		for i := len(h) - 1; i > 0; {
			parent := (i - 1) / 2
			if h[i].before(h[parent]) {
				break
			}
			h[i], h[parent] = h[parent], h[i]
			i = parent
		}
		t.heap = h
	case len(h) > 0 && r.before(h[0]):
		h[0] = r
		for i := 0; ; {
			last := i
			for _, child := range [...]int{2*i + 1, 2*i + 2} {
				if child < len(h) && h[last].before(h[child]) {
					last = child
				}
			}
			if last == i {
				break
			}
			h[i], h[last] = h[last], h[i]
			i = last
		}
	}
}

// split returns the kept items of both lists, in list order.
func (t *top) split(excluded []cupel.ExcludedItem, included []cupel.IncludedItem) ([]cupel.ExcludedItem, []cupel.IncludedItem) {
	slices.SortFunc(t.heap, func(a, b ranked) int { return cmp.Compare(a.at, b.at) })
	n, _ := slices.BinarySearchFunc(t.heap, len(excluded), func(r ranked, at int) int { return cmp.Compare(r.at, at) })
	out, in := make([]cupel.ExcludedItem, n), make([]cupel.IncludedItem, len(t.heap)-n)
	for i, r := range t.heap[:n] {
		out[i] = excluded[r.at]
	}
	for i, r := range t.heap[n:] {
		in[i] = included[r.at-len(excluded)]
	}
	return out, in
}

// addEvents records an event for each item of s, at the time at which the stage
// ended.
func (c *TraceCollector) addEvents(to *sink, s selection) {
	// One array for nearly all events: each gets a part of its own. It grows for
	// groups and smaller forms.
	attrs := make([]attribute.KeyValue, 0, 4*len(s.excluded)+3*len(s.included))
	from := 0
	emit := func(name string, item *cupel.ContextItem) {
		attrs = c.appendItem(attrs, from, item)
		to.event(itemSeverity, name, attrs[from:len(attrs):len(attrs)]...)
		from = len(attrs)
	}
	for i := range s.excluded {
		e := &s.excluded[i]
		attrs = append(attrs,
			exclusionReasonKey.String(c.reason(e.Reason.Code)),
			exclusionItemKindKey.String(c.kind(e.Item)),
			exclusionItemTokensKey.Int(e.Item.Tokens()),
			exclusionItemScoreKey.Float64(e.Score),
		)
		if group := e.Item.Group(); group != "" {
			attrs = append(attrs, exclusionItemGroupKey.String(c.text(TextGroup, group)))
			if tokens := e.Reason.Data().GroupTokens; e.Reason.Code == cupel.ExcludeBudgetExceeded && tokens != 0 {
				attrs = append(attrs, exclusionGroupTokensKey.Int(tokens))
			}
		}
		if e.Stale {
			attrs = append(attrs, exclusionItemStaleKey.Bool(true))
		}
		if !slices.Contains(pipelineReasons, e.Reason.Code) {
			attrs = c.appendData(attrs, e.Reason)
		}
		emit(exclusionEventName, e.Item)
	}
	for i := range s.included {
		e := &s.included[i]
		attrs = append(attrs,
			itemKindKey.String(c.kind(e.Item)),
			itemTokensKey.Int(e.Item.Tokens()),
			itemScoreKey.Float64(e.Score),
		)
		if group := e.Item.Group(); group != "" {
			attrs = append(attrs, itemGroupKey.String(c.text(TextGroup, group)))
		}
		if form := e.Form; form > 0 {
			attrs = append(attrs, itemFormKey.Int(form))
		}
		if e.Stale {
			attrs = append(attrs, itemStaleKey.Bool(true))
		}
		emit(includedEventName, e.Item)
	}
}

// reasonCounts returns a stage's exclusions by reason, such as "BudgetExceeded=12
// _OTHER=3", by name: one text, since backends search lists and maps badly. Reasons
// of custom strategies, which may be many, are one.
func reasonCounts(counts []observe.ReasonCount) string {
	var known [8]string
	texts, others := known[:0], 0
	for _, c := range counts { // each code comes once
		if slices.Contains(reasons, c.Code) {
			texts = append(texts, string(c.Code)+"="+strconv.Itoa(c.Items))
		} else {
			others += c.Items
		}
	}
	if others > 0 {
		texts = append(texts, other+"="+strconv.Itoa(others))
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

// droppedEvents returns how many events the SDK has dropped from the span, if the
// span tells.
func droppedEvents(span trace.Span) int {
	if s, ok := span.(interface{ DroppedEvents() int }); ok {
		return s.DroppedEvents()
	}
	return 0
}

// pipelineReasons are the codes of the pipeline and its slicers whose events
// have fixed attributes. The similarity of a near duplicate is shown as the data
// of custom reasons are.
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
			attrs = append(attrs, key.String(c.text(TextKind, string(v))))
		case string:
			if !f.Content {
				attrs = append(attrs, key.String(c.text(TextReason, v)))
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
	return c.text(TextReason, string(code))
}

func (c *TraceCollector) kind(item *cupel.ContextItem) string {
	return c.text(TextKind, string(item.Kind()))
}
