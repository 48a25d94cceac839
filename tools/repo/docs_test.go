package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ruling matches a rule of docs/rulings.md by its number.
var ruling = regexp.MustCompile(`\bR[0-9]+\b`)

// TestExportedDocs holds that the documentation of what is exported says a rule
// and not its number, which its reader would have to look up. Comments inside
// the code may cite rules.
func TestExportedDocs(t *testing.T) {
	root := Root(t)
	documented := 0
	for _, m := range Modules(t, root) {
		if !isForOthers(t, root, m) {
			continue
		}
		err := filepath.WalkDir(m.Dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			switch name := entry.Name(); {
			case name == "testdata" || name == "internal" || name == "examples" || name == ".git":
				return filepath.SkipDir
			case path != m.Dir:
				if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
					return filepath.SkipDir // another module
				}
			}
			fset := token.NewFileSet()
			files, err := filepath.Glob(filepath.Join(path, "*.go"))
			for _, name := range files {
				file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
				if err != nil {
					return err
				}
				docs := exportedDocs(file)
				if strings.HasSuffix(name, "_test.go") {
					docs = exampleDocs(file)
				}
				for _, group := range docs {
					documented++
					for _, comment := range group.List {
						if number := ruling.FindString(comment.Text); number != "" {
							t.Errorf("%s: the documentation names %s; say the rule instead", fset.Position(comment.Pos()), number)
						}
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if documented == 0 {
		t.Error("no documentation was looked at")
	}
}

// exportedDocs returns the comments of a file that go doc shows.
func exportedDocs(file *ast.File) (docs []*ast.CommentGroup) {
	add := func(groups ...*ast.CommentGroup) {
		for _, group := range groups {
			if group != nil {
				docs = append(docs, group)
			}
		}
	}
	add(file.Doc)
	ast.FileExports(file)
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			add(decl.Doc)
		case *ast.GenDecl:
			add(decl.Doc)
			ast.Inspect(decl, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.TypeSpec:
					add(node.Doc, node.Comment)
				case *ast.ValueSpec:
					add(node.Doc, node.Comment)
				case *ast.Field:
					add(node.Doc, node.Comment)
				}
				return true
			})
		}
	}
	return docs
}

// exampleDocs returns the comments of the examples in a test file, which go doc
// servers show.
func exampleDocs(file *ast.File) (docs []*ast.CommentGroup) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Doc != nil && strings.HasPrefix(f.Name.Name, "Example") {
			docs = append(docs, f.Doc)
		}
	}
	return docs
}

// TestExportedDocsFindsRules plants rules where go doc shows them, and where it
// does not.
func TestExportedDocsFindsRules(t *testing.T) {
	const source = `// Package p is 1.
package p

// F is 2.
func F() {
	// inside
}

// g is hidden.
func g() {}

// T is 3.
type T struct {
	A int // 4
	// hidden
	b int
}

// M is 5.
func (T) M() {}

// A group is 6.
const (
	// C is 7.
	C = 1
)

// I is 8.
type I interface {
	// Do is 9.
	Do()
}
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, group := range exportedDocs(file) {
		got.WriteString(regexp.MustCompile(`[0-9]|hidden|inside`).FindString(group.Text()))
	}
	if got.String() != "123456789" {
		t.Errorf("found the comments %s", got.String())
	}

	const examples = `package p_test

// ExampleF is shown.
func ExampleF() {}

// help is hidden.
func help() {}
`
	file, err = parser.ParseFile(token.NewFileSet(), "p_test.go", examples, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if docs := exampleDocs(file); len(docs) != 1 || docs[0].Text() != "ExampleF is shown.\n" {
		t.Errorf("found %d comments of examples", len(docs))
	}
}
