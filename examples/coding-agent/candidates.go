package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/sources"
)

// The kinds of declarations. Tests, and the rest of a long declaration, are kinds of
// their own, so that a policy can hold them back.
const (
	kindCode cupel.ContextKind = "Code"
	kindRest cupel.ContextKind = "Rest"
	kindTest cupel.ContextKind = "Test"
)

// newItem returns an item with the estimate of its tokens. Its first line names its place.
func newItem(kind cupel.ContextKind, content string, opts ...cupel.ItemOption) (*cupel.ContextItem, error) {
	return cupel.NewItemFrom(cupel.HeuristicCounter{}, content, append(opts, cupel.WithKind(kind))...)
}

// from returns where an item is from: its first line.
func from(item *cupel.ContextItem) string {
	line, _, _ := strings.Cut(item.Content(), "\n")
	return line
}

// The files that are read, and the folders that are not, beside hidden ones.
var (
	extensions = []string{".go", ".py", ".ts", ".tsx", ".js", ".java", ".rs", ".md"}
	foreign    = []string{"vendor", "testdata", "node_modules"}
)

// collect returns the candidates of a folder, and how many files it skipped by
// their extension.
func collect(dir string) (items []*cupel.ContextItem, skipped map[string]int, err error) {
	root := os.DirFS(dir)
	skipped = make(map[string]int)
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if entry.IsDir() {
			if hidden := name != "." && entry.Name()[0] == '.'; hidden || slices.Contains(foreign, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if extension := path.Ext(name); !slices.Contains(extensions, extension) || !entry.Type().IsRegular() {
			skipped[cmp.Or(extension, "others")]++
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		found, err := cut(name, strings.ToValidUTF8(string(text), "\uFFFD"))
		items = append(items, found...)
		return err
	})
	return items, skipped, err
}

// Declarations that follow each other are together up to most bytes, since a constant or
// a short function alone says little. One of more than longest bytes is cut, since few of
// them would fill the window.
const most, longest = 600, 300

// cut returns the declarations of a source file, or the sections of a Markdown file.
func cut(file, text string) ([]*cupel.ContextItem, error) {
	kind, key := kindCode, "symbol"
	switch {
	case path.Ext(file) == ".md":
		kind, key = cupel.KindDocument, "title"
	case tests.MatchString(file):
		kind = kindTest
	}
	var items []*cupel.ContextItem
	var names, content string
	add := func(kind cupel.ContextKind) error {
		if content == "" {
			return nil
		}
		// Relevance looks for these keys: declarations of a file belong together,
		// and a question may name the symbol.
		item, err := newItem(kind, content, cupel.WithMetadata(map[string]any{"path": file, key: names}))
		items, names, content = append(items, item), "", ""
		return err
	}
	for _, p := range sources.Cut(file, text) {
		if kind != cupel.KindDocument && p.Symbol == "" {
			continue // such as imports
		}
		name, line := p.Symbol+p.Title, p.Line
		for i, piece := range pieces(p.Text) {
			text := fmt.Sprintf("%s:%d %s\n%s", file, line, name, piece)
			if kind == cupel.KindDocument || i > 0 || len(content)+len(text) > most {
				if err := add(kind); err != nil {
					return nil, err
				}
			}
			names, content = strings.TrimSpace(names+" "+name), strings.TrimSpace(content+"\n\n"+text)
			line += strings.Count(piece, "\n")
			if i > 0 && kind == kindCode {
				if err := add(kindRest); err != nil {
					return nil, err
				}
			}
		}
	}
	return items, add(kind)
}

// pieces cuts a long text between lines into pieces of about the same length.
func pieces(text string) []string {
	length := len(text) / (1 + len(text)/longest)
	all := []string{""}
	for line := range strings.Lines(text) {
		if len(all[len(all)-1]) > length {
			all = append(all, "")
		}
		all[len(all)-1] += line
	}
	return all
}

// tests matches the paths of tests.
var tests = regexp.MustCompile(`(?:_test\.\w+|\.(?:test|spec)\.\w+|Test\.java)$|(?:^|/)(?:tests?/|test_)`)
