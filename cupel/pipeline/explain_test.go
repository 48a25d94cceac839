package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestPreparedExplain(t *testing.T) {
	const (
		plain    = "pin 2 0 pin; less -1 0; best 4 .9; twin 3 .4; twin 3 .4; same/1 1 .1; same/2 1 .2"
		units    = "p 10 .5 g=p pin; q 5 .5 g=p; a 20 .9 g=g; b 20 .1 g=g; c 30 .5; d 60 .4 g=h; e 5 .1 g=h; o 1 .2 k=f; n 2 .1 k=f; f 40 .3 v=38:.5"
		forms    = "call 2 .9 g=g; result 4 .1 g=g; long 20 .8 v=2:.5; large 9 .1; refused 9 -1"
		versions = "old 3 .2 k=f; new 90 .9 k=f; plain 5 .5"
	)
	tests := []struct {
		why, items        string
		how               string
		target, candidate int
		want              string // a part of the rule, and the obstacles
	}{
		{"pinned items never come to the slicer", plain, "greedy", 9, 0, "[]"},
		{"nor do negative ones", plain, "greedy", 9, 1, "[]"},
		{"nor duplicates", plain, "greedy", 9, 5, "[]"},
		{"there is no such candidate", plain, "greedy", 9, 7, "[]"},
		{"nor one before the first", plain, "greedy", 9, -1, "[]"},
		{"nothing is in its way", plain, "greedy", 9, 2, "[]"},
		{"best and same leave 2 of 7", plain, "greedy", 9, 3, "When its turn came, 2 of 7 tokens were left. [2 6]"},
		{"a pointer that occurs twice is two candidates", plain, "second KeepDuplicates", 9, 4, "sliceFunc chose others, with 7 tokens. [3]"},
		{"pinned items take all there is", plain, "greedy", 2, 2, "Nothing is left to choose with after pinned items and what the budget reserves. [0]"},
		{"pinned and best take 6 of 8", plain, "everything truncate", 8, 3, "but the selection overflowed the target: pinned items stay, and of the others the best that fit. [0 2]"},
		{"it fits", plain, "everything truncate", 8, 6, "[]"},
		{"an older version does not come to the slicer", units, "greedy", 100, 7, "[]"},
		{"a group is in the way with all of its members", units, "greedy", 100, 5, "were left. [8 2 3 4]"},
		{"and each member is out for one reason", units, "greedy", 100, 6, "were left. [8 2 3 4]"},
		{"pinned units leave nothing", units, "greedy", 15, 2, "reserves. [0 1]"},
		{"what comes after it does not count", units, "everything truncate", 58, 4, "that fit. [0 1 2 3]"},
		{"what overflowed and is in", units, "everything truncate", 90, 4, "[]"},
		{"where the run fails, so does the explanation", units, "everything", 50, 4, "cupel: Selected items require 192 tokens, exceeding target budget of 50"},
		{"smaller forms take room as well", forms, "greedy", 10, 3, "Smaller forms of items took 2 of them. [0 1]"},
		{"a smaller form is in", forms, "greedy", 10, 2, "[]"},
		{"and is chosen", forms, "multipleChoice", 10, 3, "within 10 tokens. [0 1 2]"},
		{"a negative score is worth less than nothing", forms, "multipleChoice", 10, 4, "takes nothing with a negative score or none. []"},
		{"an older version is in place of the newest", versions, "greedy", 10, 1, "an older version came back in its place. [0]"},
		{"and has no obstacle itself", versions, "greedy", 10, 0, "[]"},
		{"pinned items do not fit", plain, "greedy", 1, 2, "cupel: Pinned items require 2 tokens, but only 1 are available"},
	}
	calls := 0
	broken := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		if calls++; calls > 3 { // one for each question below: an error is not asked for again
			return strategy.Selection{}, nil
		}
		return strategy.Selection{}, errOwn
	})
	second := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
		clear(items[2:]) // what it does to its list is its own affair
		return strategy.Selection{Indices: []int{1}}, nil
	})
	for _, tt := range tests {
		c := pipelineOf(t, tt.how).Config()
		if strings.HasPrefix(tt.how, "second") {
			c.Slicer = second
		}
		p, err := pipeline.New(c)
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := p.Prepare(t.Context(), unitItems(t, tt.items))
		if err != nil {
			t.Fatal(err)
		}
		o, err := prepared.Explain(t.Context(), budgetOf(t, tt.target, tt.target), tt.candidate)
		got := strings.TrimSpace(fmt.Sprint(o.Rule, " ", o.Before))
		if err != nil {
			got = err.Error()
		}
		if tt.items != plain && o.OutUntil != 0 {
			t.Errorf("%s: it is out until %d: units may shrink", tt.why, o.OutUntil)
		}
		if !strings.HasSuffix(got, tt.want) || tt.want == "[]" && got != "[]" {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}

	if _, err := (*pipeline.Prepared)(nil).Explain(t.Context(), budgetOf(t, 1, 1), 0); !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("a nil Prepared says %v", err)
	}
	prepared, err := newPipeline(t).Prepare(t.Context(), unitItems(t, plain))
	if err != nil {
		t.Fatal(err)
	}
	failing, err := newPipeline(t, withSlicer(broken)).Prepare(t.Context(), unitItems(t, plain))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := failing.Select(t.Context(), budgetOf(t, 9, 9)); !errors.Is(err, errOwn) {
		t.Errorf("a selection of a slicer that fails: %v", err)
	}
	versioned, err := newPipeline(t, withSlicer(broken)).Prepare(t.Context(), unitItems(t, versions))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		*pipeline.Prepared
		candidate int
	}{{versioned, 0}, {failing, 2}} {
		if _, err := of.Explain(t.Context(), budgetOf(t, 9, 9), of.candidate); !errors.Is(err, errOwn) {
			t.Errorf("of a slicer that fails: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := prepared.Explain(ctx, budgetOf(t, 9, 9), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}
