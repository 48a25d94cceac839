package conformance

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// findings collects what is wrong with a result.
type findings []string

func (f *findings) addf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// sameScore compares as the chapter Running the Suite does, never exactly;
// values without a distance are equal when they are the same.
func sameScore(got, want, epsilon float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) < epsilon
}

// scoreRows looks up each expected content among the items; a content that is
// expected several times stands for its occurrences in order, and after the
// last one for the first again. No rows expect no items.
func (f *findings) scoreRows(want []scoreRow, items []*cupel.ContextItem, scores []float64, epsilon float64) {
	if want != nil && len(want) == 0 && len(items) > 0 {
		f.addf("scores: got %d, want none", len(items))
	}
	places := map[string][]int{}
	for i, item := range items {
		places[item.Content()] = append(places[item.Content()], i)
	}
	used := map[string]int{}
	for _, row := range want {
		all := places[row.content]
		if len(all) == 0 {
			f.addf("invalid vector: expected a score for %.60q, which is not among the items", row.content)
			continue
		}
		at := all[used[row.content]%len(all)]
		used[row.content]++
		if !sameScore(scores[at], row.score, epsilon) {
			f.addf("score of %.60q: got %v, want %v within %v", row.content, scores[at], row.score, epsilon)
		}
	}
}

func (f *findings) scores(got, want []float64, epsilon float64) {
	if len(got) != len(want) {
		f.addf("scores: got %d, want %d", len(got), len(want))
		return
	}
	for i := range got {
		if !sameScore(got[i], want[i], epsilon) {
			f.addf("scores[%d]: got %v, want %v within %v", i, got[i], want[i], epsilon)
		}
	}
}

// set compares without order. When want names a content twice it counts.
func (f *findings) set(what string, got, want []string) {
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if len(slices.Compact(slices.Clone(want))) == len(want) {
		got = slices.Compact(got)
	}
	f.list(what, got, want)
}

func (f *findings) list(what string, got, want []string) {
	if !slices.Equal(got, want) {
		f.addf("%s: got [%s], want [%s]", what, quoted(got), quoted(want))
	}
}

func (f *findings) indices(what string, got, want []int) {
	if !slices.Equal(got, want) {
		f.addf("%s: got %v, want %v", what, got, want)
	}
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%.60q", s)
	}
	return strings.Join(out, " ")
}

func (f *findings) count(what string, got int, want *int) {
	if want != nil && got != *want {
		f.addf("%s: got %d, want %d", what, got, *want)
	}
}

// report compares a report with the diagnostics that a vector expects.
func (f *findings) report(o Outcome, want *diagnostics, epsilon float64) {
	got := o.Report
	if want.included != nil {
		f.included(got.Included, want.included, epsilon)
	}
	if want.excluded != nil {
		f.excluded(got.Excluded, want.excluded, epsilon)
	}
	f.decisions(o, want)
	f.count("total_candidates", got.TotalCandidates, want.totalCandidates)
	f.count("total_tokens_considered", got.TotalTokensConsidered, want.totalTokens)
	if want.shortfalls != nil {
		f.shortfalls(got.CountRequirementShortfalls, want.shortfalls)
	}
	if want.events != nil {
		var g, w []string
		for _, e := range got.Events {
			g = append(g, fmt.Sprintf("%s %d", e.Stage, e.ItemCount))
		}
		for _, e := range want.events {
			w = append(w, fmt.Sprintf("%s %d", e.stage, e.count))
		}
		f.list("events", g, w)
	}
}

func (f *findings) shortfalls(got, want []cupel.CountRequirementShortfall) {
	text := func(list []cupel.CountRequirementShortfall) (out []string) {
		for _, s := range list {
			out = append(out, fmt.Sprintf("%s %d of %d", s.Kind, s.SatisfiedCount, s.RequiredCount))
		}
		return out
	}
	f.list("shortfalls", text(got), text(want))
}

func (f *findings) included(got []cupel.IncludedItem, want []includedRow, epsilon float64) {
	if len(got) != len(want) {
		f.addf("included: got %d items, want %d", len(got), len(want))
		return
	}
	for i, w := range want {
		g := got[i]
		if g.Item.Content() != w.content {
			f.addf("included[%d]: got %.60q, want %.60q", i, g.Item.Content(), w.content)
			continue
		}
		f.score(fmt.Sprintf("included[%d] %.60q", i, w.content), g.Score, w.score, epsilon)
		if w.reason != nil && string(g.Reason) != *w.reason {
			f.addf("included[%d] %.60q: got reason %s, want %s", i, w.content, g.Reason, *w.reason)
		}
	}
}

func (f *findings) excluded(got []cupel.ExcludedItem, want []excludedRow, epsilon float64) {
	if len(got) != len(want) {
		f.addf("excluded: got %d items, want %d", len(got), len(want))
		return
	}
	for i, w := range want {
		g := got[i]
		if g.Item.Content() != w.content {
			f.addf("excluded[%d]: got %.60q, want %.60q", i, g.Item.Content(), w.content)
			continue
		}
		where := fmt.Sprintf("excluded[%d] %.60q", i, w.content)
		f.score(where, g.Score, w.score, epsilon)
		if w.code != nil && string(g.Reason.Code) != *w.code {
			f.addf("%s: got reason %s, want %s", where, g.Reason.Code, *w.code)
			continue
		}
		got := make(map[string]any)
		for field := range g.Reason.Fields() {
			got[field.Name] = field.Value
		}
		for _, name := range slices.Sorted(maps.Keys(w.fields)) {
			value, ok := got[name]
			switch {
			case !ok: // a zero would look like it
				f.addf("%s: the reason %s has no %s, want %v", where, g.Reason.Code, name, w.fields[name])
			case value != w.fields[name]:
				f.addf("%s: got %s %v, want %v", where, name, value, w.fields[name])
			}
		}
	}
}

func (f *findings) score(where string, got float64, want *float64, epsilon float64) {
	if want != nil && !sameScore(got, *want, epsilon) {
		f.addf("%s: got score %v, want %v within %v", where, got, *want, epsilon)
	}
}

// consistent checks what holds for every report of a run that succeeded.
func (f *findings) consistent(o Outcome, candidates []*cupel.ContextItem) {
	r := o.Report
	if r == nil {
		f.addf("the run has no report")
		return
	}
	if len(r.Included)+len(r.Excluded) != len(candidates) || r.TotalCandidates != len(candidates) {
		f.addf("report: %d included and %d excluded of %d candidates, total_candidates %d", len(r.Included), len(r.Excluded), len(candidates), r.TotalCandidates)
	}
	if len(r.Included) != len(o.Window) {
		f.addf("report: %d included, the window has %d", len(r.Included), len(o.Window))
		return
	}
	for i, in := range r.Included {
		if in.Item != o.Window[i] {
			f.addf("report: included[%d] is not the window's item", i)
		}
	}
	for i := 1; i < len(r.Excluded); i++ {
		if r.Excluded[i].Score > r.Excluded[i-1].Score {
			f.addf("report: excluded[%d] scores higher than excluded[%d]", i, i-1)
		}
	}
	left := map[*cupel.ContextItem]int{}
	for _, c := range candidates {
		left[c]++
	}
	for _, in := range r.Included {
		left[in.Item]--
	}
	for _, ex := range r.Excluded {
		left[ex.Item]--
	}
	for n := range maps.Values(left) {
		if n != 0 {
			f.addf("report: included and excluded together are not the candidates")
			return
		}
	}
}
