package conformance

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// findings collects the faults of a result.
type findings []string

func (f *findings) addf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// outcome compares an error, or nil, with the expected one, and reports whether
// there is a result to check.
func (f *findings) outcome(err error, class string) bool {
	switch {
	case class == "" && err != nil:
		f.addf("got error %q, want none", err)
	case class != "" && err == nil:
		f.addf("got no error, want one of class %s", class)
	case !errors.Is(err, errorClasses[class]):
		f.addf("got error %q, want one of class %s", err, class)
	}
	return class == "" && err == nil
}

// sameScore compares as the chapter Running the Suite does, with a tolerance.
// Values without a distance must be the same.
func sameScore(got, want, epsilon float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) < epsilon
}

// scoreRows looks up each expected content among the items; a content that is
// expected several times means its occurrences in order, and after the last
// one the first again. If there are no rows, no items are expected.
func (f *findings) scoreRows(v *vector, scores []float64) {
	if v.wantScores != nil && len(v.wantScores) == 0 && len(v.items) > 0 {
		f.addf("scores: got %d, want none", len(v.items))
	}
	places := map[string][]int{}
	for i, item := range v.items {
		places[item.Content()] = append(places[item.Content()], i)
	}
	used := map[string]int{}
	for _, row := range v.wantScores {
		content, want := *row.Content, *row.ScoreApprox
		all := places[content]
		if len(all) == 0 {
			f.addf("%v: expected a score for %.60q, which is not among the items", errVector, content)
			continue
		}
		at := all[used[content]%len(all)]
		used[content]++
		if !sameScore(scores[at], want, v.epsilon) {
			f.addf("score of %.60q: got %v, want %v within %v", content, scores[at], want, v.epsilon)
		}
	}
}

func (f *findings) scores(got, want []float64, epsilon float64) {
	if want == nil {
		return
	}
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
		f.addf("%s: got %.60q, want %.60q", what, got, want)
	}
}

func texts[T any](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprintf("%+v", v)
	}
	return out
}

func (f *findings) counts(want expectation, shortfalls int, excluded []cupel.ExclusionReason) {
	capped := 0
	for _, reason := range excluded {
		if reason.Code == cupel.ExcludeCountCapExceeded {
			capped++
		}
	}
	if want.ShortfallCount != nil && *want.ShortfallCount != shortfalls {
		f.addf("shortfalls: got %d, want %d", shortfalls, *want.ShortfallCount)
	}
	if want.CapExcludedCount != nil && *want.CapExcludedCount != capped {
		f.addf("items excluded by a cap: got %d, want %d", capped, *want.CapExcludedCount)
	}
}

// any reports whether anything is expected of a report.
func (d diagnostics) any() bool { return !reflect.ValueOf(d).IsZero() }

// report compares a report with the expectation of a vector.
func (f *findings) report(got *cupel.SelectionReport, want diagnostics, epsilon float64) {
	var included, excluded, events []row
	for _, in := range got.Included {
		original, _ := in.Item.OriginalTokens()
		included = append(included, row{
			"content": in.Item.Content(), "score_approx": in.Score, "inclusion_reason": string(in.Reason),
			"candidate": in.Candidate, "form": in.Form, "stale": in.Stale, "tokens": in.Item.Tokens(), "original_tokens": original,
		})
	}
	for _, out := range got.Excluded {
		entry := row{
			"content": out.Item.Content(), "score_approx": out.Score, "exclusion_reason": string(out.Reason.Code),
			"candidate": out.Candidate, "stale": out.Stale,
		}
		for field := range out.Reason.Fields() {
			entry[field.Name] = field.Value
		}
		excluded = append(excluded, entry)
	}
	for _, e := range got.Events {
		events = append(events, row{"stage": string(e.Stage), "item_count": e.ItemCount})
	}
	f.rows("included", included, want.Included, epsilon)
	f.rows("excluded", excluded, want.Excluded, epsilon)
	f.rows("events", events, want.Events, epsilon)
	f.rows("shortfalls", shortfallRows(got.CountRequirementShortfalls), want.Shortfalls, epsilon)
	f.rows("summary", []row{{"total_candidates": got.TotalCandidates, "total_tokens_considered": got.TotalTokensConsidered}}, []row{want.Summary}, epsilon)
}

func shortfallRows(list []cupel.CountRequirementShortfall) []row {
	var rows []row
	for _, s := range list {
		rows = append(rows, row{"kind": s.Kind, "required_count": s.RequiredCount, "satisfied_count": s.SatisfiedCount})
	}
	return rows
}

// rows compares the rows of a list that a vector gives; nil gives none.
func (f *findings) rows(what string, got, want []row, epsilon float64) {
	if want == nil {
		return
	}
	if len(got) != len(want) {
		f.addf("%s: got %d, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		where := fmt.Sprintf("%s[%d]", what, i)
		if content, ok := got[i]["content"]; ok {
			where += fmt.Sprintf(" %.60q", content)
		}
		for _, key := range slices.Sorted(maps.Keys(want[i])) {
			value, ok := got[i][key]
			switch {
			case !ok: // a zero would look like it
				f.addf("%s: there is no %s, want %v", where, key, want[i][key])
			case !same(value, want[i][key], key == "score_approx", epsilon):
				f.addf("%s: %s is %s, want %s", where, key, short(value), short(want[i][key]))
			}
		}
	}
}

func short(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%.60q", s)
	}
	return fmt.Sprint(v)
}

// same compares a value of a report with the vector's value.
func same(got, want any, score bool, epsilon float64) bool {
	if n, ok := want.(int64); ok {
		want = int(n)
		if _, isFloat := got.(float64); isFloat {
			want = float64(n) // (R47)
		}
	}
	if x, ok := want.(float64); ok && score {
		return sameScore(got.(float64), x, epsilon)
	}
	if kind, ok := got.(cupel.ContextKind); ok {
		got = string(kind)
	}
	return got == want
}
