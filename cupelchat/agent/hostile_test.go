package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// TestHostile holds the preset to the budget, and to whole groups, over
// conversations that are not what it expects.
func TestHostile(t *testing.T) {
	many := func(n int, conversation func(i int) []*cupel.ContextItem) []*cupel.ContextItem {
		var items []*cupel.ContextItem
		for i := range n {
			items = append(items, conversation(i)...)
		}
		return items
	}
	megabytes := 5 << 20
	if testing.Short() {
		megabytes = 1 << 20
	}
	for _, test := range []struct {
		why   string
		items []*cupel.ContextItem
	}{
		{"many exchanges", many(2_500, func(i int) []*cupel.ContextItem {
			return append(exchange(t, fmt.Sprint(i), fmt.Sprintf("get(%d)", i), fmt.Sprint("ok ", i)), message(t, "user", "and?"), message(t, "assistant", fmt.Sprint(i)))
		})},
		{"one message of megabytes without a space", []*cupel.ContextItem{message(t, "user", strings.Repeat("x", megabytes)), message(t, "user", "and?")}},
		{"one result of megabytes of lines", append(exchange(t, "g", "cat(x)", strings.Repeat("a line with words\n", megabytes/18)), message(t, "user", "and?"))},
		{"500 calls at once", manyCalls(t, 500)},
		{"arguments that are not JSON", exchange(t, "g", `edit({"path": "a.go", ]]})`, reservation("R"))},
		{"arguments over several lines", exchange(t, "g", "edit({\n\"path\":\n)", reservation("R"))},
		{"a name with special characters", exchange(t, "g", "files/læs (v2)(a.go)", reservation("R"))},
		{"a name that is empty", exchange(t, "g", "(a.go)", reservation("R"))},
		{"lines that end in CRLF", exchange(t, "g", "Look:\r\nread(a.go)\r\n", strings.ReplaceAll(reservation("R"), ",", ",\r\n"))},
		{"control characters", exchange(t, "g", "read(a\x00.go)", "\x1b[31m\x00\x07"+reservation("R")+"\u2028\ufeff")},
		{"bytes that are no UTF-8", exchange(t, "g", "read(\xff\xfe)", "\xc3\x28"+reservation("R"))},
		{"groups that interleave", many(20, func(i int) []*cupel.ContextItem {
			g := cupel.WithGroup(fmt.Sprint(i % 3))
			return []*cupel.ContextItem{message(t, "assistant", reservation(fmt.Sprint(i)), g, cupel.WithGroupVariants(cupel.Variant{Content: "a call", Tokens: 6, Worth: .1}))}
		})},
		{"everything is pinned", many(5, func(i int) []*cupel.ContextItem {
			return []*cupel.ContextItem{message(t, "user", fmt.Sprint(i), cupel.WithPinned())}
		})},
		{"empty contents", many(5, func(int) []*cupel.ContextItem { return []*cupel.ContextItem{message(t, "user", " \n")} })},
	} {
		all := total(test.items)
		for _, target := range []int{0, 1, all / 4, all - 1} {
			window, report, err := agent.New(quarter{}).RunReport(t.Context(), test.items, budget(t, target))
			if err != nil {
				if test.why != "everything is pinned" {
					t.Errorf("%s, target %d: %v", test.why, target, err)
				}
				continue
			}
			if got := total(window); got > target {
				t.Errorf("%s: %d tokens, want at most %d", test.why, got, target)
			}
			if len(report.Included)+len(report.Excluded) != len(test.items) {
				t.Errorf("%s, target %d: the report has %d items, want %d", test.why, target, len(report.Included)+len(report.Excluded), len(test.items))
			}
		}
	}
}

// TestWhatNotesSay reads notes as the model does, which has not seen the source.
func TestWhatNotesSay(t *testing.T) {
	words := strings.Repeat("Nothing else was found in this place, and there was no answer. ", 20)
	tool := func(name, ids string) cupel.ItemOption {
		return cupel.WithMetadata(map[string]any{"role": "assistant", "tool": name, "tool_call_id": ids})
	}
	result := func(text, id string) *cupel.ContextItem {
		return message(t, "tool", text, cupel.WithGroup("g"), cupel.WithMetadata(map[string]any{"role": "tool", "tool_call_id": id}))
	}
	call := func(text string, opt cupel.ItemOption) *cupel.ContextItem {
		return message(t, "assistant", text, cupel.WithGroup("g"), cupel.WithGroupVariants(cupel.Variant{Content: "a call", Tokens: 6, Worth: .1}), opt)
	}
	for _, test := range []struct {
		items  []*cupel.ContextItem
		target int
		want   string
		why    string
	}{
		{
			[]*cupel.ContextItem{call(`search({"query":"an old and long question about nothing in particular"})`, tool("search", "1")), result(words, "1")},
			14, "[earlier] search(query", "a call whose arguments are left out does not look like one without arguments",
		},
		{
			[]*cupel.ContextItem{call(`list_all({})`, tool("list_all", "1")), result(words, "1")},
			14, "[earlier] list_all({})", "a call without arguments has none",
		},
		{
			[]*cupel.ContextItem{call("read(a.go)\nread(b.go)", tool("read", "1, 2")), result(reservation("RES222"), "2"), result(reservation("RES111"), "1")},
			60, "[earlier] read(a.go)\nreservation_id=RES111", "each result stands after its call",
		},
		{
			[]*cupel.ContextItem{call("print(some, of, these, words)\nread(a/path/that/is/long/enough/to/leave/out.go)", tool("read", "1")), result(words, "1")},
			12, "[earlier] read(a/path", "a line of words that looks like a call, but of no tool, is words",
		},
		{
			[]*cupel.ContextItem{call("files/læs (v2)(a.go)", tool("files/læs (v2)", "1")), result(reservation("RES333"), "1")},
			40, "[earlier] ", "a note begins with its label for all kinds of calls",
		},
	} {
		items := append(test.items, message(t, "user", "And now?"))
		window, _, err := agent.New(quarter{}).RunReport(t.Context(), items, budget(t, test.target+total(items[len(items)-1:])))
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		if got := texts(window); !strings.Contains(got, test.want) {
			t.Errorf("%s: the window is\n%s\nwant %q in it", test.why, got, test.want)
		}
	}
}
