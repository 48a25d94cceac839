package cupeltest_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

func TestPredicates(t *testing.T) {
	item := cupeltest.Item("release notes", 5, cupel.WithKind("Sketch"), cupel.WithSource(cupel.SourceRAG), cupel.WithTags("new", "long"),
		cupel.WithGroup("notes"), cupel.WithVersionOf("release"))
	for _, tt := range []struct {
		name      string
		predicate cupeltest.ItemPredicate
		want      bool
		why       string
	}{
		{"content", cupeltest.ByContent("release notes"), true, "the content is this"},
		{"part of the content", cupeltest.ByContent("release"), false, "the content is longer"},
		{"prefix", cupeltest.ByContentPrefix("release"), true, "it begins with this"},
		{"whole as prefix", cupeltest.ByContentPrefix("release notes"), true, "a whole is its own prefix"},
		{"not a prefix", cupeltest.ByContentPrefix("notes"), false, "it ends with this"},
		{"tag", cupeltest.ByTag("long"), true, "the second tag is this"},
		{"part of a tag", cupeltest.ByTag("lon"), false, "tags are compared as a whole"},
		{"tag in other case", cupeltest.ByTag("Long"), false, "tags keep their case"},
		{"kind", cupeltest.ByKind("sketch"), true, "kinds compare without ASCII case"},
		{"other kind", cupeltest.ByKind(cupel.KindMessage), false, "the kind is Sketch"},
		{"source", cupeltest.BySource("RAG"), true, "sources compare without ASCII case"},
		{"other source", cupeltest.BySource(cupel.SourceChat), false, "the source is Rag"},
		{"kind and source", cupeltest.ByKindAndSource("Sketch", cupel.SourceRAG), true, "both are right"},
		{"kind and other source", cupeltest.ByKindAndSource("Sketch", cupel.SourceTool), false, "one is not enough"},
		{"other kind and source", cupeltest.ByKindAndSource(cupel.KindMemory, cupel.SourceRAG), false, "one is not enough"},
		{"group", cupeltest.ByGroup("notes"), true, "the group is this"},
		{"group in other case", cupeltest.ByGroup("Notes"), false, "groups compare byte for byte"},
		{"no group", cupeltest.ByGroup(""), false, "no item has the group without a name"},
		{"version", cupeltest.ByVersionOf("release"), true, "the key is this"},
		{"other version", cupeltest.ByVersionOf("notes"), false, "the key is another"},
		{"no version", cupeltest.ByVersionOf(""), false, "no item has the key without a name"},
		{"none", nil, false, "no predicate matches nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.predicate.Included(cupel.IncludedItem{Item: item}); got != tt.want {
				t.Errorf("Included is %t, but %s", got, tt.why)
			}
			if got := tt.predicate.Excluded(cupel.ExcludedItem{Item: item}); got != tt.want {
				t.Errorf("Excluded is %t, but %s", got, tt.why)
			}
			if tt.predicate != nil && tt.predicate(nil) {
				t.Error("it matches an item that is nil")
			}
		})
	}
}

func TestItems(t *testing.T) {
	items := cupeltest.Items(30, 0)
	if len(items) != 2 || items[0].Content() != "item 1" || items[0].Tokens() != 30 || items[1].Content() != "item 2" || items[1].Tokens() != 0 {
		t.Errorf("Items(30, 0) is %v", items)
	}
	if items := cupeltest.Items(); len(items) != 0 {
		t.Errorf("Items() is %v", items)
	}
}

func TestBuildersPanicOnMistakes(t *testing.T) {
	for name, build := range map[string]func(){
		"item without content":        func() { cupeltest.Item("", 1) },
		"item with a blank kind":      func() { cupeltest.Item("a", 1, cupel.WithKind(" ")) },
		"target above the ceiling":    func() { cupeltest.Budget(1, 2) },
		"reserve larger than allowed": func() { cupeltest.Budget(1, 1, cupel.WithOutputReserve(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(error); !ok {
					t.Error("no error was panicked with")
				}
			}()
			build()
		})
	}
}
