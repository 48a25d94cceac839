package cupeltest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupeltest"
)

func TestNegativeLinks(t *testing.T) {
	check(t, []assertion{
		{"no secret", "nothing included matches", four(), func(c *chain) *chain { return c.IncludeNoItemMatching(cupeltest.ByTag("secret").Included) }, ""},
		{"a secret", "all four are included", two(), func(c *chain) *chain {
			return c.IncludeNoItemMatching(func(cupel.IncludedItem) bool { return true })
		}, "IncludeNoItemMatching failed: 4 of 4 included item(s) matched the predicate."},
		{"no predicate", "a mistake in the test", two(), func(c *chain) *chain { return c.IncludeNoItemMatching(nil) }, "IncludeNoItemMatching failed: the predicate is nil."},
		{"nothing lost", "nothing excluded matches", four(), func(c *chain) *chain { return c.ExcludeNoItemMatching(cupeltest.ByTag("urgent")) }, ""},
		{"lost", "two tool outputs are out", four(), func(c *chain) *chain { return c.ExcludeNoItemMatching(cupeltest.ByKind(cupel.KindToolOutput)) }, "ExcludeNoItemMatching failed: 2 of 4 excluded item(s) matched the predicate."},
		{"no item predicate", "a mistake in the test", two(), func(c *chain) *chain { return c.ExcludeNoItemMatching(nil) }, "ExcludeNoItemMatching failed: the predicate is nil."},
	})
}

func TestSatisfy(t *testing.T) {
	odd := errors.New("odd\nlines")
	with := func(check func(*report) error) func(c *chain) *chain {
		return func(c *chain) *chain { return c.Satisfy("half is code", check) }
	}
	check(t, []assertion{
		{"holds", "no error", two(), with(func(r *report) error { return nil }), ""},
		{"fails", "the error is in the first line", two(), with(func(*report) error { return odd }), `Satisfy(half is code) failed: odd\nlines.`},
		{"nil", "a mistake in the test", two(), with(nil), "Satisfy(half is code) failed: the check is nil."},
	})
	r := two()
	if err := with(func(*report) error { return odd })(cupeltest.That(&r)).Err(); !errors.Is(err, odd) {
		t.Errorf("%v does not wrap the error of the check", err)
	}
}

func TestKeepGroupsWhole(t *testing.T) {
	member := func(content, group string) *cupel.ContextItem {
		return cupeltest.Item(content, 1, cupel.WithGroup(group))
	}
	apart := report{Included: []cupel.IncludedItem{{Item: member("a", "g")}, {Item: cupeltest.Item("b", 1)}, {Item: member("c", "g")}}}
	twice := report{
		Included: []cupel.IncludedItem{{Item: member("a", "g")}, {Item: member("b", "h")}},
		Excluded: []cupel.ExcludedItem{{Item: member("c", "h")}, {Item: member("d", "g")}},
	}
	whole := func(c *chain) *chain { return c.KeepGroupsWhole() }
	check(t, []assertion{
		{"none", "there are no groups", four(), whole, ""},
		{"apart", "places do not count", apart, whole, ""},
		{"two split", "the first of those that are out is shown", twice, whole, `KeepGroupsWhole failed: 2 group(s) are split. Group "h" has 1 included and 1 excluded item(s).`},
		{"split", "one item of the group is out", *splitReport(), whole, `KeepGroupsWhole failed: 1 group(s) are split. Group "g" has 1 included and 1 excluded item(s).`},
	})
}

