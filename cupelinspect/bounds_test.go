package cupelinspect

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
)

// WriteWithin is for the tests outside of the package.
var WriteWithin = writeWithin

// TestDefaultBounds checks the defaults for lists whose pages would take long
// to read.
func TestDefaultBounds(t *testing.T) {
	tests := []struct {
		name    string
		n       int
		bytes   int // of each content
		stops   int
		content int
		why     string
	}{
		{"few", 1, 1, 100, 64 << 10, "no more than 100 stops are of use"},
		{"most stops", 5000, 1677, 100, 64 << 10, "5,000 times 100 stops are 500,000, and 5,000 times 1,677 bytes just 8 MiB"},
		{"fewer stops", 5001, 1677, 99, 64 << 10, "500,000 / 5,001 stops; 8 MiB still"},
		{"shorter contents", 5000, 1678, 100, 1 << 10, "just above 8 MiB: 1 KiB is the longest half of a half that cuts"},
		{"huge contents", 128, 1 << 20, 100, 64 << 10, "128 times 64 KiB are just 8 MiB"},
		{"many", 10_000, 2048, 50, 512, "10,000 times 1 KiB are above 8 MiB"},
		{"very many", 200_000, 2048, 5, 256, "5 stops and 256 bytes in any case"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			item, err := cupel.NewContextItem(strings.Repeat("x", tt.bytes), 1)
			require.NoError(t, err)
			items := slices.Repeat([]*cupel.ContextItem{item}, tt.n)
			budget, err := cupel.NewContextBudget(tt.n, tt.n)
			require.NoError(t, err)
			assert.Equal(t, tt.stops, defaultSweep(items, budget).stops, tt.why)
			assert.Equal(t, tt.content, contentLimit(items), tt.why)
			// A text of metadata counts as a content does.
			long, err := cupel.NewContextItem(strings.Repeat("x", tt.bytes), 1, cupel.WithMetadata(map[string]any{"text": strings.Repeat("x", tt.bytes), "number": 1}))
			require.NoError(t, err)
			twice := slices.Concat(items, items)
			assert.Equal(t, contentLimit(twice), contentLimit(slices.Repeat([]*cupel.ContextItem{long}, tt.n)), "as for twice the contents")
		})
	}
}

func TestPrefix(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		limit      int
		want       string
		cut        int
		why        string
	}{
		{"exact", "abc", 3, "abc", 0, "it just fits"},
		{"cut", "abcd", 3, "abc", 1, "one byte is left out"},
		{"character", "aé€", 4, "aé", 3, "the euro sign has three bytes"},
		{"inside the first", "€", 2, "", 3, "there is no room for it"},
		{"not UTF-8 at all", "\x80\x80\x80", 2, "", 3, "nothing is left"},
		{"not UTF-8", strings.Repeat("\x80", 10), 8, "\uFFFD", 6, "no character begins there: up to four bytes go"},
	} {
		kept, cut := prefix(tt.text, tt.limit)
		assert.Equal(t, []any{tt.want, tt.cut}, []any{kept, cut}, "%s: %s", tt.name, tt.why)
		assert.Equal(t, tt.cut > 0, shorten(tt.text, tt.limit) == tt.want+"…", "%s: %s", tt.name, tt.why)
	}
}
