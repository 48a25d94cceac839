package cupelreduce

import (
	"strconv"
	"strings"
)

// maxWhat is the length in bytes after which what a stub names is cut.
const maxWhat = 120

// Stub returns the note that stands in for a text that is left out, such as
// [2,413 tokens of edit(cupel/item.go) left out]. It is one line of valid UTF-8.
func Stub(what string, tokens int) string {
	what = strings.ToValidUTF8(what, "?")
	if len(what) > maxWhat {
		what = cut(what, maxWhat)
	}
	what = strings.Join(strings.Fields(what), " ")
	unit := " tokens"
	if tokens == 1 {
		unit = " token"
	}
	if what != "" {
		unit += " of "
	}
	return "[" + thousands(tokens) + unit + what + " left out]"
}

// thousands writes a number with commas; one below 0 is 0.
func thousands(n int) string {
	s := strconv.Itoa(max(0, n))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
