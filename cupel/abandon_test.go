package cupel_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
)

// bomb is a collector that panics at a given call, each time.
type bomb struct{ at string }

func (b bomb) goOff(at string) {
	if slices.Contains(strings.Split(b.at, ","), at) {
		panic("bomb at " + at)
	}
}

func (bomb) IsEnabled() bool                     { return true }
func (b bomb) RecordStageEvent(cupel.TraceEvent) { b.goOff("stage event") }
func (b bomb) RecordItemEvent(cupel.TraceEvent)  { b.goOff("item event") }
func (b bomb) StartRun(ctx context.Context, _ cupel.RunInfo) (context.Context, cupel.RunTrace) {
	b.goOff("StartRun")
	return ctx, bombRun{bomb: b}
}

type bombRun struct {
	cupel.NoTrace
	bomb
}

func (b bombRun) Detail() cupel.TraceDetail {
	b.goOff("Detail")
	return cupel.TraceDetail{ItemEvents: true}
}

func (b bombRun) StartStage(ctx context.Context, _ cupel.StageStart) context.Context {
	b.goOff("StartStage")
	return ctx
}
func (b bombRun) EndStage(context.Context, cupel.StageEnd) { b.goOff("EndStage") }
func (b bombRun) EndRun(context.Context, cupel.RunEnd)     { b.goOff("EndRun") }

// leave runs f and says what unwound it: a panic's value, "Goexit" or "".
func leave(f func()) (how any) {
	how = "Goexit"
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			if v := recover(); v != nil || returned {
				how = v
			}
		}()
		f()
		returned = true
	}()
	<-done
	return how
}

func TestAbandonedRuns(t *testing.T) {
	overflowing := func(on func(cupel.OverflowEvent)) func(*cupel.Config) {
		return func(c *cupel.Config) {
			c.Slicer, c.Overflow, c.OnOverflow = everything, cupel.OverflowProceed, on
		}
	}
	panicAtReading := func(n int) func(*cupel.Config) {
		return func(c *cupel.Config) {
			readings := 0
			c.Clock = func() time.Time {
				if readings++; readings >= n {
					panic("clock")
				}
				return time.Unix(int64(readings), 0)
			}
		}
	}
	none := func(*cupel.Config) {}
	tests := []struct {
		name    string
		change  func(*cupel.Config)
		bomb    string // where the other collector goes off, or ""
		unwound any
		stage   cupel.PipelineStage // in which the run was abandoned
		ends    string              // the stages whose end was told, the one that was abandoned with a !
		why     string
	}{
		{"overflow observer panics", overflowing(func(cupel.OverflowEvent) { panic("no") }), "", "no",
			cupel.StagePlace, "Classify Score Deduplicate Slice Place!", "Config says that this panic is not caught"},
		{"overflow observer exits", overflowing(func(cupel.OverflowEvent) { runtime.Goexit() }), "", "Goexit",
			cupel.StagePlace, "Classify Score Deduplicate Slice Place!", "t.FailNow in an observer does that"},
		{"scorer exits", withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { runtime.Goexit(); return 0 })), "", "Goexit",
			cupel.StageScore, "Classify Score!", "recover sees no Goexit"},
		{"clock panics at the start of a stage", panicAtReading(4), "", "clock", "", "Classify", "between two stages none is open"},
		{"clock panics at the end of a stage", panicAtReading(5), "", "clock", cupel.StageScore, "Classify Score!", "it panics again when the run ends"},
		{"clock panics at the end of the run", panicAtReading(12), "", "clock", "", "Classify Score Deduplicate Slice Place", "all stages have ended"},
		{"collector panics at an item event", none, "item event", "bomb at item event", cupel.StageClassify, "Classify!", "the stage is complete, but its end was not told"},
		{"collector panics at a stage event", none, "stage event", "bomb at stage event", cupel.StageClassify, "Classify!", "events come before ends"},
		{"collector panics in StartStage", none, "StartStage", "bomb at StartStage", "", "Classify!", "observers before it have been told of the start"},
		{"collector panics in EndStage", none, "EndStage", "bomb at EndStage", "", "Classify", "later observers still learn that the stage succeeded"},
		{"collector panics in everything", none, "StartStage,EndStage,EndRun", "bomb at StartStage", "", "Classify!", "the first panic is the one that the caller sees"},
		{"collector panics twice", none, "stage event,EndStage,EndRun", "bomb at stage event", cupel.StageClassify, "Classify!", "the first panic is the one that the caller sees"},
	}
	for _, tt := range tests {
		for _, order := range []string{"first", "last", "alone"} {
			if order == "alone" && tt.bomb != "" {
				continue
			}
			t.Run(tt.name+"/"+order, func(t *testing.T) {
				if order == "last" && strings.HasPrefix(tt.bomb, "StartStage") {
					tt.ends = "" // the bomb went off before the spy was told of a start
				}
				s := &spy{}
				var collector cupel.TraceCollector = s
				switch order {
				case "first":
					collector = cupel.MultiTraceCollector(s, bomb{tt.bomb})
				case "last":
					collector = cupel.MultiTraceCollector(bomb{tt.bomb}, s)
				}
				p := pipeline(t, tt.change)
				how := leave(func() {
					_, err := p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(collector))
					t.Errorf("Run returned %v", err)
				})
				equal(t, "unwound by", how, tt.unwound)

				var ends []string
				for _, e := range s.ends {
					end := string(e.Stage)
					if abandoned, ok := compat.AsType[*cupel.AbandonedError](e.Err); ok {
						equal(t, "stage of the stage's error", abandoned.Stage, e.Stage)
						end += "!"
					} else if e.Err != nil {
						t.Errorf("%s ended with %v", e.Stage, e.Err)
					}
					if e.End.Before(e.Start) || e.Start.IsZero() {
						t.Errorf("%s lasts from %s to %s", e.Stage, e.Start, e.End)
					}
					ends = append(ends, end)
				}
				if got := strings.Join(ends, " "); got != tt.ends {
					t.Errorf("ends of stages: %q, want %q: %s", got, tt.ends, tt.why)
				}
				abandoned, ok := compat.AsType[*cupel.AbandonedError](s.run.Err)
				if !ok || abandoned.Stage != tt.stage {
					t.Errorf("the run ended with %v, want it abandoned in stage %q: %s", s.run.Err, tt.stage, tt.why)
				}
				runs := 0
				for _, line := range s.log {
					if strings.HasPrefix(line, "end run ") {
						runs++
					}
				}
				equal(t, "ends of the run", runs, 1)
			})
		}
	}
}

