package cupelsession_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelsession"
)

// TestTurnsThatAppend compares turns that bring two items to 10,000 candidates
// with the first turn, which chooses. The fastest of each is free of noise.
func TestTurnsThatAppend(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	var items []*cupel.ContextItem
	add := func() {
		items = append(items, item(t, fmt.Sprintf("message %d: %s", len(items), "words that make it as long as a message is"), 20))
	}
	for range 10_000 {
		add()
	}
	fastest := func(d *time.Duration, since time.Time) {
		if now := time.Since(since); *d == 0 || now < *d {
			*d = now
		}
	}
	var first, later time.Duration
	for range 5 {
		s := session(t, newest(t), cupelsession.Config{LowWater: .5, Horizon: -1, Cache: cupelsession.AnthropicCache})
		start := time.Now()
		commit(t, next(t, s, items, 100_000))
		fastest(&first, start)
		for range 20 {
			add()
			add()
			start := time.Now()
			turn := next(t, s, items, 100_000)
			commit(t, turn)
			fastest(&later, start)
			if turn.Break != nil {
				t.Fatalf("%+v, want turns without a break", turn.Break)
			}
		}
	}
	if later > first/20 {
		t.Errorf("a turn that appends takes %v, the first %v, want at most 1/20", later, first)
	}
}
