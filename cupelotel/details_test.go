package cupelotel_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelotel"
)

// The data of a custom reason are attributes, but for contents; the size of a group
// is one of its own where the group did not fit.
func TestDataOfReasons(t *testing.T) {
	grouped := cupel.WithGroup("g")
	for _, row := range []struct {
		opts   []cupel.ItemOption
		reason cupel.ExclusionReason
		want   string
		why    string
	}{
		{nil, cupel.NewExclusionReason("Boring", cupel.ReasonData{Cap: 3, Score: 0.5, Kind: "Note", FilterName: "spam", Of: "a secret"}),
			"data.score=0.5 data.kind=Note data.cap=3 data.filter_name=spam", "a content is left out"},
		{nil, cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 3}), "", "its data are in fixed attributes"},
		{[]cupel.ItemOption{grouped}, cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{GroupTokens: 1}), "item_group=g group_tokens=1", "the group did not fit"},
		{[]cupel.ItemOption{grouped}, cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{}), "item_group=g", "its size is not known"},
		{[]cupel.ItemOption{grouped}, cupel.NewExclusionReason("Boring", cupel.ReasonData{GroupTokens: 7}), "item_group=g data.group_tokens=7", "it did not fit another rule"},
	} {
		provider, recorder := newRecorder(t)
		c := config()
		c.Slicer = sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
			return strategy.Selection{Drops: []strategy.Drop{{Index: 0, Reason: row.reason}}}, nil
		})
		collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityStageAndExclusions))
		items := []*cupel.ContextItem{newItem(t, "secret", 3, row.opts...)}
		if _, err := newPipeline(t, c).Run(t.Context(), items, newBudget(t, 10, 10), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, event := range spanNamed(t, recorder, "cupel.stage.slice").Events() {
			for _, kv := range event.Attributes[4:] { // after those of each exclusion
				got = append(got, strings.TrimPrefix(string(kv.Key), "cupel.exclusion.")+"="+kv.Value.String())
			}
		}
		if text := strings.Join(got, " "); text != row.want {
			t.Errorf("%v: the event has %s, want %s: %s", row.reason, text, row.want, row.why)
		}
	}
}

// Attributes for all runs are on measurements without a function, and a function may
// return many. Later changes of the list do not matter.
func TestStaticAttributes(t *testing.T) {
	list := []attribute.KeyValue{attribute.String("region", "eu")}
	static := cupelotel.WithAttributes(list...)
	list[0] = attribute.String("region", "us")
	many := cupelotel.WithAttributesFunc(func(context.Context) (attrs []attribute.KeyValue) {
		for i := range 20 {
			attrs = append(attrs, attribute.Int(fmt.Sprintf("n%02d", i), i))
		}
		return attrs
	})
	for name, option := range map[string]cupelotel.Option{"region=eu": static, "n19=19": many} {
		provider, reader := newReader(t)
		collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider), option)
		if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
		for _, m := range collect(t, reader) {
			for series := range points(m) {
				if !strings.Contains(series, name) {
					t.Errorf("%s has the series %s, without %s", m.Name, series, name)
				}
			}
		}
	}
}

// One token and one item count as more do.
func TestOneOfEach(t *testing.T) {
	tracers, recorder := newRecorder(t)
	meters, reader := newReader(t)
	c := config()
	c.Overflow = pipeline.OverflowProceed
	c.Slicer = sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return strategy.Selection{Indices: []int{0}, Shortfalls: []cupel.CountRequirementShortfall{{Kind: "Note", RequiredCount: 1}}}, nil
	})
	collector := observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers)), cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)))
	if _, err := newPipeline(t, c).Run(t.Context(), []*cupel.ContextItem{newItem(t, "a", 1)}, newBudget(t, 1, 0), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	root := spanNamed(t, recorder, "cupel.pipeline").Attributes()
	if attr(root, "cupel.overflow.tokens") != "1" || attr(root, "cupel.shortfall.count") != "1" || attr(root, "cupel.budget.utilization") != "1" {
		t.Errorf("the span has %v, want an overflow of 1, a shortfall and all of the budget", root)
	}
	measured := make(map[string]string)
	for _, m := range collect(t, reader) {
		measured[m.Name] = points(m)["cupel.run.mode=run"]
	}
	if measured["cupel.overflow.tokens"] != "1" || measured["cupel.budget.utilization"] != "1 1" {
		t.Errorf("measured %v, want an overflow of 1 and all of the budget", measured)
	}
}

type contextKey struct{}

// A collector that does not observe gives back the context that it was given, and
// its filter knows of a turn what there is to know.
func TestContextsOfWhatIsNotObserved(t *testing.T) {
	tracers, _ := newRecorder(t)
	meters, _ := newReader(t)
	ctx := context.WithValue(t.Context(), contextKey{}, 1)
	var asked []observe.RunInfo
	none := cupelotel.WithFilter(func(_ context.Context, info observe.RunInfo) bool {
		asked = append(asked, info)
		return false
	})
	spans, metrics := cupelotel.WithTracerProvider(tracers), cupelotel.WithMeterProvider(meters)
	info := observe.RunInfo{Start: base, Candidates: 3, Budget: newBudget(t, 9, 8), Pipeline: "p"}
	for name, row := range map[string]struct {
		collector observe.RunObserver
		info      observe.RunInfo
	}{
		"a trace that is filtered": {cupelotel.NewTraceCollector(spans, none), info}, "a metric that is filtered": {cupelotel.NewMetricCollector(metrics, none), info},
		"a metric of a dry run": {cupelotel.NewMetricCollector(metrics), observe.RunInfo{DryRun: true}}, "a metric": {cupelotel.NewMetricCollector(metrics), info},
	} {
		if got, _ := row.collector.StartRun(ctx, row.info); got != ctx {
			t.Errorf("%s: the run has the context %v", name, got)
		}
	}
	asked = nil
	for name, collector := range map[string]turn.Observer{
		"a trace": cupelotel.NewTraceCollector(spans, none), "a metric": cupelotel.NewMetricCollector(metrics, none),
	} {
		got, turn := collector.StartTurn(ctx, turn.Info{Start: base, Number: 2, Candidates: 3, Budget: newBudget(t, 9, 8), Pipeline: "p"})
		if got != ctx || turn != nil {
			t.Errorf("%s of a turn that is filtered: %v, %v", name, got, turn)
		}
	}
	for _, a := range asked {
		if !a.Start.Equal(base) || a.Candidates != 3 || a.Budget.MaxTokens() != 9 || a.Pipeline != "p" {
			t.Errorf("the filter was asked about %+v", a)
		}
	}
}

// Sums of tokens stay in the range of int at both of its ends.
func TestTokensOfRecordsAreClamped(t *testing.T) {
	for _, row := range []struct {
		tokens []int
		want   string
	}{
		{[]int{math.MaxInt, 1}, fmt.Sprint(math.MaxInt)},
		{[]int{math.MinInt, -1}, fmt.Sprint(math.MinInt)},
	} {
		var items []*cupel.ContextItem
		for i, tokens := range row.tokens {
			items = append(items, newItem(t, fmt.Sprint(i), tokens))
		}
		loggers, kept := newRecords(log.SeverityInfo)
		collector := cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(loggers))
		if _, err := newPipeline(t, config()).Run(t.Context(), items, newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
		if text := attr(attrsOf(&kept.all[0]), "cupel.selection.excluded_by_kind"); !strings.Contains(text, `"tokens":`+row.want+`}`) {
			t.Errorf("%v tokens are summed up as %s, want %s", row.tokens, text, row.want)
		}
	}
}
