package cupelreduce

import (
	"encoding/json"
	"strconv"
	"strings"
)

// node is a JSON value. Strings, numbers and keys stay as they were written.
type node struct {
	raw  string // a scalar as written, a string without its quotes
	kind byte   // '{', '[', '"', or '0' for numbers, true, false and null
	keys []string
	kids []node
}

func (n *node) scalar() bool { return n.kind == '"' || n.kind == '0' }

// long reports whether a value is a string that is too long for a short value.
func (n *node) long() bool { return n.kind == '"' && len(n.raw) > maxShort }

// parseJSON reads an object or array, and returns nil for anything else. The
// depth is bounded by json.Valid.
func parseJSON(s string) *node {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '{' && s[0] != '[' || !json.Valid([]byte(s)) {
		return nil
	}
	p := parser{s: s}
	n := p.value()
	return &n
}

// parser reads JSON that is known to be valid.
type parser struct {
	s string
	i int
}

func (p *parser) skip() {
	for strings.IndexByte(" \t\r\n:,", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *parser) value() node {
	p.skip()
	switch open := p.s[p.i]; open {
	case '{', '[':
		n := node{kind: open}
		p.i++
		for {
			p.skip()
			if p.s[p.i] == '}' || p.s[p.i] == ']' {
				p.i++
				return n
			}
			if open == '{' {
				n.keys = append(n.keys, p.quoted())
			}
			n.kids = append(n.kids, p.value())
		}
	case '"':
		return node{kind: '"', raw: p.quoted()}
	}
	start := p.i
	for strings.IndexByte(" \t\r\n,]}", p.s[p.i]) < 0 {
		p.i++
	}
	return node{kind: '0', raw: p.s[start:p.i]}
}

// quoted returns what stands between quotes.
func (p *parser) quoted() string {
	p.i++
	start := p.i
	for p.s[p.i] != '"' {
		if p.s[p.i] == '\\' {
			p.i++
		}
		p.i++
	}
	p.i++
	return p.s[start : p.i-1]
}

// shape is how much of a document a valid form keeps.
type shape struct {
	text  int // bytes of a string
	array int // elements of an array
}

// writer writes a document with long strings and arrays cut, and sums up what
// the values are worth that it keeps.
type writer struct {
	shape
	b     strings.Builder
	worth float64
}

func (w *writer) write(key string, n *node) {
	switch n.kind {
	case '"':
		if len(n.raw) <= w.text {
			w.worth += weights[rankOf(key, n)]
		}
		w.b.WriteString(`"` + w.short(n.raw) + `"`)
	case '0':
		w.worth += weights[rankOf(key, n)]
		w.b.WriteString(n.raw)
	case '{':
		w.b.WriteByte('{')
		for i := range n.kids {
			w.comma(i)
			w.b.WriteString(`"` + n.keys[i] + `":`)
			w.write(n.keys[i], &n.kids[i])
		}
		w.b.WriteByte('}')
	default:
		w.b.WriteByte('[')
		for i := range n.kids {
			w.comma(i)
			if i == w.array {
				w.b.WriteString(`"` + ellipsis + " " + strconv.Itoa(len(n.kids)-i) + ` more elements"`)
				break
			}
			w.write(key, &n.kids[i])
		}
		w.b.WriteByte(']')
	}
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.b.WriteByte(',')
	}
}

// short cuts a string and says how many bytes are missing.
func (w *writer) short(raw string) string {
	head := beforeEscape(raw, w.text)
	if short := head + ellipsis + " " + strconv.Itoa(len(raw)-len(head)) + " bytes more"; len(short) < len(raw) {
		return short
	}
	return raw
}

// beforeEscape returns at most n bytes of what is written inside quotes, and cuts
// neither a character nor an escape.
func beforeEscape(raw string, n int) string {
	if len(raw) <= n {
		return raw
	}
	for n > 0 && (raw[n]&0xC0 == 0x80 || strings.IndexByte(raw[max(0, n-6):n+1], '\\') >= 0) {
		n-- // an escape has six bytes, and two of them may be one character
	}
	return raw[:n]
}
