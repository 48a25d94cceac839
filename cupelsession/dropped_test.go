package cupelsession_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelsession"
)

// TestDropped: what leaves the window is handed over once, by Commit alone.
func TestDropped(t *testing.T) {
	for _, tt := range []struct {
		name      string
		summarize bool
		again     bool // from JSON before each turn
		low       float64
		why       string
	}{
		{"alone", false, false, 1, "each break hands over what left, an item or more"},
		{"from JSON", false, true, 0, "another process does not hand over again what left before"},
		{"summaries", true, false, 0, "what a summary stood for left before the summary did"},
		{"summaries from JSON", true, true, 0, "the same in another process"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			config := cupelsession.Config{LowWater: tt.low, Dropped: func(items []*cupel.ContextItem) {
				assert.NotEmpty(t, items)
				text := ""
				for _, it := range items {
					text += it.Content()
				}
				calls = append(calls, text)
			}}
			s := session(t, newest(t), config)
			items := numbered(t, 12)
			var window string
			for n := 5; n <= len(items); n++ {
				if tt.again {
					data := state(t, s)
					s = session(t, newest(t), config)
					require.NoError(t, s.UnmarshalJSON([]byte(data)))
					require.Equal(t, data, state(t, s), "nothing is lost on the way")
				}
				if tt.summarize && n == 6 {
					amend(t, s, ready(t, items[1:4]...))
				}
				before := len(calls)
				next(t, s, items[:n], 50) // not committed
				turn := next(t, s, items[:n], 50)
				assert.Len(t, calls, before, "%d items", n)
				commit(t, turn)
				window = says(turn)
				after := len(calls)
				require.Equal(t, after > before, strings.Contains(turn.String(), " items left out"))
				if err := turn.Commit(cupelsession.Usage{}); !errors.Is(err, cupelsession.ErrStale) || len(calls) != after {
					t.Errorf("%d items: the second commit: %v, calls %q", n, err, calls)
				}
			}
			want := ""
			for _, it := range items {
				if !slices.Contains(strings.Fields(window), it.Content()) {
					want += it.Content()
				}
			}
			got := []byte(strings.Join(calls, ""))
			slices.Sort(got)
			if string(got) != want || len(calls) < 2 {
				t.Errorf("handed over %q, want all but those in the window %q, each once: %s", calls, window, tt.why)
			}
		})
	}
}
