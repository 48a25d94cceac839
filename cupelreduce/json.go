package cupelreduce

import (
	"iter"
	"math"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// document is JSON, taken apart in one pass. Its nodes are in the order of the text,
// each before those in it; the first is the root.
type document struct {
	text       string
	nodes      []node
	containers int // at most so many objects and arrays
}

// node is a JSON value. Strings, numbers and keys stay as they were written.
type node struct {
	key      [2]int32 // where the key begins and ends, without its quotes
	from, to int32    // likewise a scalar; a string without its quotes
	inner    int32    // the node after it
	next     int32    // the node after all that is in it
	kind     byte     // '{', '[', '"', or '0' for numbers, true, false and null
}

func (d *document) key(n *node) string { return d.text[n.key[0]:n.key[1]] }

func (d *document) raw(n *node) string { return d.text[n.from:n.to] }

// end is where a scalar ends in the document.
func (n *node) end() int {
	if n.kind == '"' {
		return int(n.to) + 1
	}
	return int(n.to)
}

// short reports whether a value belongs on the line of its object.
func (n *node) short() bool {
	return n.kind == '0' || n.kind == '"' && n.to-n.from <= maxShort
}

// kids yields the values in an object or an array.
func (d *document) kids(n *node) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for at := n.inner; at < n.next && yield(&d.nodes[at]); {
			at = d.nodes[at].next
		}
	}
}

// parseJSON reads an object or array, and returns nil for anything else.
func parseJSON(s string) *document {
	start := strings.TrimLeft(s, " \t\r\n")
	if start == "" || start[0] != '{' && start[0] != '[' || len(s) > math.MaxInt32 {
		return nil
	}
	containers := strings.Count(s, "{") + strings.Count(s, "[")
	d := &document{text: s, nodes: make([]node, 0, strings.Count(s, ",")+containers+1), containers: containers}
	var open []int // nodes
	var key [2]int32
	valid := rawjson.Walk(s, func(token byte, from, to int) {
		at := len(d.nodes)
		n := node{key: key, from: int32(from), to: int32(to), inner: int32(at) + 1, next: int32(at) + 1, kind: token}
		switch token {
		case ':':
			key = [2]int32{n.from + 1, n.to - 1}
			return
		case '}', ']':
			last := len(open) - 1
			d.nodes[open[last]].next = int32(at)
			open = open[:last]
			return
		case '{', '[':
			open = append(open, at)
		case '"':
			n.from, n.to = n.from+1, n.to-1
		}
		d.nodes, key = append(d.nodes, n), [2]int32{}
	})
	if !valid {
		return nil
	}
	return d
}

// beforeEscape returns at most n bytes of the text inside quotes, and cuts
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
