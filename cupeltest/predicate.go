package cupeltest

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// ItemPredicate is a question about an item. It is a func(*cupel.ContextItem)
// bool, as ExcludeItemMatchingWithReason and ExcludeItemWithBudgetDetails take
// it; its methods are the question as the others take it:
//
//	IncludeItemMatching(cupeltest.ByTag("urgent").Included)
//	ExcludeItemMatchingWithReason(cupeltest.ByTag("urgent"), cupel.ExcludeBudgetExceeded)
type ItemPredicate func(item *cupel.ContextItem) bool

// Included asks about the item of an included entry.
func (p ItemPredicate) Included(entry cupel.IncludedItem) bool { return p != nil && p(entry.Item) }

// Excluded asks about the item of an excluded entry, for use with the report's
// list: slices.ContainsFunc(report.Excluded, cupeltest.ByTag("old").Excluded).
func (p ItemPredicate) Excluded(entry cupel.ExcludedItem) bool { return p != nil && p(entry.Item) }

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

// ByGroup asks for items of exactly this group. It finds the items of a group in
// smaller forms too, whose contents are others.
func ByGroup(group string) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return group != "" && item.Group() == group }
}

// ByVersionOf asks for items with exactly this version key.
func ByVersionOf(key string) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return key != "" && item.VersionOf() == key }
}

// ByKind asks for items of a kind, without regard to ASCII case.
func ByKind(kind cupel.ContextKind) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return item.Kind().Equal(kind) }
}

// BySource asks for items from a source, without regard to ASCII case.
func BySource(source cupel.ContextSource) ItemPredicate {
	return func(item *cupel.ContextItem) bool { return item.Source().Equal(source) }
}

// ByKindAndSource asks for items of a kind from a source, without regard to
// ASCII case.
func ByKindAndSource(kind cupel.ContextKind, source cupel.ContextSource) ItemPredicate {
	return func(item *cupel.ContextItem) bool {
		return item.Kind().Equal(kind) && item.Source().Equal(source)
	}
}
