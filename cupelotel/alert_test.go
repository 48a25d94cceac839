package cupelotel_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelotel"
)

// alarming is a configuration that finds too few journals and notes, and takes
// 190 tokens, pinned ones included, for a target of 100.
func alarming(t *testing.T) pipeline.Config {
	t.Helper()
	c := config()
	quota, err := slicer.NewCountQuota(byTags, []slicer.CountQuotaEntry{{Kind: "Journal", RequireCount: 3, CapCount: 9}, {Kind: "Note", RequireCount: 1, CapCount: 1}})
	if err != nil {
		t.Fatal(err)
	}
	c.Slicer, c.Overflow = quota, pipeline.OverflowProceed
	return c
}

func TestShortfallsAndOverflow(t *testing.T) {
	const (
		overflow = "cupel.overflow tokens=70"
		journals = "cupel.shortfall kind=Journal required=3 satisfied=1"
		notes    = "cupel.shortfall kind=Note required=1 satisfied=0"
	)
	for _, tt := range []struct {
		name      string
		config    pipeline.Config
		verbosity cupelotel.Verbosity
		limit     int
		events    []string
		count     string
		tokens    string
		why       string
	}{
		{"both", alarming(t), cupelotel.VerbosityStageAndExclusions, 128, []string{overflow, journals, notes}, "2", "70", "each has an event"},
		{"stages only", alarming(t), cupelotel.VerbosityStageOnly, 128, nil, "2", "70", "attributes, but no events"},
		{"two events", alarming(t), cupelotel.VerbosityFull, 2, []string{overflow, journals}, "2", "70", "the limit holds, the count is exact"},
		{"one event", alarming(t), cupelotel.VerbosityFull, 1, []string{overflow}, "2", "70", ""},
		{"no events", alarming(t), cupelotel.VerbosityFull, 0, nil, "2", "70", ""},
		{"no limit", alarming(t), cupelotel.VerbosityFull, -1, []string{overflow, journals, notes}, "2", "70", ""},
		{"neither", config(), cupelotel.VerbosityFull, 128, nil, "", "", "nothing went wrong"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tracers, recorder := newRecorder(t)
			meters, reader := newReader(t)
			collector := observe.Multi(
				cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers), cupelotel.WithVerbosity(tt.verbosity), cupelotel.WithEventLimit(tt.limit)),
				cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)))
			if _, err := newPipeline(t, tt.config).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
			root := spanNamed(t, recorder, "cupel.pipeline")
			if count, tokens := attr(root.Attributes(), "cupel.shortfall.count"), attr(root.Attributes(), "cupel.overflow.tokens"); count != tt.count || tokens != tt.tokens {
				t.Errorf("%q shortfalls and %q tokens over the target, want %q and %q: %s", count, tokens, tt.count, tt.tokens, tt.why)
			}
			var events []string
			for _, event := range root.Events() {
				text := event.Name
				for _, kv := range event.Attributes {
					text += " " + strings.TrimPrefix(string(kv.Key), event.Name+".") + "=" + kv.Value.String()
				}
				events = append(events, text)
			}
			if got, want := strings.Join(events, "\n"), strings.Join(tt.events, "\n"); got != want {
				t.Errorf("the events are\n%s\nwant\n%s\n%s", got, want, tt.why)
			}
			want := map[string]string{}
			if tt.count != "" {
				want = map[string]string{"cupel.run.mode=run cupel.shortfall.kind=Journal": "1", "cupel.run.mode=run cupel.shortfall.kind=Note": "1", "cupel.run.mode=run": "70"}
			}
			got := map[string]string{}
			for _, m := range collect(t, reader) {
				if m.Name == "cupel.shortfalls" || m.Name == "cupel.overflow.tokens" {
					maps.Copy(got, points(m))
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("the counters are %v, want %v", got, want)
			}
		})
	}
}
