package cupelsession

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
)

func makeItem(t *testing.T, content string, tokens int) *cupel.ContextItem {
	t.Helper()
	item, err := cupel.NewContextItem(content, tokens)
	require.NoError(t, err)
	return item
}

// TestListThatMovesOn holds a list at one length while its oldest items go: a
// session must neither hash what it has seen again nor remember what has gone.
func TestListThatMovesOn(t *testing.T) {
	made := 0
	item := func() *cupel.ContextItem {
		made++
		return makeItem(t, fmt.Sprintf("message %d", made), 10)
	}
	hashed := 0
	config := Config{Key: func(item *cupel.ContextItem) string { hashed++; return item.Content() }}
	var items []*cupel.ContextItem
	for range 100 {
		items = append(items, item())
	}
	before := config.identify(items, new(candidates))
	for range 2_000 {
		items = append(items[2:len(items):len(items)], item(), item())
		before = config.identify(items, before)
	}
	assert.True(t, before.followed, "the list only moved on")
	assert.EqualValues(t, 2, before.were[0], "the list only moved on")
	before = config.identify(append(items[2:100:100], items[:2]...), before)
	assert.False(t, before.followed, "two have moved")
	assert.Equal(t, made, hashed, "one key is made of each item, wherever it is")
	if n := len(before.count); n > 100 {
		t.Errorf("the session remembers %d keys of a list of 100 items, want as many", n)
	}
}

func TestLowWaterOfNoLimit(t *testing.T) {
	for _, mark := range []float64{0.6, 0.999999, 1} {
		budget, err := cupel.NewContextBudget(math.MaxInt, math.MaxInt)
		require.NoError(t, err)
		a := allowance{budget: budget, lowWater: mark}
		l := a.limits(0, 10)
		assert.GreaterOrEqual(t, l.low, math.MaxInt/2, "the low water mark at %v", mark)
		assert.LessOrEqual(t, l.low, l.most, "the low water mark at %v", mark)
	}
}
