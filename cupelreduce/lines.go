package cupelreduce

import (
	"slices"
	"strings"
)

// line is a line of a text, or a piece of a long one, with the facts that its
// rank depends on.
type line struct {
	text    string // with the line end, and blank lines after it
	body    string // without a number in front, and trimmed
	indent  int    // of the body, in columns where a tab is 4
	named   int    // names that were neither known nor in a line before
	known   int    // names that the reader knows
	first   bool   // piece of its line
	after   bool   // after a blank line, or the first
	plain   bool   // says something
	failure bool   // mentions an error
}

const (
	// maxPiece is the length in bytes from which lines are cut into pieces.
	maxPiece = 96
	// maxBlank is how many bytes of blank lines are part of the line before.
	maxBlank = 8
)

// analyse takes a text apart into lines that together make up the text, and looks
// at each once.
func (d *draft) analyse(text string, kind Kind, known *Known) []line {
	lines := slices.Grow(d.lines[:0], strings.Count(text, "\n")+len(text)/maxPiece+1)
	after := true
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		blank := strings.TrimSpace(text[at:end]) == ""
		for limit := end + maxBlank; end < len(text) && end < limit && text[end] == '\n'; end++ {
			blank = true
		}
		first := true
		for at < end {
			l := line{text: text[at:end], first: first, after: after && first}
			if first && kind == KindProse {
				l.text = l.text[:sentence(l.text)]
			}
			l.text = l.text[:pieceOf(l.text)]
			l.look(d.names, known)
			lines = append(lines, l)
			at += len(l.text)
			first = false
		}
		after = blank
	}
	d.lines = lines
	return lines
}

// pieceOf is the length of the first piece of a line: up to a space if there is
// one.
func pieceOf(s string) int {
	if len(s) <= maxPiece+maxBlank {
		return len(s)
	}
	if n := strings.LastIndexByte(s[maxPiece/2:maxPiece], ' '); n >= 0 {
		return maxPiece/2 + n + 1
	}
	if n := strings.IndexAny(s[maxPiece:min(len(s), 2*maxPiece)], " \n"); n >= 0 {
		return maxPiece + n + 1
	}
	return boundary(s, maxPiece)
}

// look finds the facts of a line.
func (l *line) look(names seen, known *Known) {
	l.body = strings.TrimSpace(l.text)
	if l.first {
		l.body, l.indent = unnumbered(strings.TrimRight(l.text, " \t\r\n"))
	}
	l.plain = says(l.body)
	for i := 0; ; {
		start, end := nextWord(l.body, i)
		if start == end {
			return
		}
		i = end
		word := l.body[start:end]
		hash, name := inspect(word)
		l.failure = l.failure || isFailure(word, hash)
		if !name {
			continue
		}
		if known.hasName(word) {
			l.known++
		} else if names.add(hash) == 0 {
			l.named++
		}
	}
}

// unnumbered cuts off the number that file viewers and grep put in front of a
// line (12:, 12|, 12 and a tab), and the indentation after it.
func unnumbered(s string) (body string, indent int) {
	rest := strings.TrimLeft(s, " ")
	digits := 0
	for digits < len(rest) && classes[rest[digits]] == digit {
		digits++
	}
	if digits > 0 && digits < len(rest) && strings.IndexByte(":|\t", rest[digits]) >= 0 {
		s = rest[digits+1:]
	}
	for i := range len(s) {
		switch s[i] {
		case ' ':
			indent++
		case '\t':
			indent += 4
		default:
			return s[i:], indent
		}
	}
	return "", indent
}

// failures are the words for failures in the output of commands.
var failures = func() (hashes [256]uint32) {
	for _, word := range []string{
		"error", "errors", "failed", "failure", "fail", "fatal", "panic", "exception", "traceback", "denied", "refused", "timeout",
		"warning", "undefined", "cannot", "killed", "aborted", "invalid",
	} {
		hash, _ := inspect(word)
		hashes[hash%256] = hash
	}
	return hashes
}()

// isFailure reports whether a word means a failure, alone or at the end of an
// identifier as in ValueError.
func isFailure(word string, hash uint32) bool {
	return failures[hash%256] == hash || strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception")
}

// ends is how many lines at each end of a log are kept before others.
const ends = 3

// maxAlike is how many lines that begin alike, such as progress lines, are kept
// before other lines.
const maxAlike = 3

func rankLog(lines []line) func(int) uint8 {
	alike := newSeen(len(lines) * maxPiece)
	return func(i int) uint8 {
		l := &lines[i]
		var rank uint8
		switch {
		case l.failure:
			rank = rankError
		case l.named > 0:
			rank = rankHead
		case i == 0 || i == len(lines)-1:
			rank = rankNames
		case i < ends || i >= len(lines)-ends:
			rank = rankDetail
		default:
			rank = rankRest
		}
		if alike.add(beginningOf(l.body)) >= maxAlike {
			rank++
		}
		return rank
	}
}

