package cupelsession_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelsession"
)

// TestLargeResultsGoFirst has small messages and one large result, which no longer
// fits. To give up the result rewrites little and frees much.
func TestLargeResultsGoFirst(t *testing.T) {
	anyPrefix := cupelsession.CacheModel{Read: 0.1, Write: 1.25, Sure: time.Hour, Likely: time.Hour}
	small := func(name string, opts ...cupel.ItemOption) *cupel.ContextItem {
		return item(t, name, 50, append(opts, cupel.WithTimestamp(time.Unix(int64(name[0]), 0)))...)
	}
	result := func(name string) *cupel.ContextItem {
		return item(t, name, 300, cupel.WithTimestamp(time.Unix(int64(name[0]), 0)), cupel.WithVariants(cupel.Variant{Content: name + " in short", Tokens: 12, Worth: 0.5}))
	}
	pipeline, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.NewMultipleChoice(), Placer: placer.Chronological{}, KeepDuplicates: true})
	if err != nil {
		t.Fatal(err)
	}
	inMiddle := []*cupel.ContextItem{small("a"), small("b"), small("c"), small("d"), result("R"), small("e"), small("f")}
	for _, test := range []struct {
		name  string
		cache cupelsession.CacheModel
		items []*cupel.ContextItem
		want  int
		why   string
	}{
		{"any prefix", anyPrefix, inMiddle, 4, "a to d are worth less than it costs to move what follows"},
		{"no cache", cupelsession.CacheModel{}, inMiddle, 0, "moving costs nothing"},
		{"at the beginning", anyPrefix, []*cupel.ContextItem{result("R"), small("a"), small("b"), small("c"), small("d"), small("e"), small("f")}, 0, "nothing behind it frees as much"},
		{"pinned", anyPrefix, []*cupel.ContextItem{small("a"), small("b"), small("c", cupel.WithPinned()), small("d"), result("R"), small("e"), small("f")}, 4, "what is pinned stays where it is"},
	} {
		s := session(t, pipeline, cupelsession.Config{Cache: test.cache, Clock: func() time.Time { return time.Unix(1e9, 0) }, LowWater: 0.5, Horizon: -1})
		var turn *cupelsession.Turn
		for n := 1; n <= len(test.items); n++ {
			turn = next(t, s, test.items[:n], 575)
			commit(t, turn)
		}
		if turn.Break == nil || turn.Break.At != test.want {
			t.Errorf("%s: break %+v, want one at %d (%s); window %q", test.name, turn.Break, test.want, test.why, says(turn))
		}
		if !strings.Contains(says(turn), "f") {
			t.Errorf("%s: the newest message is not in the window %q", test.name, says(turn))
		}
	}
}
