package cupeltest

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// ItemPredicate is a question about an item. It is a func(*cupel.ContextItem)
// bool, as ExcludeItemMatchingWithReason and ExcludeItemWithBudgetDetails take
// it; its method Included is the question as the others take it:
//
//	IncludeItemMatching(cupeltest.ByTag("urgent").Included)
//	ExcludeItemMatchingWithReason(cupeltest.ByTag("urgent"), cupel.ExcludeBudgetExceeded)
type ItemPredicate func(item *cupel.ContextItem) bool

// Included asks about the item of an included entry.
func (p ItemPredicate) Included(entry cupel.IncludedItem) bool { return p != nil && p(entry.Item) }

// ByContent asks for items with exactly this content.
func ByContent(content string) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return item.Content() == content }
}

// ByContentPrefix asks for items whose content begins with prefix.
func ByContentPrefix(prefix string) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return strings.HasPrefix(item.Content(), prefix) }
}

// ByTag asks for items that have exactly this tag, among others or alone.
func ByTag(tag string) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return slices.Contains(item.Tags(), tag) }
}

// ByKind asks for items of a kind, without regard to ASCII case.
func ByKind(kind cupel.ContextKind) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return item.Kind().Equal(kind) }
}
