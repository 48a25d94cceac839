package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// The kinds of Go declarations. Tests are a kind of their own, so that a policy
// can hold them back.
const (
	kindCode cupel.ContextKind = "Code"
	kindTest cupel.ContextKind = "Test"
)

// commits is how many of the latest commits are candidates.
const commits = 200

// newItem returns an item whose first line says where it is from, with the
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

// collect returns the candidates of a folder. A folder without a history has no
// commits among them.
func collect(ctx context.Context, dir string) ([]*cupel.ContextItem, error) {
	var items []*cupel.ContextItem
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
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
		var cut func(path, text string) ([]*cupel.ContextItem, error)
		switch filepath.Ext(name) {
		case ".go":
			cut = declarations
		case ".md":
			cut = sections
		}
		if cut == nil || !entry.Type().IsRegular() {
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
		return nil, err
	}
	history, err := log(ctx, dir)
	return append(items, history...), err
}

// declared matches the first line of a declaration: the type of a method, and the
// name, the first of a group.
var declared = regexp.MustCompile(`(?m)^(?:func (?:\((?:\w+ )?\*?(\w+).*?\) )?|(?:type|var|const) (?:\(\s+(?://.*\s+)*)?)(\w+)`)

// declarations cuts a Go file that gofmt has formatted into its top-level
// declarations with their comments, leaving out imports. It takes no parser, so
// it also cuts a file that does not compile: it may be what the agent is to
// repair.
func declarations(path, text string) ([]*cupel.ContextItem, error) {
	kind := kindCode
	if strings.HasSuffix(path, "_test.go") {
		kind = kindTest
	}
	var items []*cupel.ContextItem
	line, paragraphs := 1, strings.SplitAfter(text, "\n\n")
	for len(paragraphs) > 0 {
		n := 1 // what is indented belongs to the declaration before
		for n < len(paragraphs) && strings.ContainsAny(paragraphs[n][:min(1, len(paragraphs[n]))], "\t\n)}") {
			n++
		}
		part, at := strings.Join(paragraphs[:n], ""), line
		paragraphs, line = paragraphs[n:], line+strings.Count(part, "\n")
		name := declared.FindStringSubmatch(part)
		if len(name) == 0 || name[2] == "_" {
			continue
		}
		// Relevance looks for these keys: declarations of a file belong together,
		// and a question may name the symbol.
		symbol := strings.TrimPrefix(name[1]+"."+name[2], ".")
		about := cupel.WithMetadata(map[string]any{"path": path, "symbol": symbol})
		item, err := newItem(kind, fmt.Sprintf("%s:%d %s", path, at, symbol), strings.TrimSpace(part), about)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// sections cuts a Markdown file at its headings. Number signs in code blocks are
// no headings.
func sections(path, text string) ([]*cupel.ContextItem, error) {
	var items []*cupel.ContextItem
	title, first, start := "", 1, 0 // of the section, its line and its offset
	add := func(end int) error {
		if strings.TrimSpace(text[start:end]) == "" {
			return nil
		}
		where := strings.TrimSpace(fmt.Sprintf("%s:%d %s", path, first, title))
		item, err := newItem(cupel.KindDocument, where, text[start:end], cupel.WithMetadata(map[string]any{"path": path, "title": title}))
		items = append(items, item)
		return err
	}
	offset, number, code := 0, 0, false
	for line := range strings.Lines(text) {
		number++
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if heading := strings.TrimLeft(line, "#"); !code && heading != line && strings.HasPrefix(heading, " ") {
			if err := add(offset); err != nil {
				return nil, err
			}
			title, first, start = strings.TrimSpace(heading), number, offset
		}
		offset += len(line)
	}
	err := add(len(text))
	return items, err
}

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
