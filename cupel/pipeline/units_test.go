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
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestStagesCountMembers: stages count candidates, not units.
func TestStagesCountMembers(t *testing.T) {
	const (
		groups = "p 5 .5 g=p pin; q 5 .5 g=p; a 20 .9 g=g; b 20 .1 g=g; c 9 .5; a 20 .8 g=h; b 20 .2 g=h; n 3 .5 g=n; m -3 .5 g=n; d 90 .5; e 90 .5 g=e; f 90 .5 g=e"
		older  = "a 10 .9 k=f; c 5 .8 k=f; o 30 .6; b 60 .5 k=f"
	)
	tests := []struct {
		why, items, how string
		target          int
		want            string
	}{
		{"each member counts, in and out", groups, "greedy", 100, "12-10 (2 out, 0 in) 8-8 (0 out, 0 in) 8-6 (2 out, 0 in) 6-3 (3 out, 0 in) 5-5 (0 out, 5 in) start Place 5 5 selected, 59 tokens"},
		{"a group variant counts each member for which it stands", "a 60 .5 g=g; b 60 .4 g=g gv=25:.9; c 10 .9", "greedy", 50, "3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 3 in) start Place 3 2 selected, 35 tokens"},
		{"an older version that came back counts at Slice and Place", older, "greedy", 50, "4-4 (0 out, 0 in) 4-4 (0 out, 0 in) 4-2 (2 out, 0 in) 2-2 (1 out, 0 in) 2-2 (0 out, 2 in) start Place 2 2 selected, 40 tokens"},
		{"Truncate lets fewer through", "a 60 .9; b 30 .8 g=g; c 30 .2 g=g", "everything truncate", 70, "3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-1 (2 out, 1 in) start Place 3 1 selected, 60 tokens"},
	}
	for _, tt := range tests {
		s := &spy{detail: observe.TraceDetail{Items: true}}
		if _, err := pipelineOf(t, tt.how).Run(t.Context(), unitItems(t, tt.items), budgetOf(t, tt.target, tt.target), pipeline.WithTrace(s)); err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		var got []string
		for _, e := range s.ends {
			got = append(got, fmt.Sprintf("%d-%d (%d out, %d in)", e.CountIn, e.CountOut, len(e.Excluded), len(e.Included)))
		}
		for _, line := range s.log {
			if strings.HasPrefix(line, "start Place ") {
				got = append(got, line)
			}
		}
		got = append(got, fmt.Sprintf("%d selected, %d tokens", s.run.Selected, s.run.SelectedTokens))
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.why, got, tt.want)
		}
	}
}

// TestContentsThatCannotBeMade: a run fails, and the error names the form.
func TestContentsThatCannotBeMade(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		why  string
		make func(context.Context) (string, error)
		want string
		is   error
	}{
		{"an error", func(context.Context) (string, error) { return "", broken }, "broken", broken},
		{"a text with an error is none", func(context.Context) (string, error) { return "text", broken }, "broken", broken},
		{"an empty text", func(context.Context) (string, error) { return "", nil }, "Make returned an empty text", pipeline.ErrContent},
		{"a nil error of some type", func(context.Context) (string, error) { var e *nilError; return "text", e }, "failed with a nil *pipeline_test.nilError", pipeline.ErrContent},
		{"a panic", func(context.Context) (string, error) { panic("no") }, "panic: no", pipeline.ErrContent},
	}
	for _, tt := range tests {
		for _, group := range []bool{false, true} {
			v := cupel.Variant{Make: tt.make, Tokens: 5, Worth: .5}
			field, opts := "variants[1]", []cupel.ItemOption{hint(.9), cupel.WithVariants(v, cupel.Variant{Content: "x", Tokens: 30, Worth: .75})}
			if group {
				field, opts = "groupVariants[0]", []cupel.ItemOption{hint(.9), cupel.WithGroup("g"), cupel.WithGroupVariants(v)}
			}
			items := []*cupel.ContextItem{item(t, "first", 1), item(t, "full", 50, opts...)}
			p := newPipeline(t, func(c *pipeline.Config) { c.Slicer = slicer.Greedy{} })
			_, err := p.Run(t.Context(), items, budgetOf(t, 10, 10))
			want := "cupel: item at index 1: the content of " + field + " cannot be made: "
			if !errors.Is(err, pipeline.ErrContent) || !errors.Is(err, tt.is) || errors.Is(err, pipeline.ErrOverflow) ||
				!strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want %s%s", tt.why, err, want, tt.want)
			}
			prepared, err := p.Prepare(t.Context(), items)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := prepared.Select(t.Context(), budgetOf(t, 10, 10)); err != nil {
				t.Errorf("%s: Select builds no window and calls no function, got %v", tt.why, err)
			}
		}
	}
}
