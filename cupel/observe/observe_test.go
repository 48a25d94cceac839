package observe_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// watch notes what it gets, in a list that several share.
type watch struct {
	observe.NoTrace
	name   string
	to     *[]string
	detail observe.TraceDetail
	off    bool   // not enabled
	blind  bool   // wants no run
	mute   bool   // returns no context for a stage
	panics string // where
}

type key string // of a context's value

func (w *watch) note(what ...any) {
	text := fmt.Sprint(what...)
	*w.to = append(*w.to, w.name+" "+text)
	if w.panics != "" && strings.HasPrefix(text, w.panics) {
		panic(w.name)
	}
}

func (w *watch) IsEnabled() bool { return !w.off }

func (w *watch) RecordStageEvent(e cupel.TraceEvent) { w.note("stage event ", e.Stage) }

func (w *watch) RecordItemEvent(e cupel.TraceEvent) { w.note("item event ", e.Stage) }

func (w *watch) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	w.note("run ", info.Candidates)
	if w.blind {
		return nil, (*watch)(nil)
	}
	return context.WithValue(ctx, key(w.name), true), w
}

func (w *watch) Detail() observe.TraceDetail { return w.detail }

func (w *watch) StartStage(ctx context.Context, s observe.StageStart) context.Context {
	w.note("start ", s.Stage, " after a ", ctx.Value(key("a")))
	if w.mute {
		return nil
	}
	return context.WithValue(ctx, key(w.name), s.Stage)
}

func (w *watch) EndStage(ctx context.Context, e observe.StageEnd) {
	w.note("end ", e.Stage, " of b ", ctx.Value(key("b")), len(e.Reasons), len(e.Excluded), len(e.Included), e.Err, e.Start.Unix(), e.End.Unix())
}

func (w *watch) EndRun(_ context.Context, e observe.RunEnd) {
	w.note("end of run ", e.Report != nil, e.Err)
	if len(e.Decisions) > 0 {
		w.note("decisions ", len(e.Decisions))
	}
	if e.Report != nil {
		clear(e.Report.Excluded) // it is this observer's own
	}
}

// run goes through one stage of an observed run, as a pipeline does.
func run(ctx context.Context, c observe.TraceCollector) {
	if !c.IsEnabled() {
		return
	}
	item, _ := cupel.NewContextItem("a", 1)
	report := &cupel.SelectionReport{TotalCandidates: 3, Excluded: []cupel.ExcludedItem{{Item: item}}}
	ctx, state := c.(observe.RunObserver).StartRun(ctx, observe.RunInfo{Candidates: 3, Start: time.Unix(7, 0)})
	if ctx == nil {
		panic("no context")
	}
	if state == nil {
		return
	}
	recorder := c
	if own, ok := state.(observe.TraceCollector); ok {
		recorder = own
	}
	detail := state.Detail()
	inner := state.StartStage(ctx, observe.StageStart{Stage: "S", Start: time.Unix(8, 0)})
	if inner == nil {
		inner = ctx
	}
	if detail.ItemEvents {
		recorder.RecordItemEvent(cupel.TraceEvent{Stage: "S"})
	}
	recorder.RecordStageEvent(cupel.TraceEvent{Stage: "S"})
	e := observe.StageEnd{Stage: "S", Start: time.Unix(8, 0), End: time.Unix(9, 0)}
	if detail.Reasons {
		e.Reasons = make([]observe.ReasonCount, 1)
	}
	if detail.Exclusions || detail.Items {
		e.Excluded = make([]cupel.ExcludedItem, 2)
	}
	if detail.Items {
		e.Included = make([]cupel.IncludedItem, 3)
	}
	state.EndStage(inner, e)
	end := observe.RunEnd{}
	if detail.Report {
		end.Report = report
	}
	if detail.Decisions {
		end.Decisions = make([]observe.Decision, 4)
	}
	state.EndRun(ctx, end)
}

// plain is a collector without the extension.
type plain struct {
	to *[]string
}

func (p *plain) IsEnabled() bool { return true }

func (p *plain) RecordStageEvent(cupel.TraceEvent) { *p.to = append(*p.to, "p stage event") }

func (p *plain) RecordItemEvent(cupel.TraceEvent) { *p.to = append(*p.to, "p item event") }

