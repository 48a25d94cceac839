package cupel_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// entries calls each for every entry of a report.
func entries(r *cupel.SelectionReport, each func(item *cupel.ContextItem, candidate int)) {
	for _, e := range r.Included {
		each(e.Item, e.Candidate())
	}
	for _, e := range r.Excluded {
		each(e.Item, e.Candidate())
	}
}

// Every candidate has one entry that knows its position, also where one pointer
// is several candidates, in runs, prepared runs and streams, and in the report
// that a collector makes a second time.
func TestEntriesKnowTheirCandidates(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, keep := range []bool{false, true} {
		p := pipeline(t, func(c *cupel.Config) {
			c.Scorer, c.Slicer, c.Overflow, c.KeepDuplicates = byHint{}, slicer.Greedy{}, cupel.OverflowTruncate, keep
		})
		for range 100 {
			items := hostileItems(t, r, 2+r.IntN(20))
			for range len(items) / 3 {
				items[r.IntN(len(items))] = items[r.IntN(len(items))]
			}
			budget := budgetOf(t, 1000, 1+r.IntN(80))
			check := func(name string, report *cupel.SelectionReport, candidates []*cupel.ContextItem) {
				t.Helper()
				seen := make([]int, len(candidates))
				entries(report, func(item *cupel.ContextItem, i int) {
					if i < 0 || i >= len(candidates) || candidates[i] != item {
						t.Fatalf("%s: entry of %q says candidate %d", name, item.Content(), i)
					}
					seen[i]++
				})
				for i, n := range seen {
					if n != 1 {
						t.Fatalf("%s: candidate %d has %d entries", name, i, n)
					}
				}
			}
			collector := cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(cupel.TraceDetailItem))
			report, err := p.DryRun(t.Context(), items, budget, cupel.WithTrace(collector))
			if err != nil {
				t.Fatal(err)
			}
			check("run", report, items)
			check("first report of the collector", collector.BuildReport(), items)
			check("second report of the collector", collector.BuildReport(), items)
			prepared, err := p.Prepare(t.Context(), items)
			if err != nil {
				t.Fatal(err)
			}
			if report, err = prepared.DryRun(t.Context(), budget); err != nil {
				t.Fatal(err)
			}
			check("prepared run", report, items)
			pulled := 0
			streamed := cupel.NewDiagnosticTraceCollector()
			if _, err := p.RunStream(t.Context(), stream(&pulled, items...), budget, cupel.WithTrace(streamed), cupel.WithBatchSize(3)); err != nil {
				t.Fatal(err)
			}
			check("stream", streamed.BuildReport(), items[:pulled])

			data, err := json.Marshal(cupel.SelectionReport{Included: report.Included[:min(1, len(report.Included))]})
			if err != nil {
				continue // of a score that is not a number, say
			}
			var read cupel.SelectionReport
			if err := json.Unmarshal(data, &read); err != nil {
				t.Fatal(err)
			}
			entries(&read, func(_ *cupel.ContextItem, i int) { equal(t, "candidate in a report that was read", i, -1) })
		}
	}
}
