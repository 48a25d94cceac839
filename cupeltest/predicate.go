package cupeltest

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// ItemPredicate is a predicate on items. ExcludeItemMatchingWithReason and
// ExcludeItemWithBudgetDetails take it as a func(*cupel.ContextItem) bool; the
// other assertions take its method Included:
//
//	IncludeItemMatching(cupeltest.ByTag("urgent").Included)
//	ExcludeItemMatchingWithReason(cupeltest.ByTag("urgent"), cupel.ExcludeBudgetExceeded)
type ItemPredicate func(item *cupel.ContextItem) bool

// Included applies the predicate to the item of an included entry.
func (p ItemPredicate) Included(entry cupel.IncludedItem) bool { return p != nil && p(entry.Item) }

// ByContent matches items with exactly this content.
func ByContent(content string) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return item.Content() == content }
}

// ByContentPrefix matches items whose content begins with prefix.
func ByContentPrefix(prefix string) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return strings.HasPrefix(item.Content(), prefix) }
}

// ByTag matches items that have exactly this tag, among others or alone.
func ByTag(tag string) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return slices.Contains(item.Tags(), tag) }
}

// ByKind matches items of a kind, under ASCII case folding.
func ByKind(kind cupel.ContextKind) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return item.Kind().Equal(kind) }
}