func TestMulti(t *testing.T) {
	type detail = observe.TraceDetail
	started, ended := "start S after a ", "end S of b "
	tests := []struct {
		why  string
		of   []*watch
		want string
	}{
		{"nothing but times, each in the context of those before", []*watch{{name: "a"}, {name: "b"}},
			"a run 3, b run 3, a " + started + "true, b " + started + "S, a stage event S, b stage event S, a " + ended + "S0 0 0 <nil> 8 9, b " + ended + "S0 0 0 <nil> 8 9, a end of run false <nil>, b end of run false <nil>"},
		{"each detail reaches the one who asked", []*watch{{name: "a", detail: detail{Reasons: true, ItemEvents: true, Report: true}}, {name: "b", detail: detail{Exclusions: true}}, {name: "c", detail: detail{Items: true}}},
			"a run 3, b run 3, c run 3, a " + started + "true, b " + started + "S, c " + started + "S, a item event S, a stage event S, b stage event S, c stage event S, a " + ended + "S1 0 0 <nil> 8 9, b " + ended + "S0 2 0 <nil> 8 9, c " + ended + "S0 2 3 <nil> 8 9, a end of run true <nil>, b end of run false <nil>, c end of run false <nil>"},
		{"exclusions without items", []*watch{{name: "a", detail: detail{Exclusions: true}}, {name: "b", mute: true}, {name: "c"}},
			"a run 3, b run 3, c run 3, a " + started + "true, b " + started + "S, c " + started + "S, a stage event S, b stage event S, c stage event S, a " + ended + "true 0 2 0 <nil> 8 9, b " + ended + "true 0 0 0 <nil> 8 9, c " + ended + "true 0 0 0 <nil> 8 9, a end of run false <nil>, b end of run false <nil>, c end of run false <nil>"},
		{"decisions for the one who asked", []*watch{{name: "a", detail: detail{Decisions: true}, mute: true}, {name: "b", mute: true}},
			"a run 3, b run 3, a " + started + "true, b " + started + "true, a stage event S, b stage event S, a " + ended + "true 0 0 0 <nil> 8 9, b " + ended + "true 0 0 0 <nil> 8 9, a end of run false <nil>, a decisions 4, b end of run false <nil>"},
		{"one is off, one does not want this run", []*watch{{name: "a", off: true}, {name: "b", blind: true}, {name: "c"}},
			"b run 3, c run 3, c " + started + "<nil>, c stage event S, c " + ended + "<nil> 0 0 0 <nil> 8 9, c end of run false <nil>"},
		{"no one follows", []*watch{{name: "a", off: true}, {name: "b", blind: true}}, "b run 3"},
		{"no one is on", []*watch{{name: "a", off: true}}, ""},
		{"a panic at the start: the run does not take place", []*watch{{name: "a"}, {name: "b", panics: "run"}, {name: "c"}},
			"a run 3, b run 3, a end of run false cupel: the run was abandoned, panic b"},
		{"a panic at the start of a stage ends it for those before", []*watch{{name: "a"}, {name: "b", panics: "start"}, {name: "c"}},
			"a run 3, b run 3, c run 3, a " + started + "true, b " + started + "S, a " + ended + "true 0 0 0 cupel: the run was abandoned in stage S 8 8, panic b"},
		{"each ends what it started", []*watch{{name: "a", panics: "end S"}, {name: "b", panics: "end S"}},
			"a run 3, b run 3, a " + started + "true, b " + started + "S, a stage event S, b stage event S, a " + ended + "S0 0 0 <nil> 8 9, b " + ended + "S0 0 0 <nil> 8 9, panic a"},
	}
	for _, tt := range tests {
		var notes []string
		collectors := []observe.TraceCollector{nil, (*plain)(nil), (*observe.DiagnosticTraceCollector)(nil)} // left out
		for _, w := range tt.of {
			w.to = &notes
			collectors = append(collectors, w)
		}
		func() {
			defer func() {
				if v := recover(); v != nil {
					notes = append(notes, fmt.Sprint("panic ", v))
				}
			}()
			run(t.Context(), observe.Multi(collectors...))
		}()
		if got := strings.Join(notes, ", "); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.why, got, tt.want)
		}
	}
}

// TestMultiOfSeveralSorts: plain collectors get all events, states that are
// collectors get them in place of theirs, and each report is a copy.
func TestMultiOfSeveralSorts(t *testing.T) {
	var notes []string
	first, second := observe.NewDiagnosticTraceCollector(), observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
	vandal := &watch{name: "a", to: &notes, detail: observe.TraceDetail{Report: true}}
	run(t.Context(), observe.Multi(vandal, first, observe.Multi(second, &plain{&notes})))
	for _, c := range []*observe.DiagnosticTraceCollector{first, second} {
		if r := c.BuildReport(); len(r.Excluded) != 1 || r.Excluded[0].Item == nil {
			t.Errorf("another observer changed the report: %+v", r)
		}
	}
	if got := strings.Join(notes, ", "); !strings.Contains(got, "p item event, a stage event S, p stage event") {
		t.Errorf("the events were %s", got)
	}
	if len(first.Events()) != 1 || len(second.Events()) != 2 {
		t.Errorf("events by level: %v and %v", first.Events(), second.Events())
	}
}

// TestMultiWithinAnother has a collector around it that hides what StartRun needs.
func TestMultiWithinAnother(t *testing.T) {
	var notes []string
	hidden := struct{ observe.TraceCollector }{observe.Multi(&watch{name: "a", to: &notes, off: true}, &watch{name: "b", to: &notes}, &plain{&notes})}
	hidden.RecordItemEvent(cupel.TraceEvent{Stage: "S"})
	hidden.RecordStageEvent(cupel.TraceEvent{Stage: "S"})
	if got := strings.Join(notes, ", "); got != "b item event S, p item event, b stage event S, p stage event" {
		t.Errorf("the events were %s", got)
	}
}

