package cupeltest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// raceOnPurpose has TestRacing race.
const raceOnPurpose = "CUPELTEST_RACE_ON_PURPOSE"

// racing counts its calls, which is not seen in any result and is not safe.
type racing struct{ calls int }

func (r *racing) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(r.score).Score(ctx, items, scores)
}

func (r *racing) score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	r.calls++
	return size(item, all)
}

func (r *racing) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
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

func (m *unlockedMemo) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(m.score).Score(ctx, items, scores)
}

func (m *unlockedMemo) score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	if _, ok := m.scores[item]; !ok {
		m.scores[item] = size(item, all)
	}
	return m.scores[item]
}

func (m *contentMemo) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		if _, ok := m.scores[item.Content()]; !ok {
			m.scores[item.Content()] = float64(len(item.Content()))
		}
		scores[i] = m.scores[item.Content()]
	}
	return nil
}

func (l *lazyTable) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		if l.table == nil {
			l.table = []float64{1, 0.5, 0.25}
		}
		scores[i] = l.table[len(item.Content())%3]
	}
	return nil
}

// contentMemos is what all scorers of a program share.
var contentMemos = contentMemo{scores: make(map[string]float64)}

func TestRacing(t *testing.T) {
	if os.Getenv(raceOnPurpose) == "" {
		t.Skip("run by TestRaceDetectorFindsUnsafeStrategies")
	}
	t.Run("scorer", func(t *testing.T) { cupeltest.TestScorer(t, func() strategy.Scorer { return new(racing) }) })
	t.Run("slicer", func(t *testing.T) { cupeltest.TestSlicer(t, func() strategy.Slicer { return new(racing) }) })
	for name, newScorer := range racingScorers {
		t.Run(name, func(t *testing.T) { cupeltest.TestScorer(t, newScorer) })
	}
	t.Run("placer", func(t *testing.T) { cupeltest.TestPlacer(t, func() strategy.Placer { return new(racing) }) })
}

var racingScorers = map[string]func() strategy.Scorer{
	"unlocked memo":       func() strategy.Scorer { return &unlockedMemo{scores: make(map[*cupel.ContextItem]float64)} },
	"unlocked by content": func() strategy.Scorer { return &contentMemo{scores: make(map[string]float64)} },
	"shared by content":   func() strategy.Scorer { return &contentMemos },
	"lazy table":          func() strategy.Scorer { return new(lazyTable) },
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
