package cupeltest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// raceOnPurpose has TestRacing race.
const raceOnPurpose = "CUPELTEST_RACE_ON_PURPOSE"

// racing counts its calls, which is not seen in any result and is not safe.
type racing struct{ calls int }

func (r *racing) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	r.calls++
	return size(item, all)
}

func (r *racing) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	r.calls++
	return firstFit(items, budget), nil
}

func (r *racing) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	r.calls++
	return asGiven(items), nil
}

func TestRacing(t *testing.T) {
	if os.Getenv(raceOnPurpose) == "" {
		t.Skip("run by TestRaceDetectorFindsUnsafeStrategies")
	}
	t.Run("scorer", func(t *testing.T) { cupeltest.TestScorer(t, func() cupel.Scorer { return new(racing) }) })
	t.Run("slicer", func(t *testing.T) { cupeltest.TestSlicer(t, func() cupel.Slicer { return new(racing) }) })
	t.Run("placer", func(t *testing.T) { cupeltest.TestPlacer(t, func() cupel.Placer { return new(racing) }) })
}

// What no result shows is for the race detector to see: the kit calls from
// several goroutines at once.
func TestRaceDetectorFindsUnsafeStrategies(t *testing.T) {
	if !raceEnabled {
		t.Skip("needs the race detector")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRacing$", "-test.v")
	cmd.Env = append(os.Environ(), raceOnPurpose+"=1")
	output, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the racing strategies passed:\n%s", output)
	}
	for _, role := range []string{"scorer", "slicer", "placer"} {
		if !strings.Contains(string(output), "--- FAIL: TestRacing/"+role) {
			t.Errorf("the racing %s passed:\n%s", role, output)
		}
	}
}
