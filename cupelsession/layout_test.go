package cupelsession

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Only what is sent in the place of several items is one block.
func TestBlocksOfEntries(t *testing.T) {
	l := &layout{candidates: new(candidates), at: []int32{0, inTail, 1, 2, 2, out, 3, 3, 0}, window: []entry{
		{Keys: []string{"whole"}}, {Keys: []string{"short"}, Form: "s"}, {Keys: []string{"call", "result"}, Form: "note"}, {Keys: []string{"a", "b"}, Form: "sum", Summary: true},
	}}
	assert.Equal(t, []int{5, 4, 1, 1}, l.blocks([]int{5, 9, 4, 3, 3, 9, 2, 2}))
}

// A choice that frees 100 of 200 tokens, and writes the others, must pay for itself.
func TestWorth(t *testing.T) {
	cache := CacheModel{Read: .25, Write: 1.25, Sure: 10, Likely: 20}
	for _, test := range []struct {
		cache   CacheModel
		horizon int
		growth  float64
		most    int
		age     time.Duration
		want    bool
		why     string
	}{
		{cache, 4, 0, 300, 0, false, "it saves what it costs"},
		{cache, 5, 0, 300, 0, true, "it saves more"},
		{cache, 1, 0, 300, 15, true, "half of what it writes is written anyway"},
		{cache, 1, 0, 300, 13, false, "only a third is"},
		{CacheModel{Read: .25, Write: 1.25, Sure: 10, Likely: 10}, 5, 0, 300, 10, true, "it is sure as long as it is likely"},
		{cache, -1, 0, 300, 20, false, "the caller wants none"},
		{CacheModel{Read: .25, Write: 1.25}, 5, 0, 300, 0, false, "there is no cache"},
		{cache, 0, 10, 240, 0, false, "the window is full in four turns"},
		{cache, 0, 10, 241, 0, true, "and now in more"},
		{cache, 0, 1, 205, 0, true, "each turn appends a token"},
		{cache, 0, .75, 210, 0, false, "the window is not filling up"},
	} {
		now := time.Unix(9, 0)
		p := proposal{session: &Session{config: Config{Horizon: test.horizon}}, before: newState(), layout: &layout{tokens: 200}}
		p.before.Growth = test.growth
		p.cache = caching{CacheModel: test.cache, sent: sent{At: now.Add(-test.age)}, now: now}
		assert.Equal(t, test.want, p.worth(limits{most: test.most, low: 100}), test.why)
	}
}