// maxBeginning is the length in bytes of the beginning of a line.
const maxBeginning = 24

// beginningOf is a hash of the first two words of a line; numbers do not count.
func beginningOf(s string) uint32 {
	_, end := nextWord(s, 0)
	_, end = nextWord(s, end)
	hash := hashStart
	for i := range min(end, maxBeginning) {
		if classes[s[i]] != digit {
			hash = hashed(hash, s[i])
		}
	}
	return hash
}

// maxIndent is deeper than any line is indented.
const maxIndent = 1 << 30

// declarations are the words with which declarations begin in most languages.
var declarations = map[string]bool{
	"func": true, "type": true, "package": true, "class": true, "def": true, "fn": true, "struct": true, "enum": true,
	"interface": true, "trait": true, "impl": true, "function": true, "module": true, "namespace": true, "public": true,
	"private": true, "protected": true, "static": true, "export": true, "async": true, "abstract": true, "final": true,
	"pub": true, "mod": true, "const": true, "object": true, "record": true, "sub": true, "template": true, "union": true,
	"typedef": true, "override": true, "internal": true, "CREATE": true, "create": true, "protocol": true, "extension": true,
}

// isDeclaration reports whether a line begins as a declaration does.
func isDeclaration(body string) bool {
	start, end := nextWord(body, 0)
	return start == 0 && declarations[body[:end]] || strings.HasPrefix(body, "@") && end > start
}

// opens reports whether a line is the head of a block by brackets or a colon.
func opens(body string) bool {
	return body != "" && strings.IndexByte("{(:[", body[len(body)-1]) >= 0
}

func rankCode(lines []line) func(int) uint8 {
	least := maxIndent
	for i := range lines {
		if lines[i].first {
			least = min(least, lines[i].indent)
		}
	}
	return func(i int) uint8 {
		l := &lines[i]
		outer, declares := l.indent == least, isDeclaration(l.body)
		switch {
		case classes[l.body[0]] == space && !declares:
			return rankRest
		case declares && (i == 0 || opens(l.body)):
			return rankHead
		case i == 0 || outer && (declares || opens(l.body)):
			return rankNames
		case outer || declares:
			return rankDetail
		}
		return rankRest
	}
}

// maxHunk is how many changed lines of a hunk are kept before others.
const maxHunk = 3

func rankDiff(lines []line) func(int) uint8 {
	changed := 0
	return func(i int) uint8 {
		text := lines[i].text
		switch {
		case strings.HasPrefix(text, "@@"):
			changed = 0
			return rankHead
		case i == 0 || hasAnyPrefix(text, "diff ", "+++ ", "rename ", "new file", "deleted file", "Binary "):
			return rankHead
		case hasAnyPrefix(text, "--- ", "index "):
			return rankRepeat
		case text[0] == '+' || text[0] == '-':
			if changed++; changed <= maxHunk && lines[i].plain {
				return rankNames
			}
			return rankDetail
		}
		return rankRest
	}
}

func rankProse(lines []line) func(int) uint8 {
	return func(i int) uint8 {
		l := &lines[i]
		switch {
		case l.named > 0 || l.failure:
			return rankHead
		case i == 0 || l.body[0] == '#':
			return rankNames
		case l.after:
			return rankDetail
		}
		return rankRest
	}
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// addLines adds the lines of a text to the last row, in pieces where they are
// long. In a document their source ends where the text does.
func (d *draft) addLines(text string, kind Kind, known *Known, end int) {
	lines := d.analyse(text, kind, known)
	rank := ranker(kind, lines)
	left := len(text)
	for i := range lines {
		l := &lines[i]
		left -= len(l.text)
		// Escapes make the source longer than the text.
		p := part{text: l.text, piece: true, first: l.first, values: 1, end: int32(end - left)}
		switch {
		case !l.plain:
			p.rank = rankSigns
		case l.first || kind == KindProse:
			p.rank = rank(i)
		case l.failure || l.named > 0:
			p.rank = rankNames
		default:
			p.rank = rankRest
		}
		if p.rank < rankRest && (known.hasLine(l.body) || l.known > 0 && l.named == 0 && !l.failure) {
			p.rank = rankRepeat
		}
		d.addPart(p)
	}
}

// ranker returns the function that ranks the lines of a kind, in order.
func ranker(kind Kind, lines []line) func(i int) uint8 {
	switch kind {
	case KindCode:
		return rankCode(lines)
	case KindDiff:
		return rankDiff(lines)
	case KindProse:
		return rankProse(lines)
	default:
		return rankLog(lines)
	}
}

// sentence returns the length of the first sentence of s, with the space after
// it.
func sentence(s string) int {
	for i := 4; i+1 < len(s); i++ {
		if strings.IndexByte(".!?", s[i]) >= 0 && s[i+1] == ' ' {
			return i + 2
		}
	}
	return len(s)
}
