package conformance

import (
	"fmt"

	"github.com/wollax/cupel-go/cupel"
)

// hasUnits reports whether the Units chapter has something to say of an item.
func hasUnits(it *cupel.ContextItem) bool {
	return it.Group() != "" || it.VersionOf() != "" || len(it.Variants()) > 0 || len(it.GroupVariants()) > 0
}

// decisions compares what the Units chapter adds to the entries of a report.
func (f *findings) decisions(o Outcome, want *diagnostics) {
	if len(want.included) == len(o.Report.Included) {
		for i, w := range want.included {
			where := fmt.Sprintf("included[%d] %.60q: ", i, w.content)
			item := o.Report.Included[i].Item
			f.count(where+"tokens", item.Tokens(), w.tokens)
			if w.originalTokens != nil {
				tokens, _ := item.OriginalTokens()
				f.count(where+"original tokens", tokens, w.originalTokens)
			}
			var d Decision
			if i < len(o.Included) {
				d = o.Included[i]
			} else if w.candidate != nil || w.form != nil || w.stale != nil {
				f.addf("%sno candidate, form and stale are known", where)
				continue
			}
			f.count(where+"candidate", d.Candidate, w.candidate)
			f.count(where+"form", d.Form, w.form)
			f.flag(where+"stale", d.Stale, w.stale)
		}
	}
	if len(want.excluded) == len(o.Report.Excluded) {
		for i, w := range want.excluded {
			where := fmt.Sprintf("excluded[%d] %.60q: ", i, w.content)
			var d Decision
			if i < len(o.Excluded) {
				d = o.Excluded[i]
			} else if w.candidate != nil || w.stale != nil {
				f.addf("%sno candidate and stale are known", where)
				continue
			}
			f.count(where+"candidate", d.Candidate, w.candidate)
			f.flag(where+"stale", d.Stale, w.stale)
		}
	}
}

func (f *findings) flag(what string, got bool, want *bool) {
	if want != nil && got != *want {
		f.addf("%s: got %v, want %v", what, got, *want)
	}
}

// consistentUnits checks what holds for every report of a run with units that
// succeeded: each candidate is there once, no group is split, and the entries
// have the tokens of the window.
func (f *findings) consistentUnits(o Outcome, candidates []*cupel.ContextItem) {
	r := o.Report
	if r == nil {
		f.addf("the run has no report")
		return
	}
	if len(o.Included) != len(r.Included) || len(o.Excluded) != len(r.Excluded) || len(r.Included)+len(r.Excluded) != len(candidates) ||
		r.TotalCandidates != len(candidates) {
		f.addf("report: %d (%d) included and %d (%d) excluded of %d candidates, total_candidates %d",
			len(r.Included), len(o.Included), len(r.Excluded), len(o.Excluded), len(candidates), r.TotalCandidates)
		return
	}
	seen := map[int]bool{}
	in := map[string]bool{}
	tokens := 0
	for i, d := range o.Included {
		seen[d.Candidate] = true
		tokens += r.Included[i].Item.Tokens()
		if d.Candidate >= 0 && d.Candidate < len(candidates) {
			in[candidates[d.Candidate].Group()] = true
		}
	}
	for i, d := range o.Excluded {
		seen[d.Candidate] = true
		if group := r.Excluded[i].Item.Group(); group != "" && in[group] {
			f.addf("report: group %.60q is split", group)
		}
		if i > 0 && r.Excluded[i].Score > r.Excluded[i-1].Score {
			f.addf("report: excluded[%d] scores higher than excluded[%d]", i, i-1)
		}
	}
	for i := range candidates {
		if !seen[i] {
			f.addf("report: candidate %d is not there", i)
		}
	}
	for _, it := range o.Window {
		tokens -= it.Tokens()
	}
	if tokens != 0 {
		f.addf("report: the included entries have %d tokens more than the window", tokens)
	}
}
