package cupelinspect

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// joined applies the edits of the shares of a text.
func joined(t *testing.T, contents []string, shares [][]any) string {
	t.Helper()
	var text strings.Builder
	for i, edits := range shares {
		rest := contents[i]
		for _, edit := range edits {
			switch edit := edit.(type) {
			case string:
				text.WriteString(edit)
			case int:
				n := max(edit, -edit)
				if n > len(rest) {
					t.Fatalf("content %d: an edit of %d units, and %d are left", i, edit, len(rest))
				}
				if edit > 0 {
					text.WriteString(rest[:n])
				}
				rest = rest[n:]
			}
		}
	}
	return text.String()
}

// TestAlign checks that the shares of any text are the text.
func TestAlign(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	pieces := []string{"path", "/src/a.go", " ", "\n", "… +12", "…", "[earlier] ", "error", ": ", "}", "=", "word", "1234567", " bytes…"}
	random := func(n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return strings.Map(func(c rune) rune { // units are bytes in ASCII
			if c == '…' {
				return '~'
			}
			return c
		}, b.String())
	}
	for range 500 {
		contents := []string{random(60), random(60), random(3)}[:1+r.IntN(3)]
		for _, sent := range []string{random(60), strings.Join(contents, ""), "", contents[0][len(contents[0])/2:] + random(5)} {
			require.Equal(t, sent, joined(t, contents, align(contents, sent)), contents)
		}
	}
	for sent, want := range map[string]string{"one two": "[[4] [3]]", "~~ two": "[[~~ -3 1] [3]]", "one ~two": "[[4] [~ 3]]"} {
		assert.Equal(t, want, fmt.Sprint(align([]string{"one ", "two"}, sent)), sent)
	}
	// A text that has little of the contents takes no long search.
	for misses, want := range map[int]string{mostMisses: " 5]]", mostMisses + 1: "found]]"} {
		assert.Contains(t, fmt.Sprint(align([]string{"found"}, strings.Repeat("~", misses)+"found")), want, misses)
	}
}

// A text is looked for where it says enough to be found.
func TestBeginning(t *testing.T) {
	full := "x 12345\n789 a note; the path is /src/a.go\n… +3 bytes…"
	for _, tt := range []struct {
		text       string
		from, size int
		why        string
	}{
		{" 123", 1, 4, "it is next"},
		{" 129", 1, 3, "a part of a word"},
		{"the path", 20, 8, "four bytes say where they are from"},
		{"a no", 12, 4, "far away, with four bytes"},
		{"a n~", 1, 0, "three bytes may be from anywhere"},
		{"89~", 9, 2, "two bytes near by"},
		{"\n~", 1, 0, "white space only if it is next"},
		{" ~", 1, 1, "one byte that is next"},
		{"… +3 bytes…", 1, 0, "a mark is nothing of the contents"},
		{"~", 1, 0, "nor is another text"},
	} {
		from, size := beginning(full, 1, tt.text)
		assert.Equal(t, []int{tt.from, tt.size}, []int{from, size}, "%q: %s", tt.text, tt.why)
	}
}