func TestDiagnosticCollector(t *testing.T) {
	for level, events := range map[observe.TraceDetailLevel]int{observe.TraceDetailStage: 1, observe.TraceDetailItem: 2} {
		c := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(level), nil)
		c.RecordStageEvent(cupel.TraceEvent{Stage: "before any run"})
		if r := c.BuildReport(); len(r.Events) != 1 || r.TotalCandidates != 0 {
			t.Errorf("%s: before a run the report is %+v", level, r)
		}
		for range 2 { // a second run forgets the first
			run(t.Context(), c)
		}
		_, _ = c.StartRun(t.Context(), observe.RunInfo{})
		if r := c.BuildReport(); r.TotalCandidates != 0 || len(r.Events) != 0 {
			t.Errorf("%s: at the start of a run the report is that of the last: %+v", level, r)
		}
		run(t.Context(), c)
		r := c.BuildReport()
		if len(r.Events) != events || len(c.Events()) != events || r.TotalCandidates != 3 {
			t.Errorf("%s: %v, %+v; want %d events of the last run", level, c.Events(), r, events)
		}
		r.Events[0].Stage, r.Excluded[0].Item = "changed", nil
		c.Events()[0].Stage = "changed"
		if again := c.BuildReport(); again.Events[0].Stage != "S" || again.Excluded[0].Item == nil || c.Events()[0].Stage != "S" {
			t.Errorf("%s: what was handed out is not a copy", level)
		}
	}
	var none *observe.DiagnosticTraceCollector
	none.RecordStageEvent(cupel.TraceEvent{})
	none.RecordItemEvent(cupel.TraceEvent{})
	_, state := none.StartRun(t.Context(), observe.RunInfo{})
	if none.IsEnabled() || state != nil || len(none.Events()) != 0 || none.BuildReport().TotalCandidates != 0 {
		t.Error("a nil collector knows something")
	}
}

// The events of all items share memory that is made at the start of the run.
func TestDiagnosticCollectorMakesRoom(t *testing.T) {
	made := testing.AllocsPerRun(5, func() {
		c := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
		_, _ = c.StartRun(t.Context(), observe.RunInfo{Candidates: 100})
		for range 105 {
			c.RecordItemEvent(cupel.TraceEvent{})
		}
	})
	if made > 5 {
		t.Errorf("a collector and its events take %v allocations", made)
	}
}

func TestNullTraceCollector(t *testing.T) {
	var none observe.NullTraceCollector
	none.RecordItemEvent(cupel.TraceEvent{})
	none.RecordStageEvent(cupel.TraceEvent{})
	if none.IsEnabled() {
		t.Error("the null collector is enabled")
	}
}

func TestTexts(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"Stage": observe.TraceDetailStage, "Item": observe.TraceDetailItem, "TraceDetailLevel(7)": observe.TraceDetailLevel(7),
	} {
		if got.String() != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// printed prints the stages that have ended.
type printed struct{ observe.NullTraceCollector }

func (printed) IsEnabled() bool { return true }

func (printed) RecordStageEvent(e cupel.TraceEvent) { fmt.Println(e.Stage, "has ended") }

// Two collectors follow one run.
func ExampleMulti() {
	diagnostic := observe.NewDiagnosticTraceCollector()
	run(context.Background(), observe.Multi(diagnostic, printed{})) // pass it to pipeline.WithTrace
	fmt.Println(diagnostic.BuildReport().TotalCandidates, "candidates")
	// Output:
	// S has ended
	// 3 candidates
}

func TestRedaction(t *testing.T) {
	quote := func(from observe.Part, text string) string { return fmt.Sprint(from, " ", text) }
	for _, row := range []struct {
		why    string
		policy observe.Redaction
		from   observe.Part
		want   string
		leaves bool
	}{
		{"kinds leave by default", observe.Redaction{}, observe.PartKind, "a\uFFFD", true},
		{"conversations leave by default", observe.Redaction{}, observe.PartConversation, "a\uFFFD", true},
		{"contents do not", observe.Redaction{}, observe.PartContent, "", false},
		{"errors do not", observe.Redaction{Show: observe.PartContent, Rewrite: quote}, observe.PartError, "", false},
		{"what is shown leaves", observe.Redaction{Show: observe.PartContent | observe.PartGroup}, observe.PartGroup, "a\uFFFD", true},
		{"through the function", observe.Redaction{Show: observe.PartContent, Rewrite: quote}, observe.PartContent, "16 a\uFFFD", true},
		{"defaults too", observe.Redaction{Rewrite: quote}, observe.PartKind, "1 a\uFFFD", true},
	} {
		if got, leaves := row.policy.Text(row.from, "a\xff"); got != row.want || leaves != row.leaves {
			t.Errorf("%s: got %q, %v", row.why, got, leaves)
		}
	}
}
