package cupelsession

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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
	slices.Reverse(items)
	before = config.identify(items, before)
	assert.Equal(t, made, hashed, "one key is made of each item, wherever it is")
	if n := len(before.count); n > 100 {
		t.Errorf("the session remembers %d keys of a list of 100 items, want as many", n)
	}
}

// TestFollowedKeys changes lists at random, with items that say the same, and
// compares their keys with those of the same lists as if they were new.
func TestFollowedKeys(t *testing.T) {
	followed, seeds := 0, uint64(3000)
	if testing.Short() {
		seeds = 700
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 5))
		config := Config{Tail: func(item *cupel.ContextItem) bool { return item.Tokens() == 1 }}
		var items []*cupel.ContextItem
		before := new(candidates)
		for turn := range 8 {
			items = slices.Clone(items)
			for range rng.IntN(3) {
				if len(items) > 0 {
					at := rng.IntN(len(items))
					items = slices.Delete(items, at, at+1)
				}
			}
			for range rng.IntN(4) {
				made := makeItem(t, fmt.Sprint("message ", rng.IntN(40)), rng.IntN(5))
				if at := len(items); rng.IntN(4) == 0 {
					items = slices.Insert(items, rng.IntN(at+1), made)
				} else {
					items = append(items, made)
				}
			}
			now, fresh := config.identify(items, before), config.identify(items, new(candidates))
			if !slices.Equal(now.keys, fresh.keys) || !slices.Equal(now.ends, fresh.ends) || !slices.Equal(now.tail, fresh.tail) || now.sum != fresh.sum {
				t.Fatalf("seed %d turn %d: keys %q, want %q", seed, turn, now.keys, fresh.keys)
			}
			if now.followed {
				followed++
			}
			for i, k := range now.were {
				if k >= 0 && (before.keys[k] != now.keys[i] || before.tail[k] != now.tail[i]) {
					t.Fatalf("seed %d turn %d: item %d was %d, whose key was %q, and is %q", seed, turn, i, k, before.keys[k], now.keys[i])
				}
				if k < 0 && now.followed && slices.Contains(before.keys, now.keys[i]) {
					t.Fatalf("seed %d turn %d: the new item %d has the key %q of an earlier one", seed, turn, i, now.keys[i])
				}
			}
			before = now
		}
	}
	if followed == 0 {
		t.Error("no list was followed")
	}
}

func TestLowWaterOfNoLimit(t *testing.T) {
	for _, mark := range []float64{0.6, 0.999999, 1} {
		budget, err := cupel.NewContextBudget(math.MaxInt, math.MaxInt)
		require.NoError(t, err)
		a := allowance{budget: budget, lowWater: mark}
		l := a.limits(0, 10)
		if l.low < math.MaxInt/2 || l.low > l.most {
			t.Errorf("the low water mark at %v is %d, want a share of %d", mark, l.low, l.most)
		}
	}
}
