// Package english writes numbers as English does.
package english

import "strconv"

// Grouped returns a number with a comma before each group of three digits.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Count returns n in groups of digits with the noun, with an s unless n is 1.
func Count(n int, noun string) string { return counted(n, Grouped(n), noun) }

// Plural returns n with the noun, with an s unless n is 1.
func Plural(n int, noun string) string { return counted(n, strconv.Itoa(n), noun) }

func counted(n int, digits, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return digits + " " + noun
}
