package input

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzLines holds that the pieces of lines are short and whole characters, stand at their
// line, and lose nothing but blank lines and white space at ends.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a\n\n  \nb c\r\n", strings.Repeat("x", 99), strings.Repeat("東京,", 30) + "\n \n" + strings.Repeat("a b ", 40), "\r\r\n\xff\x80\n"} {
		f.Add(seed, uint8(9))
	}
	f.Fuzz(func(t *testing.T, text string, length uint8) {
		most := max(int(length), utf8.UTFMax)
		lines := strings.Split(text, "\n")
		var all strings.Builder
		for number, piece := range Lines(text, most) {
			if len(piece) > most || !strings.Contains(lines[number-1], piece) || utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Fatalf("%q at line %d of %q, cut at %d", piece, number, text, most)
			}
			all.WriteString(piece)
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		require.Equal(t, squeeze(text), squeeze(all.String()))
	})
}