func TestPrefixKept(t *testing.T) {
	window := cupeltest.Conversation(cupeltest.System("Be brief."), cupeltest.User("Why?"), cupeltest.Tool("go build", "undefined: x"))
	copied := cupeltest.Conversation(cupeltest.System("Be brief."), cupeltest.User("Why?"), cupeltest.Tool("go build", "undefined: x"), cupeltest.User("And now?"))
	moved := slices.Clone(copied)
	moved[1], moved[2] = moved[2], moved[1]
	other := slices.Clone(copied)
	other[0] = cupeltest.Item("Be brief.", 3)
	far := []*cupel.ContextItem{window[0], window[2], window[3], window[1]}
	from := slices.Clone(copied)
	from[1] = cupeltest.Item("Why?", 1, cupel.WithSource(cupel.SourceTool))
	twice := []*cupel.ContextItem{window[0], window[0]}
	for _, row := range []struct {
		why           string
		before, after []*cupel.ContextItem
		want          string
	}{
		{"the same", window, window, ""},
		{"more at the end, from other items with the same contents", window, copied, ""},
		{"nothing before", nil, window, ""},
		{"the end is gone", window, window[:3], "PrefixKept failed: the windows part at index 3 of 4, and 3 of 9 tokens come after it.\n\tbefore: \"undefined: x\" (ToolOutput, Tool, 3 tokens)\n\tafter: nothing; it has 3 items"},
		{"an item moved", window, moved, "PrefixKept failed: the windows part at index 1 of 4, and 6 of 9 tokens come after it.\n\tbefore: \"Why?\" (Message, Chat, 1 tokens)\n\tafter: \"go build\" (ToolOutput, Tool, 2 tokens)\n\tthe item of before is now at index 2"},
		{"an item moved further", window, far, "PrefixKept failed: the windows part at index 1 of 4, and 6 of 9 tokens come after it.\n\tbefore: \"Why?\" (Message, Chat, 1 tokens)\n\tafter: \"go build\" (ToolOutput, Tool, 2 tokens)\n\tthe item of before is now at index 3"},
		{"another source is another prompt", window, from, "PrefixKept failed: the windows part at index 1 of 4, and 6 of 9 tokens come after it.\n\tbefore: \"Why?\" (Message, Chat, 1 tokens)\n\tafter: \"Why?\" (Message, Tool, 1 tokens)"},
		{"an equal item that stays is not the one", twice, window, "PrefixKept failed: the windows part at index 1 of 2, and 3 of 6 tokens come after it.\n\tbefore: \"Be brief.\" (SystemPrompt, Chat, 3 tokens)\n\tafter: \"Why?\" (Message, Chat, 1 tokens)"},
		{"another kind is another prompt", window, other, "PrefixKept failed: the windows part at index 0 of 4, and 9 of 9 tokens come after it.\n\tbefore: \"Be brief.\" (SystemPrompt, Chat, 3 tokens)\n\tafter: \"Be brief.\" (Message, Chat, 3 tokens)"},
	} {
		s := watch(func(t cupeltest.T) { cupeltest.PrefixKept(t, row.before, row.after) })
		if got := strings.Join(s.messages, "\n"); got != row.want || s.stopped {
			t.Errorf("%s:\n%s\nwant\n%s", row.why, got, row.want)
		}
	}
}

func TestConversation(t *testing.T) {
	items := cupeltest.Conversation(
		cupeltest.System("Be brief."), cupeltest.User("Why?", cupel.WithTags("first")),
		cupeltest.Tool("go build", "undefined: x"), cupeltest.Tool("go vet", "ok"), cupeltest.Assistant("x is missing."),
	)
	if len(items) != 7 || !items[0].Pinned() || items[0].Kind() != cupel.KindSystemPrompt || items[1].NumTags() != 1 || items[2].Kind() != cupel.KindToolOutput {
		t.Fatalf("got %v", items)
	}
	if items[2].Group() != items[3].Group() || items[2].Group() == "" || items[4].Group() == items[2].Group() || items[5].Tokens() != 1 || items[0].Tokens() != 3 {
		t.Errorf("groups and tokens are wrong: %v", items)
	}
	var roles []string
	var last time.Time
	for _, item := range items {
		role, _ := item.MetadataText("role")
		roles = append(roles, role)
		at, ok := item.Timestamp()
		if !ok || at.Before(last) {
			t.Errorf("%v is before the item before it", item)
		}
		last = at
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool assistant tool assistant" {
		t.Errorf("the roles are %s", got)
	}
}

// A run gives the report and the window in one call.
func TestRun(t *testing.T) {
	items := deskItems()
	r, window := cupeltest.Run(t, newPipeline(t, pipeline.Config{}), items, cupeltest.Budget(90, 90))
	if len(window) != len(r.Included) || len(window) != 4 || window[0] != r.Included[0].Item {
		t.Errorf("the window is %v, the report %v", window, r)
	}
	pipeline := newPipeline(t, pipeline.Config{})
	s := watch(func(t cupeltest.T) {
		cupeltest.Run(t, pipeline, []*cupel.ContextItem{cupeltest.Item("x", 9, cupel.WithPinned())}, cupeltest.Budget(5, 5))
	})
	if len(s.messages) != 1 || !strings.HasPrefix(s.messages[0], "Run failed: cupel: Pinned items require 9 tokens") || !s.stopped {
		t.Errorf("a failing run is reported as %q", s.messages)
	}
}
