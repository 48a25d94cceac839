package cupelsession

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/turn"
)

// String describes in one line what the turn keeps, whether, where and why it
// breaks, and what it costs, without any content.
func (t *Turn) String() string {
	var b strings.Builder
	if t == nil {
		return ""
	}
	if t.after != nil { // a session has proposed it
		fmt.Fprintf(&b, "turn %d: ", t.after.Turns)
	}
	switch {
	case t.Break != nil:
		fmt.Fprintf(&b, "break (%s) at item %d, ", t.Break.Reason, t.Break.At)
	case t.reason != "" && t.before.Turns == 0:
		b.WriteString("first choice, ")
	case t.reason != "":
		fmt.Fprintf(&b, "chosen again (%s), ", t.reason)
	}
	fmt.Fprintf(&b, "%d tokens kept", t.KeptTokens)
	if len(t.dropped) > 0 {
		fmt.Fprintf(&b, ", %d items left out", len(t.dropped))
	}
	fmt.Fprintf(&b, "; cost %.0f, or %.0f to send everything, in tokens of plain input", t.Cache.Cost, t.Cache.Without)
	return b.String()
}

// Report gives, for each item, the reason why it is in the window or out. Between
// breaks, scores and reasons come from the last choice. An item that a summary
// replaces is excluded, and the summary is an entry that is none of the candidates.
// An event of [turn.Stage] has the text of String. The first call makes the report,
// and takes time N log N in the items.
func (t *Turn) Report() *cupel.SelectionReport {
	r := new(cupel.SelectionReport)
	if t == nil || t.after == nil { // no session has proposed it
		return r
	}
	if t.report != nil {
		return t.report
	}
	items := t.after.items
	r.TotalCandidates = len(items)
	if t.chosen != nil {
		r.Events = slices.Clone(t.chosen.Events)
		r.CountRequirementShortfalls, r.Overflow = t.chosen.CountRequirementShortfalls, t.chosen.Overflow
	}
	r.Events = append(r.Events, cupel.TraceEvent{Stage: turn.Stage, ItemCount: len(t.Window), Message: t.String()})

	in := make([]bool, len(items))
	for n := range t.Stable {
		e := &t.after.window[n]
		if e.Summary {
			r.Included = append(r.Included, cupel.IncludedItem{Item: e.Held, Reason: cupel.IncludeScored, Candidate: -1, Units: true})
			continue
		}
		for k, i := range t.Entries[n].Candidates {
			in[i] = true
			r.Included = append(r.Included, t.included(e, k, i))
		}
	}
	for n, e := range t.tail.included {
		i := t.tail.said.candidate(e.Candidate)
		e.Candidate, e.Units = i, true
		if e.Item = t.Window[t.Stable+n]; e.Item != items[i] {
			e.Form = max(e.Form, 1) // a quotation
		}
		in[i] = true
		r.Included = append(r.Included, e)
	}
	var tail map[string]outcome
	if t.tail.said != nil {
		tail = t.tail.said.outcomes(t.after.keys)
	}
	for i, item := range items {
		r.TotalTokensConsidered += item.Tokens()
		if !in[i] {
			r.Excluded = append(r.Excluded, t.excluded(i, tail))
		}
	}
	slices.SortStableFunc(r.Excluded, func(a, b cupel.ExcludedItem) int { return cmp.Compare(b.Score, a.Score) })
	t.report = r
	return r
}

// included is the entry of candidate i, the k-th that entry e of the window stands for.
func (t *Turn) included(e *entry, k, i int) cupel.IncludedItem {
	item := t.after.items[i]
	last := t.after.last[t.after.keys[i]]
	to := cupel.IncludedItem{Item: e.Held, Score: last.score, Reason: cupel.IncludeScored, Candidate: i, Stale: last.stale, Units: true}
	switch {
	case item.Pinned():
		to.Score, to.Reason = 1, cupel.IncludePinned
	case item.Tokens() == 0:
		to.Reason = cupel.IncludeZeroToken
	}
	if !e.whole() {
		to.Form = formNumber(item, e.Form, len(e.Keys) > 1)
	}
	if k > 0 {
		to.Item, to.Shared = changed(e.Held, cupel.WithContent(e.Held.Content(), 0)), true
	}
	return to
}

// excluded is the entry of candidate i. tail has the outcomes of the choice of
// the tail.
func (t *Turn) excluded(i int, tail map[string]outcome) cupel.ExcludedItem {
	item, said := t.after.items[i], t.after.last
	if t.after.at[i] == inTail {
		said = tail
	}
	last := said[t.after.keys[i]]
	to := cupel.ExcludedItem{Item: item, Candidate: i, Units: true, Score: last.score, Reason: last.reason, Stale: last.stale}
	switch {
	case item.Tokens() < 0:
		to.Reason = cupel.NewExclusionReason(cupel.ExcludeNegativeTokens, cupel.ReasonData{Tokens: item.Tokens()})
	case to.Reason.Code == "": // the choice was before the state was read from JSON
		to.Reason = cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: item.Tokens()})
	}
	return to
}

// formNumber returns the number of a smaller form by its content. Forms that a
// chooser makes come first.
func formNumber(item *cupel.ContextItem, text string, ofGroup bool) int {
	own := item.Variants()
	says := func(v cupel.Variant) bool { return v.Content == text }
	if n := slices.IndexFunc(own, says); n >= 0 && !ofGroup {
		return n + 1
	}
	if n := slices.IndexFunc(item.GroupVariants(), says); n >= 0 {
		return len(own) + n + 1
	}
	if ofGroup {
		return len(own) + 1
	}
	return 1
}
