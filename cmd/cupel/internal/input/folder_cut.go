package input

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// declarations splits a Go file into its package comment and its top-level
// declarations with their comments, without imports and blank names. A file that
// does not parse is split like other text.
func declarations(text string) []part {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return paragraphs(text)
	}
	var parts []part
	add := func(doc *ast.CommentGroup, start, end token.Pos, symbol string) {
		if doc != nil {
			start = doc.Pos()
		}
		// A line comment may give the file other names and numbers.
		from, to := files.PositionFor(start, false), files.PositionFor(end, false)
		parts = append(parts, part{line: from.Line, text: text[from.Offset:to.Offset], symbol: symbol})
	}
	if file.Doc != nil {
		add(file.Doc, file.Package, file.Name.End(), "package "+file.Name.Name)
	}
	for _, decl := range file.Decls {
		if name, doc := declared(decl); name != "" {
			add(doc, decl.Pos(), decl.End(), name)
		}
	}
	return parts
}

// declared returns the first name that a declaration declares, for methods with
// their type, and its comment.
func declared(decl ast.Decl) (name string, doc *ast.CommentGroup) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name = decl.Name.Name
		if decl.Recv != nil && len(decl.Recv.List) > 0 {
			name = receiver(decl.Recv.List[0].Type) + "." + name
		}
		return name, decl.Doc
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				return spec.Name.Name, decl.Doc
			case *ast.ValueSpec:
				if spec.Names[0].Name != "_" {
					return spec.Names[0].Name, decl.Doc
				}
			}
		}
	}
	return "", nil
}

// receiver returns the name of a receiver's type, without pointer and type
// parameters.
func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// sections splits a Markdown file before each heading: a line that starts with
// number signs outside code blocks.
func sections(text string) []part {
	var parts []part
	p, offset, number, fence := part{line: 1}, 0, 0, ""
	start := 0
	add := func(end int) {
		if p.text = strings.TrimSpace(text[start:end]); p.text != "" {
			parts = append(parts, p)
		}
	}
	for line := range strings.Lines(text) {
		number++
		title := strings.TrimLeft(line, "#")
		level := len(line) - len(title)
		switch mark := line[:min(len(line), 3)]; {
		case fence != "":
			if mark == fence {
				fence = ""
			}
		case mark == "```" || mark == "~~~":
			fence = mark
		case level > 0 && level <= 6 && strings.HasPrefix(title, " "):
			add(offset)
			p, start = part{line: number, title: strings.TrimSpace(strings.TrimRight(title, "# \n"))}, offset
		}
		offset += len(line)
	}
	add(len(text))
	return parts
}

// partBytes is the length up to which paragraphs are joined, about 500 tokens.
const partBytes = 2000

// paragraphs splits a text at blank lines into runs of whole paragraphs of up to
// partBytes. It splits a longer paragraph at the end of a line; a longer line
// stays whole.
func paragraphs(text string) []part {
	var parts []part
	number, first, start := 1, 1, 0 // start and first: offset and line of the part
	blank, blankLine := -1, 0       // after the last blank line in the part
	add := func(end, line int) {
		if strings.TrimSpace(text[start:end]) != "" {
			// The first line keeps its indentation.
			cut := strings.TrimLeft(text[start:end], "\n")
			skipped := end - start - len(cut)
			parts = append(parts, part{line: first + skipped, text: strings.TrimRight(cut, " \t\n")})
		}
		start, first, blank = end, line, -1
	}
	offset := 0
	for line := range strings.Lines(text) {
		for offset > start && offset+len(line)-start > partBytes {
			if blank > start {
				add(blank, blankLine)
			} else {
				add(offset, number)
			}
		}
		offset += len(line)
		number++
		if strings.TrimSpace(line) == "" {
			blank, blankLine = offset, number
		}
	}
	add(len(text), number)
	return parts
}