func TestObserverThatPanicsAtTheEdgesOfARun(t *testing.T) {
	for _, tt := range []struct {
		at   string
		ends int // of the run, for an observer before and behind the one that panics
		why  string
	}{
		{"StartRun", 1, "the observer before it has started a run; the one behind it has not"},
		{"Detail", 1, "as above"},
		{"EndRun", 2, "all have started a run"},
	} {
		t.Run(tt.at, func(t *testing.T) {
			before, behind := &spy{}, &spy{}
			how := leave(func() {
				_, _ = pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(cupel.MultiTraceCollector(before, bomb{tt.at}, behind)))
			})
			equal(t, "unwound by", how, any("bomb at "+tt.at))
			ends := 0
			for _, line := range append(before.log, behind.log...) {
				if strings.HasPrefix(line, "end run ") {
					ends++
				}
			}
			if ends != tt.ends {
				t.Errorf("%d ends of the run, want %d: %s", ends, tt.ends, tt.why)
			}
		})
	}
}

func TestAbandonedRunKeepsWhatItFound(t *testing.T) {
	diagnostic := cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(cupel.TraceDetailItem))
	s := &spy{detail: cupel.TraceDetail{Items: true}}
	p := pipeline(t, withPlacer(placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { runtime.Goexit(); return nil, nil })))
	leave(func() {
		_, _ = p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(cupel.MultiTraceCollector(diagnostic, s)))
	})
	report := diagnostic.BuildReport()
	equal(t, "excluded", excluded(report), "big: BudgetExceeded: 50 tokens requested, 4 available; a: Deduplicated: the same content is in as another item; n: NegativeTokens: -1 tokens")
	equal(t, "excluded by Slice", len(s.ends[3].Excluded), 1)
	equal(t, "count in of Place", s.ends[4].CountIn, 2)
	equal(t, "error", s.run.Err.Error(), "cupel: the run was abandoned in stage Place")
}

// The memory of an abandoned run is not given to another, and a run that ended
// well is not taken for an abandoned one, even if its memory was reused.
func TestAbandonedRunsBesideOthers(t *testing.T) {
	good := pipeline(t)
	bad := pipeline(t, withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { runtime.Goexit(); return 0 })))
	items, budget := observedItems(t), budgetOf(t, 20, 10)
	var wait sync.WaitGroup
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range 100 {
				s := &spy{}
				if i%3 == 0 {
					leave(func() { _, _ = bad.Run(t.Context(), items, budget, cupel.WithTrace(s)) })
					equal(t, "ends of an abandoned run", len(s.ends), 2)
					continue
				}
				window, err := good.Run(t.Context(), items, budget, cupel.WithTrace(s))
				if err != nil || contents(window) != "p a" || s.run.Err != nil || s.run.Selected != 2 {
					t.Errorf("got %q, %v; the observer was told %d items, %v", contents(window), err, s.run.Selected, s.run.Err)
				}
			}
		}()
	}
	wait.Wait()
}
