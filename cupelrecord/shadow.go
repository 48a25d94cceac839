package cupelrecord

import (
	"context"
	"slices"

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
	return func(run *Run) {
		d := Difference{Run: run}
		if d.Report, d.Err = p.DryRun(context.Background(), run.Items, run.Budget); d.Err == nil {
			d.compare()
		}
		report(d)
	}
}

// compare fills in what differs.
func (d *Difference) compare() {
	placed := make(map[int]int)    // the forms in the shadow's window, from 1
	known := make(map[string]bool) // values in the shadow's window; without contents there are none
	for _, in := range d.Report.Included {
		placed[in.Candidate] = 1 + in.Form
		for fact := range cupelreduce.Facts(in.Item.Content()) {
			known[fact] = true
		}
	}
	for i, was := range d.Run.Decisions {
		form := 0
		if was.Place > 0 {
			form = 1 + int(was.Form)
		}
		if form == placed[i] {
			continue
		}
		d.Candidates = append(d.Candidates, i)
		item := d.Run.Items[i]
		texts := slices.Concat([]cupel.Variant{{}, {Content: item.Content()}}, item.Variants(), item.GroupVariants())
		for fact := range cupelreduce.Facts(texts[min(form, len(texts)-1)].Content) {
			if !known[fact] {
				known[fact] = true
				d.Lost = append(d.Lost, fact)
			}
		}
	}
}
