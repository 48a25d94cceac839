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
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// The kinds of declarations. Tests are a kind of their own, so that a policy
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
		var cut func(path, text string) ([]*cupel.ContextItem, error)
		switch filepath.Ext(name) {
		case ".go", ".py", ".ts", ".tsx", ".js", ".java", ".rs":
			cut = declarations
		case ".md":
			cut = sections
		}
		if cut == nil || !entry.Type().IsRegular() {
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

// declared match the line of a declaration: in Go the type of a method, and the
// name, the first of a group; in other languages the name of what a keyword
// declares, or of a method of Java or TypeScript.
var (
	declared      = regexp.MustCompile(`(?m)^(?:func (?:\((?:\w+ )?\*?(\w+).*?\) )?|(?:type|var|const) (?:\(\s+(?://.*\s+)*)?)(\w+)`)
	declaredOther = regexp.MustCompile(`(?m)^\s*(?:[\w()]+ )*?(class|interface|impl|trait|struct|enum|record|mod|namespace|fn|def|function|type|const|let|static)\b(?:<.*?>)? (\w+)`)
	declaredBare  = regexp.MustCompile(`(?m)^\s*(?:[\w<>\[\],.?]+ )*(\w+)(?:<.*>)?\(`)
)

// most is how many bytes declarations that follow each other have together to be
// one candidate: a constant or a short function alone says little.
const most = 800

// piece is a declaration.
type piece struct {
	line         int
	text, symbol string
}

// declarations cuts a source file into its top-level declarations with their
// comments, and long types into their members. It goes by blank lines and
// indentation and takes no parser, so it also cuts a file that does not compile:
// it may be what the agent is to repair.
func declarations(path, text string) ([]*cupel.ContextItem, error) {
	kind := kindCode
	if tests.MatchString(path) {
		kind = kindTest
	}
	var items []*cupel.ContextItem
	var symbols, texts []string
	size := 0
	add := func() error {
		if len(texts) == 0 {
			return nil
		}
		// Relevance looks for these keys: declarations of a file belong together,
		// and a question may name the symbol.
		about := cupel.WithMetadata(map[string]any{"path": path, "symbol": strings.Join(symbols, " ")})
		where, text, _ := strings.Cut(strings.Join(texts, "\n\n"), "\n")
		item, err := newItem(kind, where, text, about)
		items, symbols, texts, size = append(items, item), nil, nil, 0
		return err
	}
	for _, p := range pieces(text, 1, 0, "", filepath.Ext(path) == ".go") {
		text := fmt.Sprintf("%s:%d %s\n%s", path, p.line, p.symbol, strings.TrimSpace(p.text))
		if size+len(text) > most {
			if err := add(); err != nil {
				return nil, err
			}
		}
		symbols, texts, size = append(symbols, p.symbol), append(texts, text), size+len(text)
	}
	return items, add()
}

// tests matches the paths of tests.
var tests = regexp.MustCompile(`(?:_test\.\w+|\.(?:test|spec)\.\w+|Test\.java)$|(?:^|/)(?:tests?/|test_)`)

// pieces cuts a text, which begins at a line, into the declarations at an
// indentation. owner is the type that they are members of.
func pieces(text string, line, indentation int, owner string, isGo bool) []piece {
	var all []piece
	paragraphs := strings.SplitAfter(text, "\n\n")
	for len(paragraphs) > 0 {
		n := 1 // what is indented further belongs to the declaration before
		for n < len(paragraphs) && continues(paragraphs[n], indentation) {
			n++
		}
		part, at := strings.Join(paragraphs[:n], ""), line
		line += strings.Count(part, "\n")
		head, members := paragraphs[0], paragraphs[1:n]
		paragraphs = paragraphs[n:]
		symbol := symbolOf(part, isGo)
		if symbol == "" || symbol == "_" {
			continue
		}
		if owner != "" {
			symbol = owner + "." + symbol
		}
		if isGo || len(part) <= most || len(members) == 0 {
			all = append(all, piece{at, part, symbol})
			continue
		}
		all = append(all, piece{at, head, symbol})
		rest := strings.Join(members, "")
		all = append(all, pieces(rest, at+strings.Count(head, "\n"), indentationOf(rest), symbol, isGo)...)
	}
	return all
}

// continues reports whether a paragraph belongs to the declaration before it.
func continues(paragraph string, indentation int) bool {
	bare := strings.TrimLeft(paragraph, "\n")
	return bare == "" || indentationOf(bare) > indentation || strings.ContainsAny(strings.TrimLeft(bare, " \t")[:1], ")}]")
}

// indentationOf returns how far the first line of a text is indented.
func indentationOf(text string) int {
	bare := strings.TrimLeft(text, "\n")
	return len(bare) - len(strings.TrimLeft(bare, " \t"))
}

// symbolOf returns the name of what a text declares, or "".
func symbolOf(text string, isGo bool) string {
	if isGo {
		name := declared.FindStringSubmatch(text)
		if len(name) == 0 || name[2] == "_" {
			return ""
		}
		return strings.TrimPrefix(name[1]+"."+name[2], ".")
	}
	if name := declaredOther.FindStringSubmatch(text); name != nil {
		return name[2]
	}
	if name := declaredBare.FindStringSubmatch(text); name != nil {
		return name[1]
	}
	return ""
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
