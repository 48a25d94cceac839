package cupelchat

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// keptCharacters is how many characters of a user message always stay.
const keptCharacters = 300

// words shortens the words of an entry to some tokens.
func (s *squeeze) words(e *entry, said string, tokens, most int) string {
	for size := most; size > 0; {
		text := s.wordsOf(e, said, tokens, size)
		over := s.counting.count(text) - most
		if over <= 0 {
			return text
		}
		size -= over
	}
	return leftOut
}

// wordsOf shortens the words of an entry to about as many tokens. A user message
// keeps its beginning.
func (s *squeeze) wordsOf(e *entry, said string, tokens, size int) string {
	reduce := func(text string, size int) string {
		return cupelreduce.To(text, size, cupelreduce.WithCounter(s.counting.count))
	}
	if e.returns() {
		return cmp.Or(reduce(said, size), leftOut)
	}
	mark := "\n" + shortened(tokens)
	if n := s.counting.count(mark); n < size/2 {
		size -= n
	} else {
		mark = ""
	}
	head := firstCharacters(said, keptCharacters)
	begins := s.counting.count(head)
	switch {
	case size <= begins:
		return firstCharacters(head, utf8.RuneCountInString(head)*(size-1)/max(begins, 1)) + leftOut + mark
	case !e.asks:
		return cmp.Or(reduce(said, size), leftOut) + mark
	}
	cut := leftOut
	if end := strings.IndexByte(said[len(head):], '\n'); 0 <= end && end <= keptCharacters { // lines are whole
		if line := said[:len(head)+end]; s.counting.count(line) < size {
			head, cut = line, ""
		}
	}
	if out := reduce(said[len(head):], size-s.counting.count(head)); out != "" {
		head += cut + "\n" + strings.TrimPrefix(out, "\n")
	}
	return head + mark
}

// firstCharacters returns the first characters of a text.
func firstCharacters(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i]
		}
	}
	return text
}

// arguments shortens the arguments of a call to some tokens, or as far as
// possible.
func (s *squeeze) arguments(p *part, size int) string {
	small := shortArguments(p.arguments, 0)
	low, high := 0, len(p.arguments)
	for high-low > low/32 {
		most := (low + high + 1) / 2
		if text := shortArguments(p.arguments, most); s.counting.count(text) <= size {
			small, low = text, most
		} else {
			high = most - 1
		}
	}
	if !strings.Contains(small, markEnds) || s.counting.count(small) >= p.tokens {
		return p.arguments // marks are longer than the text that they replace
	}
	return small
}

// The marks in place of omitted parts of arguments.
const (
	markBegins = "…["
	markEnds   = " left out]"
)

// deepestArguments is how deep values are shortened.
const deepestArguments = 16

// shortArguments returns arguments whose strings have at most so many bytes, not
// counting marks. JSON stays JSON, and objects keep their keys.
func shortArguments(arguments string, most int) string {
	v, err := rawjson.Text(arguments).Value()
	if err != nil {
		return shortString(arguments, most)
	}
	return string(shortValue(v, most, 0))
}

func shortValue(v rawjson.Value, most, depth int) []byte {
	switch {
	case len(v.Raw()) <= most || depth > deepestArguments:
		return v.Raw()
	case v.IsString():
		return quoted(shortString(v.String(), most))
	case v.IsObject():
		var members [][]byte
		for _, m := range v.Members() {
			members = append(members, slices.Concat(quoted(m.Name), []byte(":"), shortValue(m.Value, most, depth+1)))
		}
		return enclose('{', members, '}')
	case v.IsArray():
		var elements [][]byte
		size, list := 0, v.Elements()
		for i, part := range list {
			if size >= most {
				mark := markBegins + english.Count(len(list)-i, "element") + markEnds
				elements = append(elements, quoted(mark))
				break
			}
			text := shortValue(part.Value, most-size, depth+1)
			elements, size = append(elements, text), size+len(text)
		}
		return enclose('[', elements, ']')
	}
	return v.Raw()
}

func shortString(s string, most int) string {
	cut := min(most, len(s))
	for cut > 0 && cut < len(s) && !utf8.RuneStart(s[cut]) {
		cut--
	}
	short := s[:cut] + markBegins + english.Count(utf8.RuneCountInString(s[cut:]), "character") + markEnds
	if len(short) >= len(s) {
		return s
	}
	return short
}
