// Package sources cuts the files of a repository into parts, which say something alone.
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
func Cut(name, text string) []Part {
	switch extension := strings.ToLower(path.Ext(name)); extension {
	case ".go", ".py", ".ts", ".tsx", ".js", ".java", ".rs":
		return declarations(text, extension == ".go")
	case ".md", ".markdown":
		return sections(text)
	}
	return paragraphs(text)
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

// declarations cuts source code into its top-level declarations with their comments, and
// long types into their members. It goes by blank lines and indentation and takes no
// parser, so it also cuts a file that does not compile: it may be what the question is
// about.
func declarations(text string, isGo bool) []Part {
	c := cutter{isGo: isGo}
	c.cut(text, 1, 0, "")
	begin := len(text) // of the first, as the others follow it
	for i := range c.parts {
		p := &c.parts[i]
		begin -= len(p.Text)
		bare := strings.TrimSpace(p.Text)
		p.Line += strings.Count(p.Text[:strings.Index(p.Text, bare)], "\n")
		p.Text = bare
	}
	if isGo && len(c.parts) > 0 {
		return c.parts // imports say little
	}
	return append(paragraphs(text[:begin]), c.parts...)
}

// cutter gathers declarations.
type cutter struct {
	isGo  bool
	parts []Part
}

// cut cuts a text, which begins at a line, into the declarations at an indentation. owner
// is the type that they are members of.
func (c *cutter) cut(text string, line, indentation int, owner string) {
	paragraphs := strings.SplitAfter(text, "\n\n")
	for len(paragraphs) > 0 {
		n := 1 // what is indented further belongs to the declaration before
		for n < len(paragraphs) && continues(paragraphs[n], indentation) {
			n++
		}
		head, members := paragraphs[0], strings.Join(paragraphs[1:n], "")
		paragraphs = paragraphs[n:]
		whole, at := head+members, line
		line += strings.Count(whole, "\n")
		symbol := c.symbolOf(whole, owner)
		switch last := len(c.parts) - 1; {
		case symbol == "" && last >= 0: // such as a paragraph of a long text
			c.parts[last].Text += whole
			continue
		case symbol == "":
			continue
		case owner != "":
			symbol = owner + "." + symbol
		}
		if c.isGo || len(whole) <= longType || members == "" {
			c.parts = append(c.parts, Part{Line: at, Text: whole, Symbol: symbol})
			continue
		}
		c.parts = append(c.parts, Part{Line: at, Text: head, Symbol: symbol})
		c.cut(members, at+strings.Count(head, "\n"), indentationOf(members), symbol)
	}
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

// symbolOf returns the name of what a text declares, or "". A call looks like a method,
// which stands in a type.
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
