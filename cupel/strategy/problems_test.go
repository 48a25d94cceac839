package strategy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

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

func TestPaths(t *testing.T) {
	for got, want := range map[string]string{
		strategy.Element("entries", 1): "entries[1]", strategy.Key("weights", `a"b`): `weights["a\"b"]`, strategy.Key("weights", strings.Repeat("x", 61)): `weights["` + strings.Repeat("x", 60) + `…"]`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
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
