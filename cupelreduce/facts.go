package cupelreduce

import (
	"iter"
	"strings"
)

const (
	// minQuoted and maxFact bound the lengths in bytes of quoted texts and lines that
	// are facts.
	minQuoted = 4
	maxFact   = 200
)

// Facts yields the values in a text that name something, roughly in order and in linear
// time: paths, identifiers, codes, URLs, quoted texts, lines that mention an error, and
// numbers after a key, as in status=404. It may yield a value several times.
func Facts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if !factsOf(line, yield) {
				return
			}
		}
	}
}

// factsOf yields the facts in a line.
func factsOf(line string, yield func(string) bool) bool {
	failure := false
	for i := 0; ; {
		start, end := nextWord(line, i)
		if start == end {
			break
		}
		word := line[start:end]
		if strings.HasPrefix(line[end:], "://") {
			end = start + urlEnd(line[start:])
			word = line[start:end]
		}
		i = end
		hash, name := inspect(word)
		failure = failure || isFailure(word, hash)
		if (name || strings.Contains(word, "://")) && !yield(word) {
			return false
		}
		value, ok := valueAfter(line, end)
		if ok && strings.Trim(value, "0123456789.-") == "" && !yield(value) {
			return false
		}
	}
	for quoted := range strings.SplitSeq(line, `"`) { // also the text between two quotations
		if len(quoted) >= minQuoted && len(quoted) <= maxFact && len(quoted) < len(line) && !yield(quoted) {
			return false
		}
	}
	return !failure || len(line) > maxFact || yield(line)
}

// urlEnd returns where the URL at the beginning of a text ends.
func urlEnd(s string) int {
	end := strings.IndexAny(s, " \t\"'`<>()[]{}|\\^")
	if end < 0 {
		end = len(s)
	}
	return len(strings.TrimRight(s[:end], ".,;:!?"))
}

// Find yields the byte offsets at which a value occurs in a text as a word, with
// no ASCII letter, digit or underscore next to it. Matches do not overlap.
func Find(text, value string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; value != ""; {
			at := strings.Index(text[from:], value)
			if at < 0 {
				return
			}
			at += from
			end := at + len(value)
			if at > 0 && wordByte(text[at-1]) || end < len(text) && wordByte(text[end]) {
				from = at + 1
				continue
			}
			if !yield(at) {
				return
			}
			from = end
		}
	}
}

// wordByte reports whether a byte is a letter, a digit or an underscore of ASCII.
func wordByte(b byte) bool {
	return b < 0x80 && (classes[b] == lower || classes[b] == upper || classes[b] == digit || classes[b] == under)
}
