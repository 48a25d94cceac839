package cupelsession_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// marks returns which share of the room each break of a session with the preset fills.
// Each of 40 turns appends what say returns. A system prompt stands before the room.
func marks(t *testing.T, config cupelsession.Config, system, room int, say func(turn int) string) (shares []float64) {
	t.Helper()
	s := session(t, agent.New(cupel.HeuristicCounter{}), config)
	prompt, err := cupel.NewContextItem("You find parcels.", system, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned())
	require.NoError(t, err)
	items := []*cupel.ContextItem{prompt}
	for n := range 40 {
		item, err := cupel.NewItemFrom(cupel.HeuristicCounter{}, say(n), cupel.WithKind(cupel.KindToolOutput), cupel.WithMetadata(map[string]any{"role": "assistant"}))
		require.NoError(t, err)
		items = append(items, item)
		turn := next(t, s, items, system+room)
		if turn.Break != nil {
			sum := -system
			for _, item := range turn.Window {
				sum += item.Tokens()
			}
			shares = append(shares, float64(sum)/float64(room))
		}
		commit(t, turn)
	}
	require.NotEmpty(t, shares, "the window was never full")
	return shares
}

// TestMarks: a break fills the window to the given mark at least. Without one, it fills
// more where the room is small beside what is sent anyway, and less where a large window
// would be sent again and again, or where the rest repeats what the window has.
func TestMarks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	facts := func(turn int) string {
		var b strings.Builder
		for line := range 12 {
			fmt.Fprintf(&b, "parcel P-%05d of customer_%d_%d is in depot D-%04d\n", r.IntN(1e5), turn, line, r.IntN(1e4))
		}
		return b.String()
	}
	again := func(turn int) string {
		return fmt.Sprintf("parcel P-%d\n", turn) + strings.Repeat("nothing new was said about it on that day\n", 12)
	}
	for _, row := range []struct {
		name         string
		config       cupelsession.Config
		system, room int
		say          func(int) string
		low, high    float64
		why          string
	}{
		{"given", cupelsession.Config{LowWater: .6, Cache: cupelsession.AnthropicCache}, 4, 1000, facts, .57, 1, "the window is full to the caller's mark; a break later in it keeps more"},
		{"without a cache", cupelsession.Config{}, 4, 1000, facts, .475, .5, "a break costs nothing, and the default counts"},
		{"small room", cupelsession.Config{Cache: cupelsession.AnthropicCache}, 3000, 300, facts, .6, .75, "facts are worth more than they add to the cost, and a quarter stays free"},
		{"large room", cupelsession.Config{Cache: cupelsession.AnthropicCache}, 4, 3000, facts, 0, .45, "what is new is worth as much as what was there"},
		{"repetition", cupelsession.Config{Cache: cupelsession.AnthropicCache}, 4, 1000, again, 0, .45, "the first lines have nearly all the worth"},
	} {
		mean, shares := 0.0, marks(t, row.config, row.system, row.room, row.say)
		for n, share := range shares {
			mean += share / float64(len(shares))
			if share < row.low {
				t.Errorf("%s: break %d fills %.3f of the room, want at least %v: %s", row.name, n, share, row.low, row.why)
			}
		}
		if mean > row.high {
			t.Errorf("%s: breaks fill %.3f of the room on average, want at most %v: %s", row.name, mean, row.high, row.why)
		}
	}
}
