package cupelreduce

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	// maxShort is the length in bytes of the longest value that is short.
	maxShort = 48
	// maxList is how far a value may stand behind its key in a list before the key
	// is written again.
	maxList = 38
	// maxKey is the length in bytes after which keys are cut.
	maxKey = 64
)

// pairDraft makes lines of key=value: one for each run of short values in an
// object, with the key of the object in front. Values are spelled as in the
// document; strings that need no quotes have none. A long string that is a document
// is taken apart as one, all others as texts of lines.
func pairDraft(root *node, source string, known *Known) draft {
	w := pairs{draft: newDraft(source, strings.Count(source, ",")+1), known: known, root: root}
	w.source = source
	w.add("", root)
	w.sort()
	return w.draft
}

type pairs struct {
	draft
	root  *node
	known *Known
	depth int // of documents inside strings
	shift int // from places in the document that is read to places in the source
}

// maxDepth bounds how often a document is looked for inside a string of another.
const maxDepth = 3

// add adds an object or an array that stands under a key.
func (w *pairs) add(key string, n *node) {
	if n.kind == '[' {
		w.array(key, n)
		return
	}
	prefix := ""
	named := slices.ContainsFunc(n.kids, func(kid node) bool { return kid.kind == '"' && kid.raw == key })
	if key != "" && !named {
		prefix = beforeEscape(key, maxKey) + ": "
	}
	var name part // known, and said again in front of what is new
	// An object without a string says amounts, and none of them is its name.
	record := slices.ContainsFunc(n.kids, func(kid node) bool { return kid.kind == '"' })
	begun := false
	flush := func() {
		if begun && name.values > 0 {
			w.addPart(name)
		}
		begun, name = false, part{}
	}
	for i := range n.kids {
		key, kid := n.keys[i], &n.kids[i]
		if !kid.short() {
			flush()
			w.under(key, kid)
			continue
		}
		if !begun {
			begun = true
			w.addRow(prefix)
		}
		p := part{text: assign(key, spell(kid)), rank: rankOf(key, kid), values: 1, end: kid.end + w.shift}
		if i == 0 && record || n == w.root {
			p.rank = min(p.rank, rankNames) // what tells it apart
		}
		switch names := p.rank == rankHead; {
		case w.has(key, kid):
			p.rank = rankRepeat
			if names && name.values == 0 {
				name = p
				continue
			}
		case name.values > 0:
			// What is new of a known thing is nothing without its name.
			p.text, p.values = name.text+" "+p.text, 2
			name = part{}
		}
		w.addPart(p)
	}
	flush()
}

// under adds what is no short value.
func (w *pairs) under(key string, n *node) {
	if n.kind == '"' {
		w.long(key, n)
	} else {
		w.add(key, n)
	}
}

// long adds a long string: what it holds if that is a document, and else its lines.
func (w *pairs) long(key string, n *node) {
	text := n.raw
	if strings.Contains(text, `\`) {
		_ = json.Unmarshal([]byte(`"`+n.raw+`"`), &text) // it is known to be valid
	}
	if w.depth < maxDepth {
		if root := parseJSON(text); root != nil {
			shift := w.shift
			w.shift, w.depth = n.end+shift-len(text), w.depth+1
			w.add(key, root)
			w.shift, w.depth = shift, w.depth-1
			return
		}
	}
	heading := ""
	if key != "" {
		heading = beforeEscape(key, maxKey) + ": "
	}
	if strings.Contains(strings.TrimSpace(text), "\n") {
		heading = strings.TrimSuffix(heading, " ") + "\n"
	}
	w.addRow(heading)
	w.addLines(text, kindOfLines(text), w.known, n.end+w.shift)
}

// array adds the elements of an array: objects and arrays one by one, and what
// stands between them as key=a,b,c.
func (w *pairs) array(key string, n *node) {
	var list []byte
	var values int
	rank := rankRepeat
	for i := range n.kids {
		if kid := &n.kids[i]; kid.short() && !w.has(key, kid) {
			// A list is of one sort, and single words in it are codes.
			if rank = min(rank, rankOf(key, kid)); rank == rankNames && nameOf(kid.raw) != "" {
				rank = rankHead
			}
		}
	}
	end := 0
	flush := func() {
		if values > 0 {
			w.addRow("")
			w.addPart(part{text: string(list), rank: rank, values: values, end: end + w.shift})
		}
		list, values = list[:0], 0
	}
	for i := range n.kids {
		kid := &n.kids[i]
		if !kid.short() {
			flush()
			w.under(key, kid)
			continue
		}
		if len(list) >= maxList {
			flush()
		}
		if values == 0 {
			list = append(list, assign(key, spell(kid))...)
		} else {
			list = append(append(list, ','), spell(kid)...)
		}
		values++
		end = kid.end
	}
	flush()
}

// has reports whether the reader knows a value: after its key, or anywhere if
// it is a name.
func (w *pairs) has(key string, n *node) bool {
	if w.known.names == nil {
		return false
	}
	return w.known.hasPair(key, n.raw) || n.kind == '"' && w.known.hasName(nameOf(n.raw))
}

func assign(key, value string) string {
	if key == "" {
		return value
	}
	return beforeEscape(key, maxKey) + "=" + value
}

// spell writes a short value.
func spell(n *node) string {
	if n.kind == '"' && (n.raw == "" || strings.ContainsAny(n.raw, " ,;=\"\\")) {
		return `"` + n.raw + `"`
	}
	return n.raw
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
