package cupeltest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupeltest"
)

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
