package breakpoint

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlaces(t *testing.T) {
	double := func(n int) int { return 2 * n }
	half := func(n int) int { return n / 2 } // every other unit has no blocks
	for _, test := range []struct {
		prompt Prompt
		want   []int
		why    string
	}{
		{Prompt{}, nil, "nothing to mark"},
		{Prompt{End: 5}, nil, "no marks are allowed"},
		{Prompt{End: 5, Most: 4}, []int{5}, "the end alone"},
		{Prompt{End: 9, Sent: 7, System: 2, Pinned: 3, Most: 3}, []int{2, 7, 9}, "what is pinned comes last"},
		{Prompt{End: 9, Sent: 7, System: 2, Pinned: 2, Most: 4}, []int{2, 7, 9}, "one place is marked once"},
		{Prompt{End: 9, Sent: 9, System: 2, Most: 1}, []int{9}, "the end comes first"},
		{Prompt{End: 40, Sent: 25, System: 2, Most: 4, LookBack: 20}, []int{2, 25, 40}, "15 blocks came"},
		{Prompt{End: 46, Sent: 25, System: 2, Pinned: 3, Most: 4, LookBack: 20}, []int{2, 25, 26, 46}, "21 blocks came: one between in place of the one behind what is pinned"},
		{Prompt{End: 40, Sent: 28, System: 2, Most: 4, LookBack: 20, Blocks: double}, []int{2, 28, 30, 40}, "12 units with 24 blocks came"},
		{Prompt{End: 40, Sent: 40, Most: 4, LookBack: 20}, []int{20, 40}, "what was sent is not known, so that the reach is doubled"},
		{Prompt{End: 21, Sent: 21, Most: 4, LookBack: 20}, []int{1, 21}, "nor is the first block within reach"},
		{Prompt{End: 3, Most: 4, LookBack: 1}, []int{2, 3}, "the provider looks at one block"},
		{Prompt{End: 40, Sent: 21, Most: 4, LookBack: 10, Blocks: half}, []int{21, 40}, "what was sent is just within reach"},
		{Prompt{End: 9, Most: 4, Blocks: half}, []int{9}, "the provider looks everywhere"},
		{Prompt{End: 3, Sent: 8, System: 9, Most: 4}, []int{3}, "no mark stands behind the end"},
	} {
		if test.prompt.Blocks == nil {
			test.prompt.Blocks = func(n int) int { return n }
		}
		assert.Equal(t, test.want, test.prompt.Places(), "%+v: %s", test.prompt, test.why)
	}
}
