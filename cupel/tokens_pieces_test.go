package cupel

import (
	"strings"
	"testing"
)

// TestPieces states what each piece is worth, in thousandths of a token. The
// error of the estimate for each script was measured with these numbers.
func TestPieces(t *testing.T) {
	of := func(text string) int {
		e := estimate{rest: text}
		for e.rest != "" {
			e.piece()
		}
		return e.milli
	}
	for _, tt := range []struct {
		char string
		want []int // by length, from 1
		why  string
	}{
		{"a", []int{1000, 1000, 1020, 1040, 1100, 1120, 1150, 1220, 1330, 1500, 1550, 1700, 1850, 2100, 2520, 2940}, "words, and 420 for each letter beyond 14"},
		{"A", []int{1020, 1200, 1230, 1330, 1450, 1550, 1800, 2100, 2350, 2550, 2900, 3300, 3700}, "capitals, and 400 for each letter beyond 11"},
		{"(", []int{1000, 1000, 1150, 1600, 2000, 2700, 3200, 3700}, "punctuation, and 500 for each character beyond 6"},
		{"7", []int{1000, 1000, 1000, 2000, 2000, 2000, 3000}, "three digits are a token"},
		{"é", []int{450, 900}, "accented letters"},
		{"я", []int{1000, 1000, 1260, 1680}, "Cyrillic words are one token at least"},
		{"一", []int{1250, 2500}, "Han"},
		{"あ", []int{930, 1860}, "kana"},
		{"가", []int{1130, 2260}, "Hangul"},
		{"ก", []int{1100, 2200}, "other scripts"},
		{"€", []int{950, 1900}, "symbols"},
		{"\x01", []int{950, 1900}, "control characters"},
		{"😀", []int{2400, 4800}, "emoji"},
		{"\r", []int{1000, 2000, 3000}, "carriage returns"},
	} {
		for i, want := range tt.want {
			if got := of(strings.Repeat(tt.char, i+1)); got != want {
				t.Errorf("%d times %q: got %d, want %d: %s", i+1, tt.char, got, want, tt.why)
			}
		}
	}
	for _, tt := range []struct {
		text string
		want int
		why  string
	}{
		{strings.Repeat("=", 31), 1000, "a line that is drawn"},
		{strings.Repeat("=", 32), 2000, "32 characters of it are more"},
		{strings.Repeat("=", 64), 3000, "and so are 64"},
		{"-+-+", 1600, "different characters draw no line"},
		{"Ab", 1000, "a capital begins a word of two letters"},
		{"ABc", 2020, "the last capital belongs to the word"},
		{"ABCdef", 1200 + 1040, "two capitals and a word of four letters"},
		{"((\n\n", 1000, "line ends go with punctuation"},
		{"(\n", 1000, "of one character too"},
		{".name", 200 + 1040, "a single one goes with the word after it"},
		{"..name", 1000 + 1040, "two do not"},
		{" (x", 2000, "nor does one behind a space, which goes with it"},
		{" x", 1000, "a space goes with the word after it"},
		{"  x", 2000, "one of two does"},
		{"   x", 2000, "one of three does, and the others are one token"},
		{" 1", 2000, "no space goes with digits"},
		{"  1", 3000, "the last one stands alone"},
		{"\t(", 2000, "a tab does not go with punctuation"},
		{"\tx", 1000, "and does with words"},
		{" ", 1000, "a space at the end is one token"},
		{"   ", 1000, "as several are"},
		{" \n", 1000, "spaces go with line ends"},
		{strings.Repeat(" ", 128) + "x", 2000, "128 spaces are at most a token"},
		{strings.Repeat("\t", 16), 1000, "so are 16 tabs"},
		{strings.Repeat("\n", 32), 1000, "32 line ends"},
		{strings.Repeat("\r\n", 4), 1000, "and 8 of two characters"},
		{strings.Repeat(" ", 129) + "x", 3000, "128 spaces are a token, and one goes with the word"},
		{strings.Repeat("\t", 17), 2000, "16 tabs are a token"},
		{strings.Repeat("\n", 33), 2000, "32 line ends are a token"},
		{strings.Repeat("\r\n", 5), 2000, "8 of two characters are"},
	} {
		if got := of(tt.text); got != tt.want {
			t.Errorf("%q: got %d, want %d: %s", tt.text, got, tt.want, tt.why)
		}
	}
}
