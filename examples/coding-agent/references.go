package main

import (
	"context"
	"path"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// references raises the scores of declarations that good ones of the same folder name:
// who asks for one often needs what it calls, which may share no word with the question.
type references struct {
	of strategy.Scorer
}

// referenced is how much the best of those that name a declaration counts beside it.
const referenced = 0.3

// name is what a declaration of a folder is called, without its type.
type name struct{ folder, symbol string }

// mentions are the highest scores of the items that have a name in their text.
type mentions struct {
	first, second float64
	last          int // item, from 1
}

// Score implements [strategy.Scorer]. It takes time linear in the text.
func (r references) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := r.of.Score(ctx, items, scores); err != nil {
		return err
	}
	found := make(map[name]*mentions)
	for _, item := range items {
		for _, declared := range namesOf(item) {
			found[declared] = &mentions{}
		}
	}
	for i, item := range items {
		folder := folderOf(item)
		for word := range strings.FieldsFuncSeq(item.Content(), separates) {
			if m := found[name{folder, word}]; m != nil && m.last != i+1 {
				m.last = i + 1
				m.first, m.second = max(m.first, scores[i]), max(m.second, min(m.first, scores[i]))
			}
		}
	}
	for i, item := range items {
		best := 0.0
		for _, declared := range namesOf(item) {
			m := found[declared]
			if m.first == scores[i] { // its own
				best = max(best, m.second)
			} else {
				best = max(best, m.first)
			}
		}
		scores[i] = (scores[i] + float64(referenced*best)) / (1 + referenced)
	}
	return ctx.Err()
}

// separates reports whether a character is no part of an identifier.
func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// namesOf returns the names of the declarations of an item.
func namesOf(item *cupel.ContextItem) (names []name) {
	symbols, _ := item.MetadataValue("symbol")
	all, _ := symbols.(string)
	for symbol := range strings.FieldsSeq(all) {
		names = append(names, name{folderOf(item), symbol[strings.LastIndexByte(symbol, '.')+1:]})
	}
	return names
}

func folderOf(item *cupel.ContextItem) string {
	file, _ := item.MetadataValue("path")
	text, _ := file.(string)
	return path.Dir(text)
}
