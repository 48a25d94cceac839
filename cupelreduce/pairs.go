package cupelreduce

import (
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

const (
	// maxShort is the length in bytes of the longest value that is short.
	maxShort = 48
	// maxList is how far a value may stand after its key in a list before the key
	// is written again.
	maxList = 38
	// maxKey is the length in bytes after which keys are cut.
	maxKey = 64
)

// pairDraft makes lines of key=value: one for each run of short values in an
// object, after the key of the object. Values are spelled as in the document;
// strings that need no quotes have none. A long string that is a document is taken
// apart as one, all others as texts of lines.
func pairDraft(d *document, known *Known) draft {
	w := pairs{draft: newDraft(d.text, strings.Count(d.text, ",")+1), document: d, known: known, root: d}
	w.source, w.rows = d.text, make([]string, 0, d.containers)
	w.spelled.Grow(len(d.text))
	w.add("", &d.nodes[0])
	w.sort()
	return w.draft
}

type pairs struct {
	draft
	*document           // that is read
	root      *document // the outermost
	known     *Known
	depth     int             // of documents inside strings
	shift     int             // from places in the document that is read to places in the source
	spelled   strings.Builder // the texts of all parts
}

// maxDepth bounds the nesting of documents inside strings of documents.
const maxDepth = 3

// add adds an object or an array under a key.
func (w *pairs) add(key string, n *node) {
	if n.kind == '[' {
		w.array(key, n)
		return
	}
	prefix := ""
	var name part // known, and repeated in front of new values
	// An object without a string has only amounts, and none is its name.
	record, named := false, false
	for kid := range w.kids(n) {
		record = record || kid.kind == '"'
		named = named || kid.kind == '"' && w.raw(kid) == key
	}
	if key != "" && !named {
		prefix = beforeEscape(key, maxKey) + ": "
	}
	begun := false
	flush := func() {
		if begun && name.values > 0 {
			w.addPart(name)
		}
		begun, name = false, part{}
	}
	first := true
	for kid := range w.kids(n) {
		key := w.key(kid)
		if !kid.short() {
			flush()
			w.under(key, kid)
			first = false
			continue
		}
		if !begun {
			begun = true
			w.addRow(prefix)
		}
		rank, _, known := w.look(key, kid)
		p := part{rank: rank, values: 1, end: int32(kid.end() + w.shift)}
		if first && record || w.document == w.root && n == &w.nodes[0] {
			p.rank = min(p.rank, rankNames) // identifies it
		}
		first = false
		switch names := p.rank == rankHead; {
		case known:
			p.text, p.rank = w.assign("", key, kid), rankRepeat
			if names && name.values == 0 {
				name = p
				continue
			}
		case name.values > 0:
			// A new fact about a known thing is useless without its name.
			p.text, p.values = w.assign(name.text+" ", key, kid), 2
			name = part{}
		default:
			p.text = w.assign("", key, kid)
		}
		w.addPart(p)
	}
	flush()
}

// under adds a value that is not short.
func (w *pairs) under(key string, n *node) {
	if n.kind == '"' {
		w.long(key, n)
	} else {
		w.add(key, n)
	}
}

// long adds a long string: the document in it if there is one, and otherwise
// its lines.
func (w *pairs) long(key string, n *node) {
	text := w.raw(n)
	if strings.Contains(text, `\`) {
		text = rawjson.Unquote([]byte(text))
	}
	if w.depth < maxDepth {
		if inner := parseJSON(text); inner != nil {
			outer, shift := w.document, w.shift
			w.document, w.shift, w.depth = inner, n.end()+shift-len(text), w.depth+1
			w.add(key, &inner.nodes[0])
			w.document, w.shift, w.depth = outer, shift, w.depth-1
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
	w.addLines(text, kindOfLines(text), w.known, n.end()+w.shift)
}

// array adds the elements of an array: objects and arrays one by one, and the
// values between them as key=a,b,c.
func (w *pairs) array(key string, n *node) {
	var values int32
	rank := rankRepeat
	for kid := range w.kids(n) {
		if !kid.short() {
			continue
		}
		if is, name, known := w.look(key, kid); !known {
			// A list is of one sort, and single words in it are codes.
			if rank = min(rank, is); rank == rankNames && name != "" {
				rank = rankHead
			}
		}
	}
	var begin, end int
	flush := func() {
		if values > 0 {
			w.addRow("")
			w.addPart(part{text: w.spelled.String()[begin:], rank: rank, values: values, end: int32(end + w.shift)})
		}
		values = 0
	}
	for kid := range w.kids(n) {
		if !kid.short() {
			flush()
			w.under(key, kid)
			continue
		}
		if values > 0 && w.spelled.Len()-begin >= maxList {
			flush()
		}
		if values == 0 {
			begin = w.spelled.Len()
			w.assign("", key, kid)
		} else {
			w.spelled.WriteByte(',')
			w.spell(kid)
		}
		values++
		end = kid.end()
	}
	flush()
}

// look returns the rank of a short value, its name or "", and whether the reader knows
// the value, after its key or, if it is a name, anywhere.
func (w *pairs) look(key string, n *node) (rank uint8, name string, known bool) {
	v := w.raw(n)
	name = nameOf(v)
	known = w.known.hasPair(key, v) || n.kind == '"' && name != "" && w.known.hasName(name)
	return rankOf(key, v, name, n.kind == '"'), name, known
}

// assign writes a short value after its key, and returns the text.
func (w *pairs) assign(before, key string, n *node) string {
	from := w.spelled.Len()
	w.spelled.WriteString(before)
	if key != "" {
		w.spelled.WriteString(beforeEscape(key, maxKey))
		w.spelled.WriteByte('=')
	}
	w.spell(n)
	return w.spelled.String()[from:]
}

// spell writes a short value.
func (w *pairs) spell(n *node) {
	raw := w.raw(n)
	quote := ""
	if raw == "" || strings.ContainsAny(raw, " ,;=\"\\") {
		quote = `"`
	}
	w.spelled.WriteString(quote)
	w.spelled.WriteString(raw)
	w.spelled.WriteString(quote)
}

// askedBy are the ends of keys whose values a reader asks by.
var askedBy = []string{"id", "ids", "number", "path", "file", "url", "ID", "Id"}

// rankOf returns how much a reader needs a value to ask for more.
func rankOf(key, v, name string, text bool) uint8 {
	switch {
	case v == "" || len(v) > maxShort || !text && (v == "null" || v == "true" || v == "false"):
		return rankRest
	case name != "" && isID(v):
		return rankHead
	}
	for _, end := range askedBy {
		if strings.HasSuffix(key, end) {
			return rankHead
		}
	}
	if !text || strings.Trim(v, "0123456789:.") == "" {
		return rankDetail // amounts and times of day
	}
	return rankNames
}

// nameOf returns the value's word if it is a name, and "" otherwise. A sign on
// either side does not count: #W2378156 is W2378156.
func nameOf(v string) string {
	start, end := nextWord(v, 0)
	if start > 1 || end < len(v)-1 || !isName(v[start:end]) {
		return ""
	}
	return v[start:end]
}

// isID reports whether a name is a path, has letters and digits, or is a long number.
func isID(v string) bool {
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
