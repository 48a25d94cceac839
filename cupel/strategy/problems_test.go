package strategy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func fieldsOf(err error) []string {
	var fields []string
	for _, e := range strategy.All(err) {
		if invalid, ok := compat.AsType[*cupel.InvalidConfigError](e); ok {
			fields = append(fields, invalid.Field)
		}
	}
	return fields
}

// TestConstructorsReportEverything gives each constructor several settings that
// are wrong, and expects all of them.
func TestConstructorsReportEverything(t *testing.T) {
	_, composite := scorer.NewComposite(scorer.Weighted{Weight: -1}, scorer.Weighted{Scorer: scorer.Recency{}})
	_, kind := scorer.NewKind(map[cupel.ContextKind]float64{" ": 1, "a": -1, "b": 1, "B": 2})
	_, tag := scorer.NewTag(map[string]float64{"a": -1, "b": 1, "B": 1}, scorer.WithCaseInsensitiveTags())
	_, decay := scorer.NewDecay(nil, nil, scorer.WithNullTimestampScore(2))
	_, step := scorer.Step(scorer.StepWindow{MaxAge: 0, Score: 2}, scorer.StepWindow{MaxAge: time.Hour}, scorer.StepWindow{MaxAge: time.Minute})
	_, knapsack := slicer.NewKnapsack(slicer.WithBucketSize(0), slicer.WithMemoryLimit(-1))
	_, quota := slicer.NewQuota(nil, slicer.Between("", -1, 101), slicer.Between("a", 2, 1), slicer.Require("A", 1))
	_, counts := slicer.NewCountQuota(slicer.Knapsack{}, []slicer.CountQuotaEntry{{RequireCount: -1, CapCount: -2}}, slicer.WithScarcity(7))
	_, constrained := slicer.NewCountConstrainedKnapsack(nil, []slicer.CountQuotaEntry{{Kind: "a", RequireCount: 1}}, slicer.WithScarcity(7))
	tests := []struct {
		name string
		err  error
		want []string
		why  string
	}{
		{"composite", composite, []string{"entries[0].scorer", "entries[0].weight", "entries[1].weight"}, "a part and its weight are two settings"},
		{"kind", kind, []string{`weights[" "]`, `weights["a"]`, `weights["b"]`}, "each kind, and the one that is given twice"},
		{"tag", tag, []string{`weights["a"]`, `weights["b"]`}, "each tag"},
		{"decay", decay, []string{"nullTimestampScore", "clock", "curve"}, "options do not hide arguments"},
		{"step", step, []string{"windows[0].maxAge", "windows[0].score", "windows[2].maxAge"}, "each window, alone and against the one before"},
		{"knapsack", knapsack, []string{"bucketSize", "memoryLimit"}, "each option"},
		{"quota", quota, []string{"inner", "entries[0].kind", "entries[0].require", "entries[0].cap", "entries[1].require", "entries[2].kind"}, "each field of each entry"},
		{"count quota", counts, []string{"inner", "scarcityBehavior", "entries[0].kind", "entries[0].requireCount", "entries[0].capCount"}, "a knapsack inside does not hide the entries"},
		{"count-constrained knapsack", constrained, []string{"knapsack", "scarcityBehavior", "entries[0].capCount"}, "nor does a missing one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fieldsOf(tt.err); !slices.Equal(got, tt.want) || !errors.Is(tt.err, cupel.ErrInvalidConfig) {
				t.Errorf("got %q of %v, want %q: %s", got, tt.err, tt.want, tt.why)
			}
		})
	}
}

func TestAllLeavesOtherErrorsWhole(t *testing.T) {
	invalid := &cupel.InvalidConfigError{Field: "a"}
	other := errors.New("other")
	for _, err := range []error{other, invalid, errors.Join(invalid, other), fmt.Errorf("%w, %w", invalid, other), &nothingJoined{}} {
		if got := strategy.All(err); len(got) != 1 || got[0] != err {
			t.Errorf("%v is taken apart: %v", err, got)
		}
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{
		"short": "short", strings.Repeat("x", 60): strings.Repeat("x", 60), strings.Repeat("x", 61): strings.Repeat("x", 60) + "…", strings.Repeat("x", 59) + "é": strings.Repeat("x", 59) + "…",
	} {
		if got := strategy.Shorten(text); got != want {
			t.Errorf("%q is shortened to %q, want %q", text, got, want)
		}
	}
}

// Everything that is wrong is reported at once.
func ExampleProblems() {
	wrong := strategy.Problems{Component: "Brevity"}
	wrong.Add("half", "-1", "half must be positive")
	wrong.Add(strategy.Element("steps", 2)+".score", "2", "score must be in [0, 1]")
	fmt.Println(wrong.Err())
	// Output:
	// cupel: half must be positive (Brevity, half = -1)
	// cupel: score must be in [0, 1] (Brevity, steps[2].score = 2)
}
