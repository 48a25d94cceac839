package cli

import (
	"strings"
	"testing"
)

func TestHelpListsStrategies(t *testing.T) {
	text := newStrategies().Long
	for _, want := range []string{
		"\nScorers:\n", "\n  recency\n      Scores an item by the rank of its timestamp.\n",
		"      nullTimestampScore: number in [0, 1], default 0.5. The score of items without a timestamp.\n",
		"        window: Scores 1 below an age, and 0 from it on.\n          maxAge: duration, required. ",
		"\nSlicers:\n", "\n  greedy\n", "        capCount: integer at least 0. The largest number of items; unlimited by default.\n",
		"\nPlacers:\n", "\n  chronological\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the help lacks %q:\n%s", want, text)
		}
	}
}
