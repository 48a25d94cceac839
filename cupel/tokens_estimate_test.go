package cupel

import (
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
