package main

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// references raises the scores of declarations that good ones of the same folder name:
// who asks for one often needs what it calls, which may share no word with the question.
type references struct {
	of    strategy.Scorer
	named named
}

// referenced is how far a declaration gets toward the score of the best that names it.
const referenced = 0.3

// name is what a declaration of a folder is called, without its type.
type name struct{ folder, symbol string }

// named are the names in the texts of items, of declarations of their folders.
type named map[*cupel.ContextItem][]name

// namedBy reads the texts once, for all questions about them.
func namedBy(items []*cupel.ContextItem) named {
	declared := make(map[name]bool)
	for _, item := range items {
		for _, n := range namesOf(item) {
			declared[n] = true
		}
	}
	all := make(named, len(items))
	for _, item := range items {
		folder := folderOf(item)
		for word := range strings.FieldsFuncSeq(item.Content(), separates) {
			if n := (name{folder, word}); declared[n] && !slices.Contains(all[item], n) {
				all[item] = append(all[item], n)
			}
		}
	}
	return all
}

// Score implements [strategy.Scorer]. It takes time linear in the number of names.
func (r references) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := r.of.Score(ctx, items, scores); err != nil {
		return err
	}
	best := make(map[name]float64) // of the items that have a name in their text
	for i, item := range items {
		for _, n := range r.named[item] {
			best[n] = max(best[n], scores[i])
		}
	}
	for i, item := range items {
		highest := scores[i]
		for _, declared := range namesOf(item) {
			highest = max(highest, best[declared])
		}
		scores[i] += float64(referenced * (highest - scores[i]))
	}
	return ctx.Err()
}

// separates reports whether a character is no part of an identifier.
func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// namesOf returns the names of the declarations of an item.
func namesOf(item *cupel.ContextItem) (names []name) {
	symbols, _ := item.MetadataText("symbol")
	for symbol := range strings.FieldsSeq(symbols) {
		names = append(names, name{folderOf(item), symbol[strings.LastIndexByte(symbol, '.')+1:]})
	}
	return names
}

func folderOf(item *cupel.ContextItem) string {
	file, _ := item.MetadataText("path")
	return path.Dir(file)
}
