package repocontext

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

func newItem(t *testing.T, kind cupel.ContextKind, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	t.Helper()
	it, err := cupel.NewContextItem(fmt.Sprintf("%s %p", kind, t), tokens, append(opts, cupel.WithKind(kind))...)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// candidates are many items of code that the question speaks about, and a few
// of the other kinds that it does not.
func candidates(t *testing.T, question string) []*cupel.ContextItem {
	t.Helper()
	items, err := Conversation(question, nil)
	if err != nil {
		t.Fatal(err)
	}
	add := func(kind cupel.ContextKind, number, tokens int, tags ...string) {
		for i := range number {
			it, err := cupel.NewContextItem(fmt.Sprintf("%s %d", kind, i), tokens, cupel.WithKind(kind), cupel.WithTags(tags...),
				cupel.WithTimestamp(fileTime.Add(time.Duration(i)*time.Hour)))
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, it)
		}
	}
	add(KindCode, 300, 100, "Quota")
	add(cupel.KindDocument, 5, 120)
	add(cupel.KindMemory, 5, 60)
	add(cupel.KindToolOutput, 2, 40)
	return items
}

func window(t *testing.T, question string, items []*cupel.ContextItem, maxTokens, target, reserve int) []*cupel.ContextItem {
	t.Helper()
	pipeline, err := NewPipeline(question, items)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := cupel.NewContextBudget(maxTokens, target, cupel.WithOutputReserve(reserve))
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := pipeline.Run(t.Context(), items, budget)
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

func TestNoKindStarves(t *testing.T) {
	const question = "What is a quota?"
	items := candidates(t, question)
	chosen := window(t, question, items, 5000, 4000, 1000)
	tokens := make(map[cupel.ContextKind]int)
	total := 0
	for _, it := range chosen {
		tokens[it.Kind()] += it.Tokens()
		total += it.Tokens()
	}
	for _, s := range shares {
		if tokens[s.kind] == 0 {
			t.Errorf("no %s is in the window", s.kind)
		}
	}
	if total > 4000 || total < 3600 {
		t.Errorf("the window has %d tokens of 4000", total)
	}
	if tokens[KindCode] < 2000 {
		t.Errorf("code has %d tokens, less than its share", tokens[KindCode])
	}
	if first, last := chosen[0], chosen[len(chosen)-1]; first.Kind() != cupel.KindSystemPrompt || last.Kind() != cupel.KindMessage {
		t.Errorf("the window begins with a %s and ends with a %s, want the system prompt and the question", first.Kind(), last.Kind())
	}
}

func TestWindowOfAnySize(t *testing.T) {
	const question = "What is a quota?"
	items := candidates(t, question)
	pinned := items[0].Tokens() + items[1].Tokens()
	for target := pinned; target < pinned+3000; target += 37 {
		total := 0
		for _, it := range window(t, question, items, target+500, target, 500) {
			total += it.Tokens()
		}
		if total > target {
			t.Errorf("%d tokens in a window of %d", total, target)
		}
	}
}

func TestWindowOfWhatThereIs(t *testing.T) {
	for _, tt := range []struct {
		name, why, question string
		items               func(all []*cupel.ContextItem) []*cupel.ContextItem
	}{
		{"nothing", "not even a system prompt", "", func([]*cupel.ContextItem) []*cupel.ContextItem { return nil }},
		{"conversation alone", "an empty folder", "Why?", func(all []*cupel.ContextItem) []*cupel.ContextItem { return all[:2] }},
		{"one kind", "documents without code, and nothing that the question names", "Why?", func(all []*cupel.ContextItem) []*cupel.ContextItem { return all[302:307] }},
		{"no question", "nothing to weigh tags by", "", func(all []*cupel.ContextItem) []*cupel.ContextItem { return all }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			items := tt.items(candidates(t, tt.question+"?"))
			chosen := window(t, tt.question, items, 100_000, 100_000, 0)
			if len(chosen) != len(items) {
				t.Errorf("%d of %d items, though all fit: %s", len(chosen), len(items), tt.why)
			}
		})
	}
}

func TestMissingKindsLeaveTheirShares(t *testing.T) {
	for _, kind := range []cupel.ContextKind{KindCode, cupel.KindDocument, cupel.KindMemory, cupel.KindToolOutput} {
		var items []*cupel.ContextItem
		for i := range 200 {
			it, err := cupel.NewContextItem(fmt.Sprint(i), 10, cupel.WithKind(kind))
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, it)
		}
		if n := len(window(t, "", items, 1000, 1000, 0)); n != 100 {
			t.Errorf("%d items of 10 tokens of kind %s fill a window of 1000, want 100", n, kind)
		}
	}
}

func TestKinds(t *testing.T) {
	var items []*cupel.ContextItem
	for _, kind := range []cupel.ContextKind{"Zebra", cupel.KindMemory, "Apple", KindCode, cupel.KindMessage, "Apple", KindCode} {
		items = append(items, newItem(t, kind, 1))
	}
	want := []cupel.ContextKind{cupel.KindMessage, KindCode, cupel.KindMemory, "Apple", "Zebra"}
	if got := Kinds(items); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Kinds(nil); len(got) != 0 {
		t.Errorf("%q of no items", got)
	}
}
