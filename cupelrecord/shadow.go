package cupelrecord

import (
	"context"
	"io"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelreduce"
)

// Difference is how a shadow's decisions about a run differ.
type Difference struct {
	Run        *Run
	Report     *cupel.SelectionReport // of the shadow
	Candidates []int                  // that are in one window alone, or there in another form
	Lost       []string               // values that the run's window names and the shadow's does not; see [cupelreduce.Facts]
	Err        error                  // why the shadow failed, or nil
}

// Shadow returns a sink that stores nothing. It tries another pipeline on each run, off the
// request's path, and reports how the decisions differ, one run after another. While the
// shadow is slower than the service, runs are dropped and counted. Redaction decides what
// the shadow reads: [observe.PartFields], and [observe.PartContent] if it needs contents.
func Shadow(p *pipeline.Pipeline, report func(Difference)) Sink {
	return func(string) (io.WriteCloser, error) {
		from, to := io.Pipe()
		s := &shadow{to, make(chan struct{})}
		go func() {
			defer close(s.done)
			var err error
			var run *Run
			for run, err = range new(Reader).Read(from) {
				if err == nil {
					report(follow(p, run))
				}
			}
			_ = from.CloseWithError(err) // it returns nil
		}()
		return s, nil
	}
}

// shadow is a segment that is tried.
type shadow struct {
	*io.PipeWriter
	done chan struct{}
}

// Close waits for the last report.
func (s *shadow) Close() error {
	_ = s.PipeWriter.Close() // it returns nil
	<-s.done
	return nil
}

// follow tries a pipeline on a run.
func follow(p *pipeline.Pipeline, run *Run) Difference {
	d := Difference{Run: run}
	if d.Report, d.Err = p.DryRun(context.Background(), run.Items, run.Budget); d.Err != nil {
		return d
	}
	forms := make(map[int]int) // from 1; 0 for what is left out
	for _, in := range d.Report.Included {
		forms[in.Candidate] = 1 + in.Form
	}
	for i, was := range run.Decisions {
		form := 0
		if was.Place > 0 {
			form = 1 + int(was.Form)
		}
		if form != forms[i] {
			d.Candidates = append(d.Candidates, i)
		}
	}
	d.Lost = lost(run, d.Report)
	return d
}

// lost returns the values of a run's window that a report's does not name: a next step
// that uses them would miss them. Without contents there are none.
func lost(run *Run, report *cupel.SelectionReport) (list []string) {
	known := make(map[string]bool)
	for _, item := range report.Window() {
		for fact := range cupelreduce.Facts(item.Content()) {
			known[fact] = true
		}
	}
	for i, was := range run.Decisions {
		if was.Place == 0 {
			continue
		}
		text := run.Items[i].Content()
		if forms := run.Items[i].Variants(); was.Form > 0 && int(was.Form) <= len(forms) {
			text = forms[was.Form-1].Content
		}
		for fact := range cupelreduce.Facts(text) {
			if !known[fact] {
				known[fact] = true
				list = append(list, fact)
			}
		}
	}
	return list
}
