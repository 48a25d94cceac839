package cupelreduce

import (
	"encoding/json"
	"strings"
)

const (
	// maxShort is the length in bytes of the longest value that is short.
	maxShort = 48
	// maxList is how far a value may stand behind its key in a list before the key
	// is written again.
	maxList = 40
	// maxKey is the length in bytes after which keys are cut.
	maxKey = 64
)

// pairDraft makes lines of key=value: one for each object, with the key of the
// object in front. Values are spelled as in the document; strings that need no
// quotes have none. A long string that is a document or a text of lines itself, as
// the output of a command, is taken apart too.
func pairDraft(root *node, known *Known, width int) *draft {
	w := pairs{draft: &draft{}, known: known, width: width}
	w.add("", root)
	return w.draft
}

type pairs struct {
	*draft
	known *Known
	width int
	depth int // of documents inside strings
}

// maxDepth bounds how often a document is looked for inside a string of another.
const maxDepth = 3

// add adds an object or an array that stands under a key.
func (w *pairs) add(key string, n *node) {
	if n.kind == '[' {
		w.array(key, n)
		return
	}
	prefix, begun := "", false
	if key != "" && !hasValue(n, key) {
		prefix = beforeEscape(key, maxKey) + ": "
	}
	for i := range n.kids {
		kid := &n.kids[i]
		if !kid.scalar() || kid.long() {
			continue
		}
		rank := rankOf(n.keys[i], kid)
		if i == 0 && isRecord(n) {
			rank = min(rank, rankNames) // what tells it apart
		}
		if w.has(n.keys[i], kid) {
			if !begun && rank == rankHead {
				// What is new of a known thing is nothing without its name.
				begun = true
				w.addRow(prefix + assign(n.keys[i], w.value(kid)) + " ")
			}
			continue
		}
		if !begun {
			begun = true
			w.addRow(prefix)
		}
		w.addPart(assign(n.keys[i], w.value(kid)), rank, 1)
	}
	for i := range n.kids {
		if kid := &n.kids[i]; !kid.scalar() {
			w.add(n.keys[i], kid)
		} else if kid.long() {
			w.long(n.keys[i], kid)
		}
	}
}

// long adds a long string: what it holds if that is a document, its lines if it
// has several, and else as a value.
func (w *pairs) long(key string, n *node) {
	var text string
	if json.Unmarshal([]byte(`"`+n.raw+`"`), &text) == nil {
		if w.depth < maxDepth {
			if root := parseJSON(text); root != nil {
				w.depth++
				w.add(key, root)
				w.depth--
				return
			}
		}
		if strings.Contains(strings.TrimSpace(text), "\n") {
			w.addRow("")
			head := len(w.parts)
			w.addPart(beforeEscape(key, maxKey)+":", rankRepeat, 0)
			w.parts[head].rank = w.addLines(text, kindOfLines(text), w.known, w.width)
			return
		}
	}
	w.addRow("")
	w.addPart(assign(key, w.value(n)), rankRest, 1)
}

// isRecord reports whether an object says more than amounts.
func isRecord(n *node) bool {
	for i := range n.kids {
		if n.kids[i].kind == '"' {
			return true
		}
	}
	return false
}

// array adds the elements of an array: objects and arrays one by one, and what
// stands between them as key=a,b,c.
func (w *pairs) array(key string, n *node) {
	var list []byte
	var values int
	rank := rankRepeat
	for i := range n.kids {
		if kid := &n.kids[i]; kid.scalar() {
			rank = min(rank, listRank(rankOf(key, kid), kid)) // a list is of one sort
		}
	}
	flush := func() {
		if values > 0 {
			w.addRow("")
			w.addPart(string(list), rank, values)
		}
		list, values = list[:0], 0
	}
	for i := range n.kids {
		kid := &n.kids[i]
		switch {
		case !kid.scalar():
			flush()
			w.add(key, kid)
			continue
		case kid.long():
			flush()
			w.long(key, kid)
			continue
		case w.has(key, kid):
			continue
		case len(list) > maxList:
			flush()
		}
		if values == 0 {
			list = append(list, assign(key, w.value(kid))...)
		} else {
			list = append(append(list, ','), w.value(kid)...)
		}
		values++
	}
	flush()
}

// listRank is the rank of a value in a list, where a single word is a code.
func listRank(rank uint8, n *node) uint8 {
	if rank == rankNames && nameOf(n.raw) != "" {
		return rankHead
	}
	return rank
}

// hasValue reports whether an object has a member whose value is its own key.
func hasValue(n *node, key string) bool {
	for i := range n.kids {
		if n.kids[i].kind == '"' && n.kids[i].raw == key {
			return true
		}
	}
	return false
}

// has reports whether the reader knows a value: after its key, or anywhere if
// it is a name.
func (w *pairs) has(key string, n *node) bool {
	if w.known.hasPair(key, n.raw) {
		return true
	}
	name := nameOf(n.raw)
	return n.kind == '"' && name != "" && w.known.hasName(name)
}

func assign(key, value string) string {
	if key == "" {
		return value
	}
	return beforeEscape(key, maxKey) + "=" + value
}

// value spells a value, cut if it is long.
func (w *pairs) value(n *node) string {
	v := n.raw
	if len(v) > maxShort && len(v) > w.width {
		v = beforeEscape(v, w.width) + ellipsis
	}
	if n.kind == '"' && (v == "" || strings.ContainsAny(v, " ,;=\"\\")) {
		return `"` + v + `"`
	}
	return v
}

// askedBy are ends of the keys of what a reader asks by.
var askedBy = []string{"id", "ids", "number", "path", "file", "url", "ID", "Id"}

// rankOf says how much a reader needs a value to ask for more.
func rankOf(key string, n *node) uint8 {
	v := n.raw
	switch {
	case v == "" || len(v) > maxShort || n.kind == '0' && (v == "null" || v == "true" || v == "false"):
		return rankRest
	case isID(v):
		return rankHead
	}
	for _, end := range askedBy {
		if strings.HasSuffix(key, end) {
			return rankHead
		}
	}
	if n.kind == '0' || strings.Trim(v, "0123456789:.") == "" {
		return rankDetail // amounts and times of day
	}
	return rankNames
}

// nameOf returns the word that a value is if that is a name, and "" for all
// others. A sign on either side does not count: #W2378156 is W2378156.
func nameOf(v string) string {
	start, end := nextWord(v, 0)
	if start > 1 || end < len(v)-1 || !isName(v[start:end]) {
		return ""
	}
	return v[start:end]
}

// isID reports whether a value is a path, or a name of letters and digits, or a
// long number.
func isID(v string) bool {
	if nameOf(v) == "" {
		return false
	}
	var letters, digits, others int
	for i := range len(v) {
		switch classes[v[i]] {
		case digit:
			digits++
		case upper, lower:
			letters++
		default:
			others++
			if v[i] == '@' {
				return false
			}
		}
	}
	return letters > 0 && digits > 0 || digits >= 5 && others == 0 || letters > 0 && strings.IndexByte(v, '/') >= 0
}
