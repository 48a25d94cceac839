package inspector

import (
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/cupelsession"
)

// TestATurnOfASession shows whether a turn broke, where, why, and the price.
func TestATurnOfASession(t *testing.T) {
	pipeline := must(pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}))
	session := must(cupelsession.New(pipeline, cupelsession.Config{}))
	items, budget := conversation(12), must(cupel.NewContextBudget(1000, 800))
	for _, c := range []struct {
		items int
		want  string
		why   string
	}{
		{5, "turn 1: 0 tokens kept; cost 108, ", "the first turn keeps nothing"},
		{len(items), "turn 2: break (forced) at item 3, 80 tokens kept, ", "a break"},
	} {
		turn := must(session.Next(t.Context(), items[:c.items], budget))
		selection := must(cupelinspect.FromReport(turn.Report(), budget))
		b := open(t, c.why, selection)
		got := value[string](b, `return [...document.querySelectorAll('.policy div')].filter((div) => div.querySelector('dt').textContent === 'Session').map((div) => div.querySelector('dd').textContent).join()`)
		if !strings.HasPrefix(got, c.want) || got != turn.String() {
			t.Errorf("the page says %q, want %q: %s", got, c.want, c.why)
		}
		if err := turn.Commit(cupelsession.Usage{}); err != nil {
			t.Fatal(err)
		}
	}
}
