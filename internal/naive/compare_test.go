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

// differ runs one case through the model, with a fault or without, and through
// the engine, and says where they disagree, or "". seen may be nil.
func differ(data []byte, fault naive.Fault, seen tally) string {
	c := generate(data)
	c.config.Fault = fault
	return differCase(c, seen)
}

func differCase(c testCase, seen tally) string {
	want, wantErr := naive.Run(c.config, c.items, c.budget)
	if class(wantErr) == naive.ClassTooLarge {
		if seen != nil {
			seen["skipped"]++
		}
		return ""
	}
	if seen != nil {
		seen.add(c, want, wantErr)
	}

	config, err := engineConfig(c.config)
	if class(wantErr) == naive.ClassInvalidConfig || err != nil {
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

	var wantObserved []cupel.OverflowEvent
	if want.Report.Overflow != nil && wantErr == nil {
		wantObserved = append(wantObserved, *want.Report.Overflow)
	}
	got, err := p.Run(ctx, c.items, c.budget)
	if d := differRun(want, wantErr, got, err); d != "" {
		return "Run: " + d
	}
	if d := differOverflow(wantObserved, observed); d != "" {
		return "Run: overflow observer: " + d
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

// class is the class of an error of either side.
func class(err error) naive.Class {
	var own *naive.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &own):
		return own.Class
	case errors.Is(err, cupel.ErrInvalidConfig):
		return naive.ClassInvalidConfig
	case errors.Is(err, pipeline.ErrPinnedExceedsBudget):
		return naive.ClassPinned
	case errors.Is(err, pipeline.ErrOverflow):
		return naive.ClassOverflow
	case errors.Is(err, cupel.ErrScarcity):
		return naive.ClassScarcity
	case errors.Is(err, pipeline.ErrContent):
		return naive.ClassContent
	}
	return naive.Class("other: " + err.Error())
}

// differError compares the class of an error, and its text where a chapter
// fixes it.
func differError(want, got error) string {
	if class(got) != class(want) {
		return fmt.Sprintf("error %v, want class %q", got, class(want))
	}
	if want != nil && class(want) != naive.ClassInvalidConfig && class(want) != naive.ClassContent && got.Error() != "cupel: "+want.Error() {
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
	want, err := naive.Score(c.config.Scorer, scoreable, c.config.Fault)
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
	want, wantErr := naive.Slice(c.config.Slicer, c.scored, c.sliceBudget, c.config.Fault)
	if class(wantErr) == naive.ClassTooLarge {
		return ""
	}
	got, err := strategy.CallSlicer(ctx, config.Slicer, c.scored, c.sliceBudget)
	if d := differError(wantErr, err); d != "" {
		return "Slice: " + d
	}
	byIndex := func(a, b strategy.Drop) int { return a.Index - b.Index }
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

	wantOrder := naive.Place(c.config.Placer, c.scored, c.config.Fault)
	order, err := strategy.CallPlacer(ctx, config.Placer, c.scored)
	if err != nil || !slices.Equal(order, wantOrder) {
		return fmt.Sprintf("Place: %v, error %v, want %v", order, err, wantOrder)
	}
	return ""
}

// sameScore allows 1e-9, relative to the score where that exceeds 1.
func sameScore(a, b float64) bool {
	if a == b || math.IsNaN(a) && math.IsNaN(b) {
		return true
	}
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b))
}

func differOverflow(want, got []cupel.OverflowEvent) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d overflow events, want %d", len(got), len(want))
	}
	for i := range want {
		switch {
		case got[i].TokensOverBudget != want[i].TokensOverBudget:
			return fmt.Sprintf("%d tokens over, want %d", got[i].TokensOverBudget, want[i].TokensOverBudget)
		case !slices.EqualFunc(got[i].OverflowingItems, want[i].OverflowingItems, sameItem):
			return fmt.Sprintf("overflowing items %v, want %v", contents(got[i].OverflowingItems), contents(want[i].OverflowingItems))
		case !reflect.DeepEqual(got[i].Budget, want[i].Budget):
			return fmt.Sprintf("budget %+v, want %+v", got[i].Budget, want[i].Budget)
		}
	}
	return ""
}

