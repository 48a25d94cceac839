package main

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// source is what the agent is asked about: this program and its README.
//
//go:embed *.go README.md
var source embed.FS

const (
	// kindCode is the kind of Go declarations.
	kindCode cupel.ContextKind = "Code"
	// kindIssue is the kind of reports on the source. There are none.
	kindIssue cupel.ContextKind = "Issue"
)

// candidates returns one item for each top-level declaration of the source and
// for each section of the README, in the order of the files.
func candidates() ([]*cupel.ContextItem, error) {
	files, err := source.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var items []*cupel.ContextItem
	for _, file := range files {
		text, err := source.ReadFile(file.Name())
		if err != nil {
			return nil, err
		}
		kind, parts := cupel.KindDocument, sections(string(text))
		if strings.HasSuffix(file.Name(), ".go") {
			kind = kindCode
			if parts, err = declarations(file.Name(), string(text)); err != nil {
				return nil, err
			}
		}
		for _, part := range parts {
			it, err := cupel.NewItemFrom(cupel.HeuristicCounter{}, part, cupel.WithKind(kind), cupel.WithSource(cupel.SourceRAG),
				cupel.WithMetadata(map[string]any{"path": file.Name()}))
			if err != nil {
				return nil, err
			}
			items = append(items, it)
		}
	}
	return items, nil
}

// declarations cuts a Go file into its top-level declarations, each with its
// comment, leaving out imports.
func declarations(name, text string) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, decl := range file.Decls {
		start := decl.Pos()
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Doc != nil {
				start = decl.Doc.Pos()
			}
		case *ast.GenDecl:
			if decl.Tok == token.IMPORT {
				continue
			}
			if decl.Doc != nil {
				start = decl.Doc.Pos()
			}
		}
		parts = append(parts, text[files.Position(start).Offset:files.Position(decl.End()).Offset])
	}
	return parts, nil
}

// sections cuts a Markdown text before each heading of the second level.
func sections(text string) []string {
	parts := strings.Split(text, "\n## ")
	for i := range parts[1:] {
		parts[i+1] = "## " + parts[i+1]
	}
	return parts
}

const systemPrompt = `You are a coding agent. Answer the last question from the excerpts of the source,
and say so when they do not hold the answer.`

// newSearch returns the policy of a search: what a question is about. Code gets at
// least 40 % of the tokens, so that the README cannot crowd it out. An issue should
// be among the results: each search falls short of it, as when a source of an agent
// has nothing or does not answer.
func newSearch(question string) (*pipeline.Pipeline, error) {
	about, err := newRelevance(question)
	if err != nil {
		return nil, err
	}
	balanced, err := slicer.NewQuota(slicer.ScoreGreedy{}, slicer.Require(kindCode, 40))
	if err != nil {
		return nil, err
	}
	complete, err := slicer.NewCountQuota(balanced, []slicer.CountQuotaEntry{{Kind: kindIssue, RequireCount: 1, CapCount: 3}})
	if err != nil {
		return nil, err
	}
	return pipeline.New(pipeline.Config{Name: "search", Scorer: about, Slicer: complete, Placer: placer.UShaped{}})
}

// newChooser returns the policy by which the session chooses at a break: what the
// question is about, and what is recent.
func newChooser(question string) (*pipeline.Pipeline, error) {
	about, err := newRelevance(question)
	if err != nil {
		return nil, err
	}
	score, err := scorer.NewComposite(
		scorer.Weighted{Scorer: about, Weight: 1},
		scorer.Weighted{Scorer: scorer.Recency{}, Weight: 2})
	if err != nil {
		return nil, err
	}
	return pipeline.New(pipeline.Config{Name: "window", Scorer: score, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
}

func newRelevance(question string) (*cupelrelevance.Relevance, error) {
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		return nil, err
	}
	return cupelrelevance.New(index, question)
}

// firstLine returns the first line of an item that is no comment.
func firstLine(it *cupel.ContextItem) string {
	lines := strings.Split(it.Content(), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "//") })
	path, _ := it.MetadataValue("path")
	return fmt.Sprintf("%v: %s", path, lines[max(i, 0)])
}
