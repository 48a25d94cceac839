package cupelreduce

import (
	"slices"
	"strings"
)

// line is a line of a text with what its rank depends on.
type line struct {
	text    string // without its line end
	body    string // without a number in front, and trimmed
	indent  int    // of the body, in columns where a tab is 4
	after   bool   // behind a blank line, or the first
	named   int    // names that were neither known nor in a line before
	known   int    // names that the reader knows
	plain   bool   // has a letter or digit
	failure bool   // speaks of an error
	reach   int    // where the first of the names ends that were not known
}

// analyse takes a text apart into lines that are not blank, and looks at each
// once.
func analyse(text string, known *Known) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	seen := map[string]struct{}{}
	after := true
	for raw := range strings.Lines(text) {
		l := line{text: strings.TrimRight(raw, " \t\r\n")}
		l.body, l.indent = unnumbered(l.text)
		if l.body == "" {
			after = true
			continue
		}
		l.after, after = after, false
		for i := 0; ; {
			start, end := nextWord(l.body, i)
			if start == end {
				break
			}
			i = end
			l.plain = true
			word := l.body[start:end]
			l.failure = l.failure || isFailure(word)
			if !isName(word) {
				continue
			}
			if known.hasName(word) {
				l.known++
			} else if _, ok := seen[word]; !ok {
				seen[word] = struct{}{}
				l.named++
				if l.reach == 0 {
					l.reach = len(l.text) - len(l.body) + end
				}
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// unnumbered cuts off the number that file viewers and grep put in front of a
// line (12:, 12|, 12 and a tab), and the indentation behind it.
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

// failures are what failures are called in the output of commands.
var failures = map[string]bool{
	"error": true, "errors": true, "failed": true, "failure": true, "fail": true, "fatal": true, "panic": true,
	"exception": true, "traceback": true, "denied": true, "refused": true, "timeout": true, "warning": true,
	"undefined": true, "cannot": true, "killed": true, "aborted": true, "invalid": true,
}

// isFailure reports whether a word speaks of a failure: alone, or at the end of
// an identifier as in ValueError.
func isFailure(word string) bool {
	return len(word) <= 10 && failures[strings.ToLower(word)] || strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception")
}

// ends is how many lines at each end of a log are kept before others.
const ends = 3

// maxAlike is how many lines that begin alike, as those of a progress do, are kept
// before lines of others.
const maxAlike = 3

func rankLog(lines []line) func(int) uint8 {
	alike := map[string]int{}
	return func(i int) uint8 {
		l := &lines[i]
		var rank uint8
		switch {
		case !l.plain:
			return rankRepeat
		case l.failure || l.named > 0:
			rank = rankHead
		case i == 0 || i == len(lines)-1:
			rank = rankNames
		case i < ends || i >= len(lines)-ends:
			rank = rankDetail
		default:
			rank = rankRest
		}
		beginning := beginningOf(l.body)
		if alike[beginning]++; alike[beginning] > maxAlike {
			rank++
		}
		return rank
	}
}

// beginningOf is the first word of a line and what its second begins with.
func beginningOf(s string) string {
	_, end := nextWord(s, 0)
	if end < len(s) {
		_, end = nextWord(s, end)
	}
	return s[:min(end, 24)]
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
	return start == 0 && end > 0 && declarations[body[:end]] || strings.HasPrefix(body, "@") && end > start
}

// opens reports whether a line is the head of a block by brackets or a colon.
func opens(body string) bool {
	return body != "" && strings.IndexByte("{(:[", body[len(body)-1]) >= 0
}

func rankCode(lines []line) func(int) uint8 {
	least := maxIndent
	for i := range lines {
		least = min(least, lines[i].indent)
	}
	return func(i int) uint8 {
		l := &lines[i]
		outer, declares := l.indent == least, isDeclaration(l.body)
		switch {
		case !l.plain || classes[l.body[0]] == space && !declares:
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
		case !l.plain:
			return rankRepeat
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

// addLines adds the lines of a text, cut after width bytes, or somewhat later
// behind the first name that is new; those of prose that name nothing are cut
// after their first sentence. It returns the best rank.
func (d *draft) addLines(text string, kind Kind, known *Known, width int) uint8 {
	best := rankRepeat
	lines := analyse(text, known)
	rank := ranker(kind, lines)
	d.rows, d.parts = slices.Grow(d.rows, len(lines)), slices.Grow(d.parts, len(lines))
	for i := range lines {
		l := &lines[i]
		r := rank(i)
		if r < rankRest && (known.hasLine(l.body) || l.known > 0 && l.named == 0 && !l.failure) {
			r = rankRepeat
		}
		w := width
		switch {
		case l.reach > w && l.reach <= 2*w:
			w = l.reach
		case kind == KindProse && l.named == 0:
			w = min(w, sentence(l.text))
		}
		d.addRow("")
		d.addPart(cut(l.text, w), r, 1)
		d.parts[len(d.parts)-1].line = true
		best = min(best, r)
	}
	return best
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

// sentence is the length of the first sentence of s.
func sentence(s string) int {
	for i := range len(s) {
		if strings.IndexByte(".!?", s[i]) >= 0 && (i+1 == len(s) || s[i+1] == ' ') && i > 3 {
			return i + 1
		}
	}
	return len(s)
}