func differReport(result naive.Result, got *cupel.SelectionReport, level observe.TraceDetailLevel) string {
	want := result.Report
	if d := differEvents(result, got.Events, level); d != "" {
		return d
	}
	if len(got.Included) != len(want.Included) {
		return fmt.Sprintf("%d included items, want %d", len(got.Included), len(want.Included))
	}
	for i, w := range want.Included {
		if g := got.Included[i]; !sameItem(g.Item, w.Item) || g.Reason != w.Reason || !sameScore(g.Score, w.Score) {
			return fmt.Sprintf("included[%d] is %q %v %s, want %q %v %s", i, g.Item.Content(), g.Score, g.Reason, w.Item.Content(), w.Score, w.Reason)
		}
	}
	for i, w := range want.Excluded {
		if i >= len(got.Excluded) {
			return fmt.Sprintf("excluded[%d] is missing, want %q %v %s", i, w.Item.Content(), w.Score, describeReason(w.Reason))
		}
		if g := got.Excluded[i]; g.Item != w.Item || !g.Reason.Equal(w.Reason) || !sameScore(g.Score, w.Score) {
			return fmt.Sprintf("excluded[%d] is %q %v %s, want %q %v %s", i,
				g.Item.Content(), g.Score, describeReason(g.Reason), w.Item.Content(), w.Score, describeReason(w.Reason))
		}
	}
	switch {
	case len(got.Excluded) > len(want.Excluded):
		return fmt.Sprintf("%d excluded items, want %d", len(got.Excluded), len(want.Excluded))
	case got.TotalCandidates != want.TotalCandidates:
		return fmt.Sprintf("%d candidates, want %d", got.TotalCandidates, want.TotalCandidates)
	case got.TotalTokensConsidered != want.TotalTokensConsidered:
		return fmt.Sprintf("%d tokens considered, want %d", got.TotalTokensConsidered, want.TotalTokensConsidered)
	case !slices.Equal(got.CountRequirementShortfalls, want.CountRequirementShortfalls):
		return fmt.Sprintf("shortfalls %+v, want %+v", got.CountRequirementShortfalls, want.CountRequirementShortfalls)
	}
	if d := differDecisions(result, got); d != "" {
		return d
	}
	return differOverflow(overflows(want), overflows(got))
}

// differDecisions compares what the Units chapter adds to the entries.
func differDecisions(want naive.Result, got *cupel.SelectionReport) string {
	for i, w := range want.Included {
		g := got.Included[i]
		if d := (naive.Decision{Candidate: g.Candidate, Form: g.Form, Stale: g.Stale}); d != w {
			return fmt.Sprintf("included[%d] %q: %+v, want %+v", i, g.Item.Content(), d, w)
		}
	}
	for i, w := range want.Excluded {
		g := got.Excluded[i]
		if d := (naive.Decision{Candidate: g.Candidate, Stale: g.Stale}); d != w {
			return fmt.Sprintf("excluded[%d] %q: %+v, want %+v", i, g.Item.Content(), d, w)
		}
	}
	return ""
}

func describeReason(r cupel.ExclusionReason) string {
	d := r.Data()
	return fmt.Sprintf("%s (against %q, displaced by %q)", r, d.DeduplicatedAgainst, d.DisplacedBy)
}

func overflows(report *cupel.SelectionReport) []cupel.OverflowEvent {
	if report.Overflow == nil {
		return nil
	}
	return []cupel.OverflowEvent{*report.Overflow}
}

