package cupelreduce

import "strings"

// minName is the length below which a word names nothing.
const minName = 3

// class is the role of an ASCII byte inside a word.
type class uint8

const (
	space  class = iota // ends a word
	lower               // small letters, and every byte that is not ASCII
	upper               // capitals
	digit               // 0 to 9
	under               // underscore: a word that has one inside is an identifier
	joiner              // . / - @, which join the parts of paths, addresses and dates

	numClasses
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

// inspect returns a hash of a word, the same for small letters and capitals, and
// whether it is a name: an identifier, a path, an address, a code, a date or a
// number of three digits, which a reader would repeat verbatim to ask for it
// again.
func inspect(word string) (hash uint32, name bool) {
	hash = hashStart
	var seen [numClasses]int
	inner := 0
	for i := range len(word) {
		b := word[i]
		hash = hashed(hash, b|0x20)
		c := classes[b]
		seen[c]++
		switch {
		case b == '-':
			// well-known is a word, 2024-05-20 and a-1 are names
		case c == under || c == joiner || c == upper && i > 0 && classes[word[i-1]] == lower:
			inner++
		}
	}
	switch {
	case len(word) < minName || seen[space] > 0:
		return hash, false
	case seen[digit] > 0 || inner > 0:
		return hash, true
	}
	return hash, seen[upper] == len(word) && len(word) <= 8 // JFK, EUR
}

// isName reports whether a word is a name.
func isName(word string) bool {
	_, name := inspect(word)
	return name
}

// hashStart and hashed make up the hash FNV-1a.
const hashStart uint32 = 2166136261

func hashed(hash uint32, b byte) uint32 { return (hash ^ uint32(b)) * 16777619 }

// seen remembers hashes in a fixed space, so that it costs little for large
// texts. It forgets some hashes, and mistakes a few for others.
type seen []uint32

// The lowest bits of a slot are the count, the others belong to the hash.
const (
	countBits = 2
	maxSeen   = 1<<countBits - 1
	maxSlots  = 1 << 17
)

// newSeen makes room for a text of so many bytes.
func newSeen(size int) seen {
	slots := 16
	for slots < size/8 && slots < maxSlots {
		slots *= 2
	}
	return make(seen, slots)
}

// add returns how often a hash was added before, at most maxSeen.
func (s seen) add(hash uint32) int {
	slot := &s[(hash^hash>>15)&uint32(len(s)-1)]
	if *slot>>countBits != hash>>countBits || *slot == 0 {
		*slot = hash>>countBits<<countBits | 1
		return 0
	}
	n := *slot & maxSeen
	if n < maxSeen {
		*slot++
	}
	return int(n)
}

// pair is a value with the key before it. The key is "" for a value that is
// known by itself, and for a line that is known whole.
type pair struct{ key, value string }

// minLine is the length from which a line that is known whole is not repeated.
// Shorter ones, such as brackets, belong to the lines around them.
const minLine = 8

// Known records what a reader has already seen, so that outlines need not
// repeat it: the names, the values after their keys, and the lines of the added
// texts. The zero Known is empty. It refers to the texts without copying them.
// Only one goroutine may use it at a time.
type Known struct {
	names map[string]struct{}
	pairs map[pair]struct{}
	lines map[string]struct{}

	asked []answer // since a text is read
}

// answer is a question of a text to a Known, and its answer.
type answer struct {
	pair        // a value after its key, or a name or line in place of the value
	of   asking // kind of the value
	yes  bool
}

// asking is the kind of a question of a text.
type asking uint8

const (
	askName asking = iota
	askPair
	askLine
)

// ask returns whether something is known, and remembers the answer.
func (k *Known) ask(of asking, p pair) bool {
	yes := k.has(of, p)
	k.asked = append(k.asked, answer{p, of, yes})
	return yes
}

func (k *Known) has(of asking, p pair) (yes bool) {
	switch of {
	case askName:
		_, yes = k.names[p.value]
	case askPair:
		_, yes = k.pairs[p]
	case askLine:
		_, yes = k.lines[p.value]
	}
	return yes
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
// "key": "value". Values longer than maxShort do not count.
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
func (k *Known) hasName(name string) bool { return k.ask(askName, pair{value: name}) }

// hasPair reports whether a value is known after this key.
func (k *Known) hasPair(key, value string) bool { return k.ask(askPair, pair{key, value}) }

// hasLine reports whether a line is known whole.
func (k *Known) hasLine(line string) bool { return k.ask(askLine, pair{value: line}) }
