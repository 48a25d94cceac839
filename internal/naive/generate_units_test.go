package naive_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// unitOptions gives an item a group, smaller forms and a version key, or some of
// it. Few names make large groups and many versions.
func (g *generator) unitOptions(content string, tokens int) []cupel.ItemOption {
	var opts []cupel.ItemOption
	if g.rarely(2) {
		opts = append(opts, cupel.WithGroup(pick(g.source, "call 1", "call 2", "call 3", "call 4")))
		if g.rarely(3) {
			opts = append(opts, cupel.WithGroupVariants(g.variants("note on "+content, 120)...))
		}
	}
	if g.rarely(3) {
		opts = append(opts, cupel.WithVersionOf(pick(g.source, "file a", "file b", "file c")))
	}
	if tokens > 0 && g.below(3) > 0 {
		opts = append(opts, cupel.WithVariants(g.variants("outline of "+content, tokens)...))
	}
	return opts
}

// variants are up to three forms of fewer tokens than the limit.
func (g *generator) variants(content string, limit int) []cupel.Variant {
	var list []cupel.Variant
	for i := range 1 + g.below(3) {
		v := cupel.Variant{
			Tokens: g.below(min(limit, 256)),
			Worth:  pick(g.source, 0.5, 0.25, 0.75, 0.1, 0.9, 0.3, 0.6, 1e-300, 0.999),
		}
		if g.rarely(3) {
			v.Tokens = limit / 2
		}
		text := fmt.Sprintf("%s, %d", content, i)
		switch {
		case !g.rarely(6):
			v.Content = text
		case g.rarely(24):
			v.Make = func(context.Context) (string, error) { return "", errors.New("no text") }
		default:
			v.Make = func(context.Context) (string, error) { return text, nil }
		}
		list = append(list, v)
	}
	return list
}

func (g *generator) diverse() naive.Diverse {
	if g.flaw() {
		return naive.Diverse{From: pick(g.source, 1.5, -0.1, math.NaN(), math.Inf(1))}
	}
	return naive.Diverse{From: pick(g.source, 0, 0.1, 0.5, 0.8, 1, 5e-324)}
}

// addAlikeTexts adds texts that share pairs of words, mostly under a slicer that
// compares them.
func (g *generator) addAlikeTexts(c *testCase) {
	if !g.rarely(6) {
		c.config.Slicer = g.diverse()
		if g.rarely(4) {
			c.config.Slicer = naive.CountQuota{Entries: g.countEntries(), Inner: c.config.Slicer}
		}
	}
	for range 2 + g.below(7) {
		opts := []cupel.ItemOption{cupel.WithFutureRelevanceHint(g.score())}
		tokens := pick(g.source, 40, 10, 0, 60, 25, 400)
		if g.rarely(4) {
			opts = append(opts, g.unitOptions("alike", tokens)...)
		}
		if g.rarely(9) {
			opts = append(opts, cupel.WithPinned())
		}
		at := g.below(len(c.items) + 1)
		c.items = slices.Insert(c.items, at, must(cupel.NewContextItem(g.alikeText(), tokens, opts...)))
	}
}

// alikeText is a text of 5 to 24 words out of few.
func (g *generator) alikeText() string {
	words := strings.Fields("the ferry moves to the eastern pier on the first of May and so do I")
	words = words[:pick(g.source, len(words), 7, 8, 5, 12)]
	for range g.below(4) {
		at := g.below(len(words))
		words[at] = pick(g.source, "western", "b z", "m e", "PIER", "the", "snake_case", "水天カモ", "ÄRGER", "ärger", "1", "--")
	}
	if g.rarely(4) {
		words = append(words, words[:g.below(len(words))+1]...)
	}
	text := strings.Join(words, pick(g.source, " ", ", ", "_", "\xff", "\n"))
	if g.rarely(6) {
		text = strings.ToUpper(text)
	}
	return text
}

// copyOfGroup returns the contents of a group again, in another one.
func (g *generator) copyOfGroup(items []*cupel.ContextItem) []*cupel.ContextItem {
	var copies []*cupel.ContextItem
	for _, it := range items {
		if it.Group() != "call 1" || it.Pinned() {
			continue
		}
		opts := []cupel.ItemOption{cupel.WithGroup("call 1 again"), cupel.WithKind(it.Kind()), cupel.WithFutureRelevanceHint(g.score())}
		if it.Tokens() > 0 && g.rarely(2) {
			opts = append(opts, cupel.WithVariants(g.variants("again", it.Tokens())...))
		}
		if it.VersionOf() != "" && g.rarely(2) {
			opts = append(opts, cupel.WithVersionOf(it.VersionOf()))
		}
		copies = append(copies, must(cupel.NewContextItem(it.Content(), it.Tokens(), opts...)))
	}
	return copies
}

// halves is a slicer that takes every third item in full, of the others every
// second in a smaller form, and drops some.
func halves(leftOver bool) naive.CustomSlicer {
	reason := cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, cupel.ReasonData{Kind: "Message", Cap: 1, Count: 1})
	return naive.CustomSlicer{LeftOver: leftOver, Choose: func(_ []cupel.ScoredItem, forms []int) strategy.Selection {
		var s strategy.Selection
		for i, n := range forms {
			switch {
			case i%3 == 0:
				s.Indices = append(s.Indices, i)
			case i%8 == 4:
				s.Drops = append(s.Drops, strategy.Drop{Index: i, Reason: reason})
			case i%2 == 1 && n > 0:
				s.Smaller = append(s.Smaller, strategy.SmallerForm{Index: i, Form: 1 + i%n})
			}
		}
		return s
	}}
}
