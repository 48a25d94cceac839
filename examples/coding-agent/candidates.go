package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

// commits is how many of the latest commits are candidates.
const commits = 200

// newItem returns an item whose first line names its place, with the
// estimate of its tokens.
func newItem(kind cupel.ContextKind, from, text string, opts ...cupel.ItemOption) (*cupel.ContextItem, error) {
	opts = append([]cupel.ItemOption{cupel.WithKind(kind)}, opts...)
	item, err := cupel.NewItemFrom(cupel.HeuristicCounter{}, from+"\n"+text, opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return item, nil
}

// from returns where an item is from: its first line.
func from(item *cupel.ContextItem) string {
	line, _, _ := strings.Cut(item.Content(), "\n")
	return line
}

// extensions are those of the files that are read.
var extensions = []string{".go", ".py", ".ts", ".tsx", ".js", ".java", ".rs", ".md"}

// collect returns the candidates of a folder, and how many files it skipped by
// their extension. A folder without a history has no commits among them.
func collect(ctx context.Context, dir string) (items []*cupel.ContextItem, skipped map[string]int, err error) {
	skipped = make(map[string]int)
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") && name != dir
			if hidden || entry.Name() == "vendor" || entry.Name() == "testdata" || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return ctx.Err()
		}
		if !slices.Contains(extensions, filepath.Ext(name)) || !entry.Type().IsRegular() {
			skipped[cmp.Or(filepath.Ext(name), "others")]++
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		path, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		found, err := cut(filepath.ToSlash(path), strings.ToValidUTF8(string(text), "\uFFFD"))
		items = append(items, found...)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	history, err := log(ctx, dir)
	return append(items, history...), skipped, err
}

// most is how many bytes a candidate should have: declarations that follow each other
// are together, since a constant or a short function alone says little, and a long one
// is cut, since few of them would fill the window.
const most = 800

// cut returns the declarations of a source file, or the sections of a Markdown file.
func cut(path, text string) ([]*cupel.ContextItem, error) {
	kind, key := kindCode, "symbol"
	switch {
	case filepath.Ext(path) == ".md":
		kind, key = cupel.KindDocument, "title"
	case tests.MatchString(path):
		kind = kindTest
	}
	var items []*cupel.ContextItem
	var names, texts []string
	size := 0
	add := func(kind cupel.ContextKind) error {
		if len(texts) == 0 {
			return nil
		}
		// Relevance looks for these keys: declarations of a file belong together,
		// and a question may name the symbol.
		about := cupel.WithMetadata(map[string]any{"path": path, key: strings.Join(names, " ")})
		where, text, _ := strings.Cut(strings.Join(texts, "\n\n"), "\n")
		item, err := newItem(kind, where, text, about)
		items, names, texts, size = append(items, item), nil, nil, 0
		return err
	}
	for _, p := range sources.Cut(path, text) {
		if kind != cupel.KindDocument && p.Symbol == "" {
			continue // such as imports
		}
		name := p.Symbol + p.Title
		line := p.Line
		for i, piece := range pieces(p.Text) {
			text := strings.TrimSpace(fmt.Sprintf("%s:%d %s", path, line, name)) + "\n" + strings.TrimRight(piece, "\n")
			if kind == cupel.KindDocument || i > 0 || size+len(text) > most {
				if err := add(kind); err != nil {
					return nil, err
				}
			}
			names, texts, size = append(names, name), append(texts, text), size+len(text)
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
	length := len(text) / (1 + len(text)/most)
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

// log returns the latest commits as memories, or nothing where git has none.
func log(ctx context.Context, dir string) ([]*cupel.ContextItem, error) {
	command := exec.CommandContext(ctx, "git", "-C", dir, "log", "-z", "--no-merges", fmt.Sprintf("--max-count=%d", commits),
		"--format=%h%x09%B", "--", ".")
	text, err := command.Output()
	if err != nil {
		return nil, ctx.Err() // no git, no repository or nothing committed
	}
	var items []*cupel.ContextItem
	for entry := range strings.SplitSeq(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00") {
		hash, message, _ := strings.Cut(strings.TrimSpace(entry), "\t")
		if hash == "" {
			continue // after the last one
		}
		item, err := newItem(cupel.KindMemory, "commit "+hash, message)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
