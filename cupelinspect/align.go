package cupelinspect

import (
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// align returns, for each of some contents, the edits that make its share of a text
// that was sent in their place. The shares, one after the other, make up the text.
// Parts of the contents are found in their order.
func align(contents []string, sent string) [][]any {
	full := strings.Join(contents, "")
	var stretches []stretch
	for at, misses := 0, 0; sent != ""; {
		from, size := beginning(full, at, sent)
		s := stretch{from: from, to: from + size}
		if size == 0 {
			size = len(token.FindString(sent))
			if misses++; misses > mostMisses { // it has little of the contents
				size = len(sent)
			}
			s = stretch{from: at, to: at, added: sent[:size]}
		}
		stretches = append(stretches, s)
		at, sent = s.to, sent[size:]
	}
	shares := make([][]any, len(contents))
	begin := 0
	for i, content := range contents {
		end := begin + len(content)
		e := editor{full: full, at: begin, edits: []any{}}
		for len(stretches) > 0 && (stretches[0].from < end || i == len(contents)-1) {
			s := stretches[0]
			e.write(stretch{s.from, min(s.to, end), s.added})
			if s.to > end {
				stretches[0] = stretch{from: end, to: s.to}
			} else {
				stretches = stretches[1:]
			}
		}
		shares[i], begin = e.edits, end
	}
	return shares
}

// stretch is a part of the contents that was sent, or a text that they do not have.
type stretch struct {
	from, to int
	added    string
}

// token is the smallest unit of the search. A mark stands for omitted text.
var token = regexp.MustCompile(`^(?:…(?: \+\d+(?: bytes…)?)?|\[earlier\] |[\pL\pN_]{1,200}|(?s:.))`)

// A beginning of fewer than telling bytes shows where it is from only if it is
// near, and white space only if it is next.
const (
	telling   = 4
	near      = 8
	mostTries = 64 // for a longer beginning

	mostMisses = 2000 // tokens that are not found, since each is searched in all of the contents
)

// beginning finds the longest beginning of a text in the contents from a position on.
// It returns no size if no beginning shows where it is from.
func beginning(full string, at int, text string) (from, size int) {
	first := token.FindString(text)
	if strings.HasPrefix(first, "…") || strings.HasPrefix(first, "[earlier]") {
		return at, 0
	}
	from = at
	for range mostTries {
		end := size + len(token.FindString(text[size:]))
		next := strings.Index(full[from:], text[:end])
		if next < 0 || size == len(text) {
			break
		}
		from, size = from+next, end
		for size < len(text) && from+size < len(full) && text[size] == full[from+size] {
			size++
		}
		for size < len(text) && !utf8.RuneStart(text[size]) {
			size--
		}
	}
	words := len(strings.TrimSpace(text[:size]))
	if skipped := from - at; skipped > near && words < telling || skipped > 0 && words == 0 {
		return at, 0
	}
	return from, size
}

// editor writes the edits of a content.
type editor struct {
	full  string
	at    int
	edits []any
}

func (e *editor) write(s stretch) {
	if s.from > e.at {
		e.edits = append(e.edits, -units(e.full[e.at:s.from]))
	}
	if s.to > s.from {
		e.edits = append(e.edits, units(e.full[s.from:s.to]))
	}
	e.at = s.to
	if last := len(e.edits) - 1; s.added != "" && last >= 0 {
		if text, ok := e.edits[last].(string); ok {
			e.edits[last] = text + s.added
			return
		}
	}
	if s.added != "" {
		e.edits = append(e.edits, s.added)
	}
}

// units counts UTF-16 units, as the page's script does.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
