package cupelrecord

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelreduce"
)

// Difference describes how a shadow's decisions about a run differ.
type Difference struct {
	Run        *Run
	Report     *cupel.SelectionReport // of the shadow
	Candidates []int                  // that only one window has, or that both have in different forms
	Lost       []string               // values that the run's window names and the shadow's does not; see [cupelreduce.Facts]
	Err        error                  // why the shadow failed, or nil
}

// Shadow returns a function for [Config] to follow runs with: it tries another pipeline on
// each run, and reports how the decisions differ, one run after another. Redaction sets the
// data that the shadow reads: [observe.PartFields], and [observe.PartContent] if it needs
// contents.
func Shadow(p *pipeline.Pipeline, report func(Difference)) func(*Run) {
	return func(run *Run) { report(follow(p, run)) }
}

// follow tries a pipeline on a run.
func follow(p *pipeline.Pipeline, run *Run) Difference {
	d := Difference{Run: run}
	if d.Report, d.Err = p.DryRun(context.Background(), run.Items, run.Budget); d.Err != nil {
		return d
	}
	forms := make(map[int]int) // from 1; 0 for omitted candidates
	for _, in := range d.Report.Included {
		forms[in.Candidate] = 1 + in.Form
	}
	known := make(map[string]bool) // values in the shadow's window; without contents there are none
	for _, item := range d.Report.Window() {
		for fact := range cupelreduce.Facts(item.Content()) {
			known[fact] = true
		}
	}
	for i, was := range run.Decisions {
		form := 0
		if was.Place > 0 {
			form = 1 + int(was.Form)
		}
		if form == forms[i] {
			continue
		}
		d.Candidates = append(d.Candidates, i)
		for fact := range cupelreduce.Facts(run.text(i, form)) {
			if !known[fact] {
				known[fact] = true
				d.Lost = append(d.Lost, fact)
			}
		}
	}
	return d
}

// text returns the text of a candidate in a form, from 1, or "" for 0.
func (r *Run) text(i, form int) string {
	switch smaller := r.Items[i].Variants(); {
	case form == 1:
		return r.Items[i].Content()
	case form > 1 && form-2 < len(smaller):
		return smaller[form-2].Content
	}
	return ""
}
