package cupelreduce

import "strings"

// minName is the length below which a word names nothing.
const minName = 3

// class says what an ASCII byte is inside a word.
type class uint8

const (
	space  class = iota // ends a word
	lower               // small letters, and every byte that is not ASCII
	upper               // capitals
	digit               // 0 to 9
	under               // underscore: a word that has one inside is an identifier
	joiner              // . / - @, which join the parts of paths, addresses and dates
)

var classes = func() (c [256]class) {
	for b := range c {
		switch {
		case 'a' <= b && b <= 'z' || b >= 0x80:
			c[b] = lower
		case 'A' <= b && b <= 'Z':
			c[b] = upper
		case '0' <= b && b <= '9':
			c[b] = digit
		case b == '_':
			c[b] = under
		case b == '.' || b == '/' || b == '-' || b == '@':
			c[b] = joiner
		}
	}
	return c
}()

// nextWord returns the next word at or after i: letters, digits and underscores,
// joined by points, slashes, hyphens and at signs. It is empty at the end of the
// text.
func nextWord(s string, i int) (start, end int) {
	for i < len(s) {
		for i < len(s) && classes[s[i]] == space {
			i++
		}
		start = i
		for i < len(s) && classes[s[i]] != space {
			i++
		}
		end = i
		for start < end && classes[s[start]] == joiner && s[start] != '/' {
			start++
		}
		for end > start && classes[s[end-1]] == joiner {
			end--
		}
		if start < end {
			return start, end
		}
	}
	return len(s), len(s)
}

// isName reports whether a word is an identifier, a path, an address, a code, a
// date or a number of three digits: what a reader would ask for again by writing
// it as it stands.
func isName(word string) bool {
	if len(word) < minName {
		return false
	}
	var digits, capitals, small, signs, inner int
	for i := range len(word) {
		switch classes[word[i]] {
		case digit:
			digits++
		case upper:
			capitals++
			if i > 0 && classes[word[i-1]] == lower {
				inner++
			}
		case lower:
			small++
		case under:
			inner++
		case space:
			return false
		case joiner:
			if word[i] == '-' {
				signs++ // well-known is a word, 2024-05-20 and a-1 are names
			} else {
				inner++
			}
		}
	}
	switch {
	case digits == len(word):
		return true
	case digits > 0 && (small+capitals+signs+inner > 0):
		return true
	case inner > 0:
		return true
	}
	return capitals == len(word) && len(word) <= 8 // JFK, EUR
}

// pair is a value with the key that it stood after, or "" for a value that is
// known by itself and a line that is known whole.
type pair struct{ key, value string }

// minLine is the length from which a line that is known whole is not repeated.
// Shorter ones, as brackets, belong to what stands around them.
const minLine = 8

// Known is what a reader has already seen, so that outlines need not repeat it:
// the names, the values after their keys, and the lines of the texts that were
// added. The zero value knows nothing. It refers to the texts and copies none.
// One goroutine at a time may use it.
type Known struct {
	names map[string]struct{}
	pairs map[pair]struct{}
	lines map[string]struct{}
}

// Add adds a text, in time linear in its length: JSON, an outline, a message, or
// anything else.
func (k *Known) Add(text string) {
	if k.names == nil {
		k.names, k.pairs, k.lines = map[string]struct{}{}, map[pair]struct{}{}, map[string]struct{}{}
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= minLine {
			k.lines[line] = struct{}{}
		}
	}
	for i := 0; ; {
		start, end := nextWord(text, i)
		if start == end {
			return
		}
		if isName(text[start:end]) {
			k.names[text[start:end]] = struct{}{}
		}
		if value, ok := valueAfter(text, end); ok {
			k.pairs[pair{text[start:end], value}] = struct{}{}
		}
		i = end
	}
}

// valueAfter returns the value of a key that ends at i: key=value, key: value,
// "key": "value". Values longer than maxShort are none.
func valueAfter(s string, i int) (string, bool) {
	if i < len(s) && s[i] == '"' {
		i++
	}
	for i < len(s) && s[i] == ' ' {
		i++
	}
	if i == len(s) || s[i] != ':' && s[i] != '=' {
		return "", false
	}
	i++
	for i < len(s) && s[i] == ' ' {
		i++
	}
	if i == len(s) {
		return "", false
	}
	rest := s[i:min(len(s), i+maxShort+2)]
	stop := " ,;)]}\n\t"
	if rest[0] == '"' {
		rest, stop = rest[1:], "\""
	}
	end := strings.IndexAny(rest, stop)
	if end < 0 {
		if i+len(rest) < len(s) {
			return "", false
		}
		end = len(rest)
	}
	return rest[:end], end > 0
}

// hasName reports whether a name is known, under any key.
func (k *Known) hasName(name string) bool {
	if k == nil {
		return false
	}
	_, ok := k.names[name]
	return ok
}

// hasPair reports whether a value is known after this key.
func (k *Known) hasPair(key, value string) bool {
	if k == nil {
		return false
	}
	_, ok := k.pairs[pair{key, value}]
	return ok
}

// hasLine reports whether a line is known whole.
func (k *Known) hasLine(line string) bool {
	if k == nil {
		return false
	}
	_, ok := k.lines[line]
	return ok
}
