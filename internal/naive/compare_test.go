package naive_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// tally counts what the cases of a test have led to, so that a generator gone
// stale is noticed.
type tally map[string]int

// differCase runs one case through the model and through the engine, and says
// where they disagree, or "". seen may be nil.
func differCase(c testCase, seen tally) string {
	want, wantErr := naive.Run(c.config, c.items, c.budget)
	if errors.Is(wantErr, naive.ErrTooLarge) {
		if seen != nil {
			seen["skipped"]++
		}
		return ""
	}
	if seen != nil {
		seen.add(c, want, wantErr)
	}

	config, err := engineConfig(c.config)
	if class(wantErr) == "invalid_config" || err != nil {
		if class(err) != class(wantErr) {
			return fmt.Sprintf("construction: error %v, want class %q (%v)", err, class(wantErr), wantErr)
		}
		return ""
	}
	var observed []cupel.OverflowEvent
	config.OnOverflow = func(e cupel.OverflowEvent) { observed = append(observed, e) }
	p, err := pipeline.New(config)
	if err != nil {
		return fmt.Sprintf("pipeline.New: %v", err)
	}
	ctx := context.Background()
	if d := differScores(ctx, c, config.Scorer); d != "" {
		return d
	}

	if d := differStrategies(ctx, c, config); d != "" {
		return d
	}

	wantObserved := overflows(want.Report)
	if wantErr != nil {
		wantObserved = nil
	}
	got, err := p.Run(ctx, c.items, c.budget)
	if d := differRun(want, wantErr, got, err); d != "" {
		return "Run: " + d
	}
	if !slices.EqualFunc(observed, wantObserved, sameOverflow) {
		return fmt.Sprintf("Run: overflow observer: %+v, want %+v", observed, wantObserved)
	}

	level := observe.TraceDetailStage
	if len(c.items)%2 == 1 {
		level = observe.TraceDetailItem
	}
	collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(level))
	got, err = p.Run(ctx, c.items, c.budget, pipeline.WithTrace(collector))
	if d := differRun(want, wantErr, got, err); d != "" {
		return "Run with a collector: " + d
	}
	for _, which := range []string{"first", "second", "third"} { // the first is not made as the others are
		if d := differReport(want, collector.BuildReport(), level); d != "" {
			return "Run with a collector: " + which + " report: " + d
		}
	}

	observed = nil
	report, err := p.DryRun(ctx, c.items, c.budget)
	if d := differError(wantErr, err); d != "" {
		return "DryRun: " + d
	}
	if report == nil {
		return "DryRun: no report"
	}
	if d := differReport(want, report, observe.TraceDetailStage); d != "" {
		return "DryRun: report: " + d
	}
	if len(observed) > 0 {
		return "DryRun: the overflow observer was called"
	}
	return ""
}

// classes are the names of the errors that the specification tells apart.
var classes = map[error]string{
	cupel.ErrInvalidConfig:          "invalid_config",
	pipeline.ErrPinnedExceedsBudget: "pinned_exceeds_budget",
	pipeline.ErrOverflow:            "overflow",
	cupel.ErrScarcity:               "scarcity",
	pipeline.ErrContent:             "content",
}

