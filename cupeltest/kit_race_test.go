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

// The scorers below are right in every single call and race in the first ones.
type (
	unlockedMemo struct {
		scores map[*cupel.ContextItem]float64
	}
	contentMemo struct{ scores map[string]float64 }
	lazyTable   struct{ table []float64 }
)

func (m *unlockedMemo) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	if _, ok := m.scores[item]; !ok {
		m.scores[item] = size(item, all)
	}
	return m.scores[item]
}

func (m *contentMemo) Score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	if _, ok := m.scores[item.Content()]; !ok {
		m.scores[item.Content()] = float64(len(item.Content()))
	}
	return m.scores[item.Content()]
}

func (l *lazyTable) Score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	if l.table == nil {
		l.table = []float64{1, 0.5, 0.25}
	}
	return l.table[len(item.Content())%3]
}

// contentMemos is what all scorers of a program share.
var contentMemos = contentMemo{scores: make(map[string]float64)}

func TestRacing(t *testing.T) {
	if os.Getenv(raceOnPurpose) == "" {
		t.Skip("run by TestRaceDetectorFindsUnsafeStrategies")
	}
	t.Run("scorer", func(t *testing.T) { cupeltest.TestScorer(t, func() cupel.Scorer { return new(racing) }) })
	t.Run("slicer", func(t *testing.T) { cupeltest.TestSlicer(t, func() cupel.Slicer { return new(racing) }) })
	for name, newScorer := range racingScorers {
		t.Run(name, func(t *testing.T) { cupeltest.TestScorer(t, newScorer) })
	}
	t.Run("placer", func(t *testing.T) { cupeltest.TestPlacer(t, func() cupel.Placer { return new(racing) }) })
}

var racingScorers = map[string]func() cupel.Scorer{
	"unlocked memo":       func() cupel.Scorer { return &unlockedMemo{scores: make(map[*cupel.ContextItem]float64)} },
	"unlocked by content": func() cupel.Scorer { return &contentMemo{scores: make(map[string]float64)} },
	"shared by content":   func() cupel.Scorer { return &contentMemos },
	"lazy table":          func() cupel.Scorer { return new(lazyTable) },
}

// What no result shows is for the race detector to see: the kit calls from
// several goroutines at once.
func TestRaceDetectorFindsUnsafeStrategies(t *testing.T) {
	if !raceEnabled {
		t.Skip("needs the race detector")
	}
	roles := []string{"scorer", "slicer", "placer"}
	for name := range racingScorers {
		roles = append(roles, name)
	}
	for _, role := range roles { // each alone: some end the process
		cmd := exec.Command(os.Args[0], "-test.run=^TestRacing$/^"+role+"$", "-test.v")
		cmd.Env = append(os.Environ(), raceOnPurpose+"=1")
		output, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(output), "DATA RACE") && !strings.Contains(string(output), "concurrent map") {
			t.Errorf("the racing %s ended with %v:\n%s", role, err, output)
		}
	}
}
