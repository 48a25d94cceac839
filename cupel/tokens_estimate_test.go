package cupel

import (
	"strings"
	"testing"
)

// TestLetterClasses has the first and the last character of each range, and those
// next to them.
func TestLetterClasses(t *testing.T) {
	tests := []struct {
		class letterClass
		runes string
	}{
		{classLower, "az"}, {classUpper, "AZ"}, {classDigit, "09"},
		{classPunct, "@[`{/:!~"}, {classLine, "\n\r"}, {classBlank, " \t"},
		{classSymbol, "\x00\x1f\x7f\u0080\u00a0€\u0530\u2028\u303f"},
		{classLatin, "éÿ\u00aa\u0100\u024f"}, {classScript, "\u0250αω\u0370\u0531กา\u0301"},
		{classAlphabet, "\u0400я\u052f"}, {classHan, "一龥\u3400\u2e80"},
		{classKana, "\u3040あア\u30ff"}, {classHangul, "가힣\u1100"}, {classScript, "\u3105"},
		{classEmoji, "😀\U0001F000\U0001F9FF"}, {classSymbol, "\uFFFD☀"},
	}
	for _, tt := range tests {
		for _, r := range tt.runes {
			if got := classOf(r); got != tt.class {
				t.Errorf("%U is of class %d, want %d", r, got, tt.class)
			}
		}
	}
}

// TestEstimateOfEachScript counts what a hundred characters are worth.
func TestEstimateOfEachScript(t *testing.T) {
	tests := []struct {
		text  string
		times int
		want  int
		why   string
	}{
		{"😀", 100, 240, "emoji are worth 2.4"},
		{"€", 100, 95, "symbols 0.95"},
		{"一", 100, 125, "Han 1.25"},
		{"あ", 100, 93, "kana 0.93"},
		{"가", 100, 113, "Hangul 1.13"},
		{"ก", 100, 110, "other scripts 1.1"},
		{"é", 100, 45, "accented letters 0.45"},
		{"я", 100, 42, "Cyrillic 0.42"},
		{"я", 2, 1, "a Cyrillic word is one token at least"},
		{"я ", 100, 101, "each of them is, and the space at the end"},
		{"7", 3, 1, "three digits are a token"},
		{"7", 4, 2, "the fourth begins another"},
		{"7", 100, 34, "and so on"},
		{"\n", 32, 1, "32 equal line ends are one"},
		{"\n", 33, 2, "one more is not"},
		{"\r\n", 4, 1, "eight mixed ones are one"},
		{"\r\n", 5, 2, "more are not"},
		{"\r", 3, 3, "carriage returns are one each"},
		{" ", 128, 1, "128 spaces are one"},
		{" ", 129, 2, "one more is not"},
		{"\t", 16, 1, "16 tabs are one"},
		{"\t", 17, 2, "one more is not"},
	}
	for _, tt := range tests {
		got, err := HeuristicCounter{}.CountTokens(strings.Repeat(tt.text, tt.times))
		if err != nil || got != tt.want {
			t.Errorf("%d times %q: %d, %v, want %d: %s", tt.times, tt.text, got, err, tt.want, tt.why)
		}
	}
}