// differEvents compares the stages' events and, at level Item, checks that
// each decision has its event before that of its stage (R33).
func differEvents(result naive.Result, got []cupel.TraceEvent, level observe.TraceDetailLevel) string {
	want := result.Report
	var stages []cupel.TraceEvent
	pending := map[string]int{} // item events since the last stage event, by the reason's name
	perStage := map[cupel.PipelineStage]map[string]int{}
	for i, e := range got {
		if e.Message == "" {
			perStage[e.Stage] = pending
			pending = map[string]int{}
			stages = append(stages, cupel.TraceEvent{Stage: e.Stage, ItemCount: e.ItemCount})
			if e.DurationMS < 0 {
				return fmt.Sprintf("event %d lasts %v ms", i, e.DurationMS)
			}
			continue
		}
		if e.ItemCount != 1 || e.DurationMS != 0 {
			return fmt.Sprintf("item event %d has count %d and duration %v", i, e.ItemCount, e.DurationMS)
		}
		name, _, _ := strings.Cut(e.Message, ":")
		pending[string(e.Stage)+" "+name]++
	}
	if !slices.Equal(stages, want.Events) {
		return fmt.Sprintf("stage events %+v, want %+v", stages, want.Events)
	}
	if level != observe.TraceDetailItem {
		if len(stages) != len(got) {
			return "item events at level Stage"
		}
		return ""
	}
	if len(want.Events) < 5 {
		return "" // the events of a run that failed are checked by stage above
	}
	wanted := map[cupel.PipelineStage]map[string]int{}
	add := func(stage cupel.PipelineStage, name string) {
		if wanted[stage] == nil {
			wanted[stage] = map[string]int{}
		}
		wanted[stage][string(stage)+" "+name]++
	}
	for i, in := range want.Included {
		add(cupel.StagePlace, string(in.Reason))
		if len(result.Included) > 0 && result.Included[i].Stale && in.Item.Group() == "" && in.Reason != cupel.IncludePinned {
			add(cupel.StageDeduplicate, string(cupel.ExcludeSuperseded)) // it has come back
		}
	}
	// Which of the exclusions for the budget are Slice's and which are Place's
	// follows from the events' counts.
	truncated := want.Events[0].ItemCount - want.Events[1].ItemCount + want.Events[3].ItemCount - want.Events[4].ItemCount
	budget := 0
	for _, out := range want.Excluded {
		switch out.Reason.Code {
		case cupel.ExcludeNegativeTokens:
			add(cupel.StageClassify, string(out.Reason.Code))
		case cupel.ExcludeDeduplicated, cupel.ExcludeSuperseded, cupel.ExcludeNearDuplicate:
			add(cupel.StageDeduplicate, string(out.Reason.Code))
		case cupel.ExcludeCountCapExceeded:
			add(cupel.StageSlice, string(out.Reason.Code))
		default:
			budget++
		}
	}
	for range want.CountRequirementShortfalls {
		add(cupel.StageSlice, "CountRequirementShortfall")
	}
	for _, e := range want.Events {
		left := surplus(perStage[e.Stage], wanted[e.Stage])
		n := left[string(e.Stage)+" "+string(cupel.ExcludeBudgetExceeded)] + left[string(e.Stage)+" "+string(cupel.ExcludePinnedOverride)]
		delete(left, string(e.Stage)+" "+string(cupel.ExcludeBudgetExceeded))
		delete(left, string(e.Stage)+" "+string(cupel.ExcludePinnedOverride))
		expected := 0
		switch e.Stage {
		case cupel.StageSlice:
			expected = budget - truncated
		case cupel.StagePlace:
			expected = truncated
		}
		if len(left) > 0 || n != expected {
			return fmt.Sprintf("item events of %s: surplus %v, %d for the budget, want %d", e.Stage, left, n, expected)
		}
	}
	return ""
}

// surplus returns got less want, without what is 0.
func surplus(got, want map[string]int) map[string]int {
	left := map[string]int{}
	for k, n := range got {
		left[k] += n
	}
	for k, n := range want {
		left[k] -= n
	}
	for k, n := range left {
		if n == 0 {
			delete(left, k)
		}
	}
	return left
}

// add counts what a case led to.
func (t tally) add(c testCase, r naive.Result, err error) {
	t["cases"]++
	if err != nil {
		t["error "+string(class(err))]++
		if class(err) == naive.ClassInvalidConfig {
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