// class is the class of an error of either side, "" for none.
func class(err error) string {
	for sentinel, name := range classes {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	if err != nil {
		return "other: " + err.Error()
	}
	return ""
}

// differError compares the class of an error, and its text where a chapter
// fixes it.
func differError(want, got error) string {
	if class(got) != class(want) {
		return fmt.Sprintf("error %v, want class %q", got, class(want))
	}
	if want != nil && class(want) != "invalid_config" && class(want) != "content" && got.Error() != "cupel: "+want.Error() {
		return fmt.Sprintf("error %q, want %q", got, want)
	}
	return ""
}

func differRun(want naive.Result, wantErr error, got []*cupel.ContextItem, err error) string {
	if d := differError(wantErr, err); d != "" {
		return d
	}
	if !slices.EqualFunc(got, want.Items, sameItem) {
		return fmt.Sprintf("items %v, want %v", contents(got), contents(want.Items))
	}
	return ""
}

// sameItem compares a full item by its pointer, and a smaller form, which each
// side has made for itself, by all that it has.
func sameItem(got, want *cupel.ContextItem) bool {
	_, isForm := want.OriginalTokens() // no candidate of these tests has any
	if got == want || !isForm {
		return got == want
	}
	bare := func(it *cupel.ContextItem) *cupel.ContextItem { return must(it.With(cupel.WithMetadata(nil))) }
	return bare(got).Equal(bare(want)) && fmt.Sprintf("%#v", got.Metadata()) == fmt.Sprintf("%#v", want.Metadata()) // which takes NaN for equal
}

func contents(items []*cupel.ContextItem) []string {
	list := make([]string, len(items))
	for i, it := range items {
		list[i] = it.Content()
	}
	return list
}

// differScores compares the scores of all scoreable items.
func differScores(ctx context.Context, c testCase, scorer strategy.Scorer) string {
	var scoreable []*cupel.ContextItem
	for _, it := range c.items {
		if it.Tokens() >= 0 && !it.Pinned() {
			scoreable = append(scoreable, it)
		}
	}
	want, err := naive.Score(c.config.Scorer, scoreable)
	if err != nil {
		return fmt.Sprintf("the model's scorer: %v", err)
	}
	got := make([]float64, len(scoreable))
	if err := strategy.CallScorer(ctx, scorer, scoreable, got); err != nil {
		return fmt.Sprintf("ScoreAll: %v", err)
	}
	for i := range scoreable {
		if !sameScore(got[i], want[i]) {
			return fmt.Sprintf("score of scoreable item %d is %v, want %v", i, got[i], want[i])
		}
	}
	return ""
}

func smallerOf(s strategy.Selection) []strategy.SmallerForm {
	return slices.SortedFunc(slices.Values(s.Smaller), func(a, b strategy.SmallerForm) int { return a.Index - b.Index })
}

func sameDrop(a, b strategy.Drop) bool {
	return a.Index == b.Index && a.Reason.Equal(b.Reason)
}

// differStrategies compares the slicer and the placer on a list in any order;
// what the pipeline hands them is always sorted.
func differStrategies(ctx context.Context, c testCase, config pipeline.Config) string {
	want, wantErr := naive.Slice(c.config.Slicer, c.scored, c.sliceBudget)
	if errors.Is(wantErr, naive.ErrTooLarge) {
		return ""
	}
	got, err := strategy.CallSlicer(ctx, config.Slicer, c.scored, c.sliceBudget)
	if d := differError(wantErr, err); d != "" {
		return "Slice: " + d
	}
	byIndex := func(a, b strategy.Drop) int { return a.Index - b.Index }
	if _, ok := c.config.Slicer.(naive.Diverse); ok && !slices.Equal(got.Indices, want.Indices) {
		return fmt.Sprintf("Slice: takes %v, want %v", got.Indices, want.Indices)
	}
	gotIndices, wantIndices := slices.Sorted(slices.Values(got.Indices)), slices.Sorted(slices.Values(want.Indices))
	gotDrops, wantDrops := slices.SortedFunc(slices.Values(got.Drops), byIndex), slices.SortedFunc(slices.Values(want.Drops), byIndex)
	switch {
	case !slices.Equal(gotIndices, wantIndices):
		return fmt.Sprintf("Slice: positions %v, want %v", gotIndices, wantIndices)
	case !slices.Equal(smallerOf(got), smallerOf(want)):
		return fmt.Sprintf("Slice: smaller forms %v, want %v", smallerOf(got), smallerOf(want))
	case !slices.EqualFunc(gotDrops, wantDrops, sameDrop):
		return fmt.Sprintf("Slice: drops %v, want %v", gotDrops, wantDrops)
	case !slices.Equal(got.Shortfalls, want.Shortfalls):
		return fmt.Sprintf("Slice: shortfalls %v, want %v", got.Shortfalls, want.Shortfalls)
	}

	wantOrder := naive.Place(c.config.Placer, c.scored)
	order := make([]int, len(c.scored))
	err = strategy.CallPlacer(ctx, config.Placer, c.scored, order)
	if err != nil || !slices.Equal(order, wantOrder) {
		return fmt.Sprintf("Place: %v, error %v, want %v", order, err, wantOrder)
	}
	return ""
}

// sameScore reports whether two scores have the same bits, or are both NaN.
func sameScore(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

func sameOverflow(got, want cupel.OverflowEvent) bool {
	return got.TokensOverBudget == want.TokensOverBudget && slices.EqualFunc(got.OverflowingItems, want.OverflowingItems, sameItem) &&
		reflect.DeepEqual(got.Budget, want.Budget)
}

func sameIncluded(got, want cupel.IncludedItem) bool {
	return sameItem(got.Item, want.Item) && got.Reason == want.Reason && sameScore(got.Score, want.Score) &&
		got.Candidate == want.Candidate && got.Form == want.Form && got.Stale == want.Stale
}

func sameExcluded(got, want cupel.ExcludedItem) bool {
	return got.Item == want.Item && got.Reason.Equal(want.Reason) && sameScore(got.Score, want.Score) &&
		got.Candidate == want.Candidate && got.Stale == want.Stale
}

func differReport(result naive.Result, got *cupel.SelectionReport, level observe.TraceDetailLevel) string {
	want := result.Report
	if d := differEvents(result, got.Events, level); d != "" {
		return d
	}
	if !slices.EqualFunc(got.Included, want.Included, sameIncluded) || !slices.EqualFunc(got.Excluded, want.Excluded, sameExcluded) ||
		!slices.EqualFunc(overflows(got), overflows(want), sameOverflow) ||
		!slices.Equal(got.CountRequirementShortfalls, want.CountRequirementShortfalls) ||
		got.TotalCandidates != want.TotalCandidates || got.TotalTokensConsidered != want.TotalTokensConsidered {
		return fmt.Sprintf("got\n%s\nwant\n%s", describeReport(got), describeReport(want))
	}
	return ""
}

func overflows(report *cupel.SelectionReport) []cupel.OverflowEvent {
	if report.Overflow == nil {
		return nil
	}
	return []cupel.OverflowEvent{*report.Overflow}
}

func describeReport(r *cupel.SelectionReport) string {
	var b strings.Builder
	for _, in := range r.Included {
		fmt.Fprintf(&b, "%+v\n", in)
	}
	for _, out := range r.Excluded {
		fmt.Fprintf(&b, "%+v %q\n", out, slices.Collect(out.Reason.Fields()))
	}
	fmt.Fprintf(&b, "%d candidates, %d tokens, shortfalls %v, overflow %+v", r.TotalCandidates, r.TotalTokensConsidered, r.CountRequirementShortfalls, r.Overflow)
	return b.String()
}

// differEvents compares the stages' events and, at level Item, checks that
// each decision has its event before that of its stage (R33).
func differEvents(want naive.Result, got []cupel.TraceEvent, level observe.TraceDetailLevel) string {
	var stages []cupel.TraceEvent
	var decisions []string
	atStage := 0 // the decisions that belong to the stages so far
	for i, e := range got {
		if e.Message != "" {
			name, _, _ := strings.Cut(e.Message, ":")
			decisions = append(decisions, string(e.Stage)+" "+name)
			if e.ItemCount != 1 || e.DurationMS != 0 {
				return fmt.Sprintf("item event %d has count %d and duration %v", i, e.ItemCount, e.DurationMS)
			}
			continue
		}
		for _, d := range decisions[atStage:] {
			if !strings.HasPrefix(d, string(e.Stage)+" ") {
				return fmt.Sprintf("%s is not before its stage", d)
			}
		}
		atStage = len(decisions)
		stages = append(stages, cupel.TraceEvent{Stage: e.Stage, ItemCount: e.ItemCount})
		if e.DurationMS < 0 {
			return fmt.Sprintf("event %d lasts %v ms", i, e.DurationMS)
		}
	}
	wanted := slices.Sorted(slices.Values(want.Decisions))
	slices.Sort(decisions)
	switch {
	case !slices.Equal(stages, want.Report.Events):
		return fmt.Sprintf("stage events %+v, want %+v", stages, want.Report.Events)
	case level != observe.TraceDetailItem && len(decisions) > 0:
		return "item events at level Stage"
	case level == observe.TraceDetailItem && len(stages) == 5 && !slices.Equal(decisions, wanted): // a run that failed may not come to all
		return fmt.Sprintf("item events %q, want %q", decisions, wanted)
	}
	return ""
}

// add counts what a case led to.
func (t tally) add(c testCase, r naive.Result, err error) {
	t["cases"]++
	if err != nil {
		t["error "+class(err)]++
		if class(err) == "invalid_config" {
			return
		}
	}
	for _, in := range r.Report.Included {
		t["included "+string(in.Reason)]++
	}
	for _, out := range r.Report.Excluded {
		t["excluded "+string(out.Reason.Code)]++
	}
	t.addUnits(c, r)
	if r.Report.Overflow != nil {
		t["overflow event"]++
	}
	if len(r.Report.CountRequirementShortfalls) > 0 {
		t["shortfall"]++
	}
	if slices.ContainsFunc(r.Scores, math.IsNaN) {
		t["NaN score"]++
	}
	if slices.ContainsFunc(r.Scores, func(s float64) bool { return math.IsInf(s, 0) }) {
		t["infinite score"]++
	}
	if r.Report.TotalTokensConsidered == math.MaxInt {
		t["clamped total"]++
	}
	pointers := map[*cupel.ContextItem]bool{}
	for _, it := range r.Items {
		if pointers[it] {
			t["pointer selected twice"]++
			break
		}
		pointers[it] = true
	}
	switch s := c.config.Slicer.(type) {
	case naive.Quota:
		t[fmt.Sprintf("quota around %T", s.Inner)]++
	case naive.CountQuota:
		t[fmt.Sprintf("count quota around %T", s.Inner)]++
	default:
		t[fmt.Sprintf("%T", s)]++
	}
}
