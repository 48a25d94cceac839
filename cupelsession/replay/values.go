package replay

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupelreduce"
)

// How long a value must be, in characters, to count as used.
const (
	leastText   = 4
	leastNumber = 3
	leastWord   = 6 // of the text of an agent without calls
)

// Where a value must stand to count as grounded, in characters.
const (
	keyReach = 40 // from the start of its key to the value
	nearby   = 12 // of the text on each side of the value
)

var (
	// An identifier has letters and digits of any script, as in Python.
	identifier = regexp.MustCompile(`[A-Za-z_][\p{L}\p{N}_./-]{5,}`)
	// Only words that look like names are identifiers.
	namelike = regexp.MustCompile(`[\p{Nd}_./]|[a-z][A-Z]`)
)

// used calls yield with the values that a step of the assistant uses: the
// arguments of its calls, or the identifiers of its text if it has none. It
// may yield a value several times.
func used(m *chatMessage, yield func(string)) {
	if m.calls {
		for _, arguments := range m.arguments {
			leaves(arguments, yield)
		}
		return
	}
	for _, word := range identifier.FindAllString(m.text, -1) {
		word = strings.Trim(word, "./-")
		if characters(word) >= leastWord && namelike.MatchString(word) {
			yield(word)
		}
	}
}

// leaves calls yield with the strings and numbers in v.
func leaves(v any, yield func(string)) {
	switch v := v.(type) {
	case object:
		for _, m := range v {
			leaves(m.value, yield)
		}
	case []any:
		for _, e := range v {
			leaves(e, yield)
		}
	case string:
		if characters(v) >= leastText {
			yield(v)
		}
	case json.Number:
		if n := number(v); len(n) >= leastNumber {
			yield(n)
		}
	}
}

// keys are the names of each value.
type keys map[string][]string

// add adds the values in v. A name that is not empty is the name of v.
func (k keys) add(name string, v any) {
	switch v := v.(type) {
	case object:
		for _, m := range v {
			k.add(m.name, m.value)
		}
	case []any:
		for _, e := range v {
			k.add(name, e)
		}
	default:
		if s := str(v); name != "" && !slices.Contains(k[s], name) {
			k[s] = append(k[s], name)
		}
	}
}

// value is a value that a step uses, with its names and surroundings.
type value struct {
	text    string
	keys    []string // the names under which it was seen
	excerpt []string // the value with the text before or after it
}

// newValue returns a value that was seen in the units.
func newValue(text string, units []unit) value {
	v := value{text: text}
	for i := range units {
		u := &units[i]
		for _, key := range u.keys[text] {
			if !slices.Contains(v.keys, key) {
				v.keys = append(v.keys, key)
			}
		}
		for at := range cupelreduce.Find(u.text, text) {
			before, after := last(u.text[:at], nearby), first(u.text[at+len(text):], nearby)
			if !blank(before) {
				v.excerpt = append(v.excerpt, before+text)
			}
			if !blank(after) {
				v.excerpt = append(v.excerpt, text+after)
			}
		}
	}
	slices.Sort(v.excerpt)
	v.excerpt = slices.Compact(v.excerpt)
	return v
}

// grounded reports whether the value stands in a window as a word, and after
// one of its names or next to the same text as before.
func (v *value) grounded(window string) bool {
	found := false
	for at := range cupelreduce.Find(window, v.text) {
		found = true
		near := last(window[:at], keyReach)
		if slices.ContainsFunc(v.keys, func(key string) bool { return strings.Contains(near, key) }) {
			return true
		}
	}
	return found && slices.ContainsFunc(v.excerpt, func(e string) bool { return strings.Contains(window, e) })
}

// first returns the first n characters of s.
func first(s string, n int) string {
	runes := []rune(s[:min(len(s), n*utf8.UTFMax)])
	return string(runes[:min(len(runes), n)])
}

// last returns the last n characters of s.
func last(s string, n int) string {
	runes := []rune(s[max(0, len(s)-n*utf8.UTFMax):])
	return string(runes[max(0, len(runes)-n):])
}

// blank reports whether s is white space, as Python's strip has it.
func blank(s string) bool {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }) == ""
}
