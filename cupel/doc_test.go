package cupel_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestPackageDocNamesEverything: the package documentation says of each exported
// type, and of each function that makes none, whom it is for.
func TestPackageDocNamesEverything(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/wollax/cupel-go/cupel")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Types) < 50 {
		t.Fatalf("found %d types only", len(p.Types))
	}
	var names []string
	for _, typ := range p.Types {
		names = append(names, typ.Name)
	}
	for _, f := range p.Funcs {
		names = append(names, f.Name)
	}
	for _, name := range names {
		if !strings.Contains(p.Doc, "["+name+"]") {
			t.Errorf("doc.go does not say what %s is for: name it in one of its sections", name)
		}
	}
}
