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
	of strategy.Scorer
	names
}

// referenced is how far a declaration gets toward the score of the best that names it.
const referenced = 0.3

// names are the numbers of what items declare, and of what their texts name.
type names struct {
	declared, inText map[*cupel.ContextItem][]int
	count            int
}

// namesOf reads the texts once, for all questions about them.
func namesOf(items []*cupel.ContextItem) names {
	of := names{declared: make(map[*cupel.ContextItem][]int), inText: make(map[*cupel.ContextItem][]int)}
	type name struct{ folder, symbol string } // without the type
	numbers := make(map[name]int)
	for _, item := range items {
		symbols, _ := item.MetadataText("symbol")
		for symbol := range strings.FieldsSeq(symbols) {
			n := name{folderOf(item), symbol[strings.LastIndexByte(symbol, '.')+1:]}
			if _, known := numbers[n]; !known {
				numbers[n] = len(numbers)
			}
			of.declared[item] = append(of.declared[item], numbers[n])
		}
	}
	of.count = len(numbers)
	for _, item := range items {
		folder := folderOf(item)
		for word := range strings.FieldsFuncSeq(item.Content(), separates) {
			if n, known := numbers[name{folder, word}]; known && !slices.Contains(of.inText[item], n) {
				of.inText[item] = append(of.inText[item], n)
			}
		}
	}
	return of
}

// Score implements [strategy.Scorer]. It takes time linear in the number of names.
func (r references) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := r.of.Score(ctx, items, scores); err != nil {
		return err
	}
	best := make([]float64, r.count) // of the items that have a name in their text
	for i, item := range items {
		for _, n := range r.inText[item] {
			best[n] = max(best[n], scores[i])
		}
	}
	for i, item := range items {
		highest := scores[i]
		for _, n := range r.declared[item] {
			highest = max(highest, best[n])
		}
		scores[i] += float64(referenced * (highest - scores[i]))
	}
	return ctx.Err()
}

// separates reports whether a character is no part of an identifier.
func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

func folderOf(item *cupel.ContextItem) string {
	file, _ := item.MetadataText("path")
	return path.Dir(file)
}
