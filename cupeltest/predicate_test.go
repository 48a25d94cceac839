package cupeltest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

func TestPredicates(t *testing.T) {
	item := cupeltest.Item("release notes", 5, cupel.WithKind("Sketch"), cupel.WithTags("new", "long"))
	for _, tt := range []struct {
		name      string
		predicate cupeltest.ItemPredicate
		want      bool
		why       string
	}{
		{"content", cupeltest.ByContent("release notes"), true, "the content is this"},
		{"part of the content", cupeltest.ByContent("release"), false, "the content is longer"},
		{"prefix", cupeltest.ByContentPrefix("release"), true, "it begins with this"},
		{"not a prefix", cupeltest.ByContentPrefix("notes"), false, "it ends with this"},
		{"tag", cupeltest.ByTag("long"), true, "the second tag is this"},
		{"tag in other case", cupeltest.ByTag("Long"), false, "tags keep their case"},
		{"kind", cupeltest.ByKind("sketch"), true, "kinds compare without ASCII case"},
		{"none", nil, false, "no predicate matches nothing"},
	} {
		require.Equal(t, tt.want, tt.predicate.Included(cupel.IncludedItem{Item: item}), "%s: %s", tt.name, tt.why)
		require.False(t, tt.predicate.Included(cupel.IncludedItem{}), tt.name)
	}
}

func TestItems(t *testing.T) {
	require.Equal(t, []*cupel.ContextItem{cupeltest.Item("item 1", 30), cupeltest.Item("item 2", 0)}, cupeltest.Items(30, 0))
}

func TestBuildersPanicOnMistakes(t *testing.T) {
	require.Panics(t, func() { cupeltest.Item("", 1) })
	require.Panics(t, func() { cupeltest.Budget(1, 2) })
}
