package repocontext

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// declarations cuts a Go file into its package comment and its top-level
// declarations other than imports. A file that does not parse comes back as a
// whole, with the reason: it may be what the agent is asked to repair.
func (f sourceFile) declarations() ([]draft, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, f.path, f.content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		text := strings.ToValidUTF8(string(f.content), "\uFFFD")
		d := f.code(1, "", text)
		d.mentions = namesIn(text)
		return []draft{d}, err
	}
	// Line comments may rename and renumber; offsets are those of the file.
	offset := func(p token.Pos) int { return fset.PositionFor(p, false).Offset }
	line := func(p token.Pos) int { return fset.PositionFor(p, false).Line }

	generated := ast.IsGenerated(tree)
	test := strings.HasSuffix(f.path, "_test.go")
	var drafts []draft
	add := func(start, end token.Pos, name string, priority int) *draft {
		d := f.code(line(start), name, string(f.content[offset(start):offset(end)]))
		d.priority = priority
		switch {
		case generated:
			d.file, d.priority = "go generated", priorityLow
		case test:
			d.file, d.priority = "go test", priorityLow
		}
		drafts = append(drafts, d)
		return &drafts[len(drafts)-1]
	}
	if tree.Doc != nil {
		d := add(tree.Doc.Pos(), tree.Name.End(), "package "+tree.Name.Name, priorityOverview)
		d.declares = nil // every file of the package declares its name
		d.mentions = namesIn(d.content)
	}
	for _, decl := range tree.Decls {
		doc, names := describe(decl)
		if len(names) == 0 { // imports, assertions, empty groups
			continue
		}
		start := decl.Pos()
		if doc != nil {
			start = doc.Pos()
		}
		priority := priorityInternal
		if ast.IsExported(names[0][strings.LastIndexByte(names[0], '.')+1:]) {
			priority = priorityPublic
		}
		title := shorten(names[0])
		if more := len(names) - 1; more > 0 {
			title = fmt.Sprintf("%s and %d more", title, more)
		}
		d := add(start, decl.End(), title, priority)
		d.declares, d.symbol = names, names[0]
		d.mentions = mentions(decl)
	}
	return drafts, nil
}

// code returns a draft of a piece of the file, in valid UTF-8 since the parser
// accepts no other.
func (f sourceFile) code(line int, name, content string) draft {
	return draft{
		kind: KindCode, source: cupel.SourceRag, file: "go", path: f.path,
		origin:  strings.TrimSpace(fmt.Sprintf("%s:%d %s", f.path, line, name)),
		content: content,
		time:    f.time,
		tags:    []string{f.dir()},
	}
}

// describe returns a declaration's comment and the names that it declares;
// methods are named with their type. Blank names are none: an assertion that a
// type implements an interface tells an agent nothing.
func describe(decl ast.Decl) (doc *ast.CommentGroup, names []string) {
	add := func(name string) {
		if name != "_" {
			names = append(names, name)
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name := decl.Name.Name
		if decl.Recv != nil && len(decl.Recv.List) > 0 {
			name = receiver(decl.Recv.List[0].Type) + "." + name
		}
		return decl.Doc, []string{name}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					add(name.Name)
				}
			}
		}
		return decl.Doc, names
	}
	return nil, nil
}

// receiver returns the name of a receiver's type without pointer and type
// parameters.
func receiver(expr ast.Expr) string {
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// mentions counts the names in a declaration.
func mentions(decl ast.Decl) map[string]int {
	names := make(map[string]int)
	ast.Inspect(decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && len(id.Name) >= minMention {
			names[id.Name]++
		}
		return true
	})
	return names
}
