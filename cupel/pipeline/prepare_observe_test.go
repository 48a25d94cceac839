package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// fails is a scorer with an error, or none.
type fails struct{ err error }

func (f *fails) Score(context.Context, []*cupel.ContextItem, []float64) error { return f.err }

func TestPrepareIsObserved(t *testing.T) {
	inner := &fails{}
	p := newPipeline(t, func(c *pipeline.Config) { c.Scorer = inner })
	first := &spy{detail: observe.TraceDetail{ItemEvents: true, Items: true, Report: true}}
	prepared, err := p.Prepare(t.Context(), observedItems(t), pipeline.WithTrace(first))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "log", strings.Join(first.log, "\n"), `start Classify 5
item Classify NegativeTokens: -1 tokens
stage Classify 4
end Classify 5-4 <nil>
start Score 3
stage Score 3
end Score 3-3 <nil>
start Deduplicate 3
item Deduplicate Deduplicated: the same content is in as another item
stage Deduplicate 2
end Deduplicate 3-2 <nil>
end run 0 <nil>`)
	equal(t, "preparing, prepared, dry", fmt.Sprint(first.info.Preparing, first.info.Prepared, first.info.DryRun), "true false false")
	equal(t, "candidates", first.info.Candidates, 5)
	equal(t, "exclusions in the report", len(first.run.Report.Excluded), 2)

	use := func(p *pipeline.Prepared) observe.RunInfo {
		t.Helper()
		s := &spy{}
		if _, err := p.Run(t.Context(), budgetOf(t, 20, 10), pipeline.WithTrace(s)); err != nil {
			t.Fatal(err)
		}
		return s.info
	}
	if info := use(prepared); info.Preparing || info.Preparation == nil || info.Preparation.Value(ctxKey("run")) != "run" {
		t.Errorf("a run of it gets %+v", info)
	}

	unobserved, err := p.Prepare(t.Context(), observedItems(t))
	if err != nil {
		t.Fatal(err)
	}
	if info := use(unobserved); info.Preparation != nil || !info.Prepared {
		t.Errorf("a run of what was prepared without an observer gets %+v", info)
	}

	failed := &spy{}
	p = newPipeline(t, func(c *pipeline.Config) { c.Scorer = &fails{errOwn} })
	_, err = p.Prepare(t.Context(), observedItems(t), pipeline.WithTrace(failed))
	if err == nil || !errors.Is(failed.run.Err, err) || len(failed.ends) != 2 {
		t.Errorf("a scorer that fails: %v; the observer was told %v after %d stages", err, failed.run.Err, len(failed.ends))
	}
	if _, err = p.Prepare(t.Context(), unitItems(t, "pinned 1 0 pin")); err != nil {
		t.Errorf("without items to score: %v", err)
	}
}
