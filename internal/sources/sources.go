// Package sources cuts the files of a repository into parts that make sense
// alone.
package sources

import (
	"path"
	"regexp"
	"strings"
)

// Part is a part of a file.
type Part struct {
	Line          int // of the file, from 1
	Text          string
	Symbol, Title string // of a declaration, of a section
}

// Cut returns the parts of a file: the declarations of source code in languages that it
// knows by the ending of the name, the sections of Markdown, and runs of paragraphs of
// other texts. They are in the order of the file. In Go they leave out imports.
// Lines end in \n.
func Cut(name, text string) []Part {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	switch extension := strings.ToLower(path.Ext(name)); extension {
	case ".go", ".py", ".ts", ".tsx", ".js", ".java", ".rs":
		return cutAt(text, declarations(text, extension == ".go"))
	case ".md", ".markdown":
		return cutAt(text, sections(text))
	}
	return cutAt(text, paragraphs(text))
}

// place is where a part begins. It ends with the next.
type place struct {
	start         int
	symbol, title string
}

// cutAt returns the parts of a text that begin at some places, without blank lines around
// them.
func cutAt(text string, places []place) (parts []Part) {
	line, counted := 1, 0
	for i, p := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1].start
		}
		part := strings.TrimLeft(text[p.start:end], "\n")
		start := end - len(part)
		line += strings.Count(text[counted:start], "\n")
		counted = start
		if strings.TrimSpace(part) != "" {
			parts = append(parts, Part{line, strings.TrimRight(part, " \t\n"), p.symbol, p.title})
		}
	}
	return parts
}

// The lines of declarations: in Go the type of a method, and the name, the first of a
// group, or a package with a comment; in other languages the name of what a keyword
// declares, or of a method of Java or TypeScript.
var (
	declared      = regexp.MustCompile(`(?m)^(?:(?:func (?:\((?:\w+ )?\*?(\w+).*?\) )?|(?:type|var|const) (?:\(\s+(?://.*\s+)*)?)(\w+)|(?://.*|.*\*/)\n(package \w+))`)
	declaredOther = regexp.MustCompile(`(?m)^\s*(?:[\w()]+ )*?(class|interface|impl|trait|struct|enum|record|mod|namespace|fn|def|function|type|const|let|static)\b(?:<.*?>)? (\w+)`)
	declaredBare  = regexp.MustCompile(`(?m)^\s*(?:[\w<>\[\],.?]+ )*(\w+)(?:<.*>)?\(`)
)

// longType is the length in bytes from which a type is cut into its members.
const longType = 800

// declarations returns where the top-level declarations of source code with their comments
// begin, and the members of long types. It goes by blank lines, braces and indentation, without a
// parser, so it also works on a file that does not compile, which may be the subject of
// the question. A paragraph that declares nothing, such as a part of a long string, stays
// with the declaration above.
func declarations(text string, isGo bool) []place {
	c := cutter{text: text, isGo: isGo}
	c.cut(0, len(text), 0, "")
	begin := len(text)
	if len(c.found) > 0 {
		begin = c.found[0].start
	}
	if isGo && begin < len(text) {
		return c.found // imports tell little
	}
	return append(paragraphs(text[:begin]), c.found...)
}

// cutter finds declarations.
type cutter struct {
	text  string
	isGo  bool
	found []place
}

// maxDepth is the maximum nesting of types that are cut into their members.
const maxDepth = 2

// cut finds the declarations at an indentation between two places. owner is the type that
// they are members of.
func (c *cutter) cut(from, to, indentation int, owner string) {
	for from < to {
		head := c.paragraph(from, to)
		end := head // text with more indentation belongs to the declaration before
		for end < to {
			next := c.paragraph(end, to)
			if !continues(c.text[end:next], indentation) {
				break
			}
			end = next
		}
		if symbol := c.symbolOf(c.text[from:end], owner); symbol != "" {
			if owner != "" {
				symbol = owner + "." + symbol
			}
			c.found = append(c.found, place{start: from, symbol: symbol})
			if !c.isGo && end-from > longType && strings.Count(symbol, ".") < maxDepth {
				c.cut(head, end, indentationOf(c.text[head:end]), symbol)
			}
		}
		from = end
	}
}

// paragraph returns the end of the paragraph that begins at a place. It ends with a blank
// line, or with a brace that closes a declaration.
func (c *cutter) paragraph(from, to int) int {
	text := c.text[from:to]
	for _, end := range []string{"\n\n", "\n}\n", "}\nfunc "} {
		if n := strings.Index(text, end); n >= 0 {
			text = text[:n+strings.LastIndexByte(end, '\n')+1]
		}
	}
	return from + len(text)
}

// continues reports whether a paragraph belongs to the declaration before it.
func continues(paragraph string, indentation int) bool {
	bare := strings.TrimSpace(paragraph)
	return bare == "" || indentationOf(paragraph) > indentation || strings.ContainsAny(bare[:1], ")}]")
}

// indentationOf returns how far the first line of a text is indented.
func indentationOf(text string) int {
	bare := strings.TrimLeft(text, "\n")
	return len(bare) - len(strings.TrimLeft(bare, " \t"))
}

// symbolOf returns the name that a text declares, or "". A call looks like a method, so
// methods count only inside a type.
func (c *cutter) symbolOf(text, owner string) string {
	if c.isGo {
		name := declared.FindStringSubmatch(text)
		if len(name) == 0 || name[2] == "_" {
			return ""
		}
		return strings.TrimPrefix(name[1]+"."+name[2]+name[3], ".")
	}
	if name := declaredOther.FindStringSubmatch(text); name != nil {
		return name[2]
	}
	if name := declaredBare.FindStringSubmatch(text); name != nil && owner != "" {
		return name[1]
	}
	return ""
}
