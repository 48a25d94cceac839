package pipeline_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
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
func (b bomb) StartRun(ctx context.Context, _ observe.RunInfo) (context.Context, observe.RunTrace) {
	b.goOff("StartRun")
	return ctx, bombRun{bomb: b}
}

type bombRun struct {
	observe.NoTrace
	bomb
}

func (b bombRun) Detail() observe.TraceDetail {
	b.goOff("Detail")
	return observe.TraceDetail{ItemEvents: true}
}

func (b bombRun) StartStage(ctx context.Context, _ observe.StageStart) context.Context {
	b.goOff("StartStage")
	return ctx
}
func (b bombRun) EndStage(context.Context, observe.StageEnd) { b.goOff("EndStage") }
func (b bombRun) EndRun(context.Context, observe.RunEnd)     { b.goOff("EndRun") }

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
	overflowing := func(on func(cupel.OverflowEvent)) func(*pipeline.Config) {
		return func(c *pipeline.Config) {
			c.Slicer, c.Overflow, c.OnOverflow = everything, pipeline.OverflowProceed, on
		}
	}
	panicAtReading := func(n int) func(*pipeline.Config) {
		return func(c *pipeline.Config) {
			readings := 0
			c.Clock = func() time.Time {
				if readings++; readings >= n {
					panic("clock")
				}
				return time.Unix(int64(readings), 0)
			}
		}
	}
	none := func(*pipeline.Config) {}
	tests := []struct {
		name    string
		change  func(*pipeline.Config)
		bomb    string // where the other collector goes off, or ""
		unwound any
		stage   cupel.PipelineStage // in which the run was abandoned
		ends    string              // the stages whose end was told, the one that was abandoned with a !
		why     string
	}{
		{"overflow observer panics", overflowing(func(cupel.OverflowEvent) { panic("no") }), "", "no",
			cupel.StagePlace, "Classify Score Deduplicate Slice Place!", "Config says that this panic is not caught"},
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
				var collector observe.TraceCollector = s
				switch order {
				case "first":
					collector = observe.Multi(s, bomb{tt.bomb})
				case "last":
					collector = observe.Multi(bomb{tt.bomb}, s)
				}
				p := newPipeline(t, tt.change)
				how := leave(func() {
					_, err := p.Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), pipeline.WithTrace(collector))
					t.Errorf("Run returned %v", err)
				})
				equal(t, "unwound by", how, tt.unwound)

				var ends []string
				for _, e := range s.ends {
					end := string(e.Stage)
					if abandoned, ok := compat.AsType[*observe.AbandonedError](e.Err); ok {
						equal(t, "stage of the stage's error", abandoned.Stage, e.Stage)
						end += "!"
					} else if e.Err != nil {
						t.Errorf("%s ended with %v", e.Stage, e.Err)
					}
					if e.End.Before(e.Start) || e.Start.IsZero() || e.Duration < 0 || e.Duration > e.End.Sub(e.Start) {
						t.Errorf("%s lasts from %s to %s, %s of it busy", e.Stage, e.Start, e.End, e.Duration)
					}
					ends = append(ends, end)
				}
				if got := strings.Join(ends, " "); got != tt.ends {
					t.Errorf("ends of stages: %q, want %q: %s", got, tt.ends, tt.why)
				}
				abandoned, ok := compat.AsType[*observe.AbandonedError](s.run.Err)
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

// The memory of an abandoned run is not given to another, and a run that ended
// well is not taken for an abandoned one, even if its memory was reused.
func TestAbandonedRunsBesideOthers(t *testing.T) {
	good := newPipeline(t)
	bad := newPipeline(t, withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { runtime.Goexit(); return 0 })))
	items, budget := observedItems(t), budgetOf(t, 20, 10)
	var wait sync.WaitGroup
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range 100 {
				s := &spy{}
				if i%3 == 0 {
					leave(func() { _, _ = bad.Run(t.Context(), items, budget, pipeline.WithTrace(s)) })
					equal(t, "ends of an abandoned run", len(s.ends), 2)
					continue
				}
				if i%3 == 1 {
					leave(func() { _, _ = bad.Prepare(t.Context(), items, pipeline.WithTrace(s)) })
					equal(t, "ends of an abandoned preparation", fmt.Sprint(len(s.ends), s.run.Err), "2 cupel: the run was abandoned in stage Score")
					continue
				}
				window, err := good.Run(t.Context(), items, budget, pipeline.WithTrace(s))
				if err != nil || contents(window) != "p a" || s.run.Err != nil || s.run.Selected != 2 {
					t.Errorf("got %q, %v; the observer was told %d items, %v", contents(window), err, s.run.Selected, s.run.Err)
				}
			}
		}()
	}
	wait.Wait()
}
