package cupelreduce

import (
	"encoding/json"
	"strings"
)

// node is a JSON value. Strings, numbers and keys stay as they were written.
type node struct {
	raw  string // a scalar as written, a string without its quotes
	end  int    // of a scalar, where it ends in the document
	kind byte   // '{', '[', '"', or '0' for numbers, true, false and null
	keys []string
	kids []node
}

// short reports whether a value stands on the line of its object.
func (n *node) short() bool {
	return n.kind == '0' || n.kind == '"' && len(n.raw) <= maxShort
}

// parseJSON reads an object or array, and returns nil for anything else. The
// depth is bounded by json.Valid.
func parseJSON(s string) *node {
	start := strings.TrimLeft(s, " \t\r\n")
	if start == "" || start[0] != '{' && start[0] != '[' || !json.Valid([]byte(s)) {
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
		n := node{kind: '"', raw: p.quoted()}
		n.end = p.i
		return n
	}
	start := p.i
	for strings.IndexByte(" \t\r\n,]}", p.s[p.i]) < 0 {
		p.i++
	}
	return node{kind: '0', raw: p.s[start:p.i], end: p.i}
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
