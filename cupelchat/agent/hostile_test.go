package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	megabytes, exchanges := 5<<20, 2_500
	if testing.Short() {
		megabytes, exchanges = 1<<18, 800
	}
	for _, test := range []struct {
		why   string
		items []*cupel.ContextItem
	}{
		{"many exchanges", many(exchanges, func(i int) []*cupel.ContextItem {
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
				assert.Equal(t, "everything is pinned", test.why, "target %d: %v", target, err)
				continue
			}
			assert.LessOrEqual(t, total(window), target, test.why)
			assert.Equal(t, len(test.items), len(report.Included)+len(report.Excluded), "%s, target %d", test.why, target)
		}
	}
}

// TestNoteTexts reads notes as the model does, which has not seen the source.
func TestNoteTexts(t *testing.T) {
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
	facts := "The first is RES111 here.\nThe second is RES222 here.\n" + words
	kept, forms := cupel.WithGroup("kept"), cupel.WithVariants(cupel.Variant{Content: "long form", Tokens: 12, Worth: .5}, cupel.Variant{Content: "form", Tokens: 9, Worth: .3}, cupel.Variant{Content: "f", Tokens: 5, Worth: .1})
	signs := []cupel.ItemOption{cupel.WithGroup("g"), cupel.WithGroupVariants(cupel.Variant{Content: "a call", Tokens: 6, Worth: .1}), cupel.WithVariants(cupel.Variant{Content: "--", Tokens: 5, Worth: .1}), cupel.WithMetadata(map[string]any{"role": "tool", "forms": "own"})}
	own := func(text string) *cupel.ContextItem {
		metadata := cupel.WithMetadata(map[string]any{"role": "tool", "tool_call_id": "1", "forms": "own"})
		return message(t, "tool", text, cupel.WithGroup("g"), metadata, cupel.WithVariants(cupel.Variant{Content: "long form", Tokens: 7, Worth: .5}, cupel.Variant{Content: "f", Tokens: 5, Worth: .1}))
	}
	later := func(context.Context) (string, error) { return "made later", nil }
	about := []*cupel.ContextItem{call("read(a.go)", tool("read", "1")), result(facts, "1")}
	for _, test := range []struct {
		items  []*cupel.ContextItem
		target int
		want   string
		why    string
	}{
		{
			[]*cupel.ContextItem{call(`search({"query":"an old and long question about nothing in particular"})`, tool("search", "1")), result(words, "1")},
			9, "[earlier] search(…)", "a call whose arguments are left out does not look like one without arguments",
		},
		{
			[]*cupel.ContextItem{call(`list_all({})`, tool("list_all", "1")), result(words, "1")},
			14, "[earlier] list_all({})", "a call without arguments has none",
		},
		{
			[]*cupel.ContextItem{call("read(a.go)\nread(b.go)", tool("read", "1, 2")), result("It is RES222.\n"+words, "2"), result("It is RES111.\n"+words, "1")},
			40, "[earlier] read(a.go)\nIt is RES111.\nNothing else was found in this place, and there was no answer. … +1197 bytes\nread(b.go)\nIt is RES222.\n… +1", "each result stands after its call",
		},
		{
			[]*cupel.ContextItem{call("I read.\nread(a.go)\nread(b.go)", tool("read", "")), result("It is RES111.\n"+words, ""), result("It is RES222.\n"+words, "")},
			30, "[earlier] I read.\nread(a.go)\nread(b.go)\nIt is RES111.\nNothing else was … +1243 bytes\nIt is RES222.\n… +1", "without ids, results stand after all calls",
		},
		{
			[]*cupel.ContextItem{call("print(some, of, these, words)\nread(a/path/that/is/long/enough/to/leave/out.go)", tool("read", "1")), result(words, "1")},
			12, "[earlier] read(a/path/that/is/…)", "a line of words that looks like a call, but of no tool, is words",
		},
		{
			[]*cupel.ContextItem{call("files/læs (v2)(a.go)", tool("files/læs (v2)", "1")), result(facts, "1")},
			20, "[earlier] files/læs (v2)(a.go)\nThe first is RES111 here.\n… +2", "a note begins with its label for all kinds of calls",
		},
		{about, 20, "[earlier] read(a.go)\nThe first is RES111 here.\nThe second…\n… +1", "the first name comes first"},
		{append([]*cupel.ContextItem{message(t, "user", "See RES111.", cupel.WithPinned())}, about...), 27, "See RES111.\n[earlier] read(a.go)\n… +1\nThe second is RES222 here.\n… +1", "what a pinned message says is known"},
		{append(about[:2:2], message(t, "user", "RES111?")), 26, "[earlier] read(a.go)\n… +1\nThe second is RES222 here.\n… +1\nRES111?", "so is what a newer message says"},
		{append(about[:2:2], exchange(t, "h", "get(RES111)", "ok")...), 36, "[earlier] read(a.go)\n… +1\nThe second is RES222 here.\nNothing else … +1247 bytes\nget(RES111)\nok", "or an exchange"},
		{append(about[:2:2], exchange(t, "h", "get(b)", "RES111", cupel.WithPinned())...), 36, "[earlier] read(a.go)\n… +1\nThe second is RES222 here.\nNothing else … +1247 bytes\nget(b)\nRES111", "or the result of a pinned one"},
		{append(about[:2:2], exchange(t, "h", "get(b)", strings.Repeat("Seen RES1, ", 40)+facts)...), 60, "[earlier] read(a.go)\nThe first is RES111 here.\nThe second is RES222 here.\n… +1\n[earlier] get(b)\n" + strings.Repeat("Seen RES1, ", 8) + "Seen …\n… +2", "but not what it says after its first tokens"},
		{append(about[:2:2], exchange(t, "h", "read(b.go)", facts)...), 40, "[earlier] read(a.go)\n… +1\nThe second is …\n… +1\n[earlier] read(b.go)\nThe first is RES111 here.\nThe second is RES222 here.\n… +1", "so is what a newer outline will say"},
		{[]*cupel.ContextItem{call("read(a.go)\n"+facts, tool("read", "1"))}, 20, "[earlier] read(a.go)\nThe first is RES111 here.\nThe second…\n… +1", "a call without a result has a note"},
		{[]*cupel.ContextItem{message(t, "user", facts)}, 20, "The first is RES111 here.\nThe second is RES222 here.\n… +1", "a message has no label"},
		{append([]*cupel.ContextItem{message(t, "assistant", "I read.", kept)}, message(t, "tool", facts, kept, forms)), 30, "I read.\nThe first is RES111 here.\nThe second is RES222 here.\nNothing … +1252 bytes", "a result becomes shorter, with forms of its own too"},
		{append([]*cupel.ContextItem{message(t, "assistant", words, kept, forms)}, message(t, "tool", "ok", kept)), 16, "form\nok", "another message takes the largest of its forms that fits"},
		{append(about[:1:1], message(t, "tool", words, cupel.WithGroup("g"), cupel.WithMetadata(map[string]any{"role": "tool", "tool_call_id": "1", "mark": "[image]"}))), 12, "[earlier] read(a.go)\n[image]", "a result has its mark in any case"},
		{[]*cupel.ContextItem{message(t, "user", "Go.", cupel.WithPinned()), message(t, "tool", words, signs...)}, 25, "Go.", "signs alone say nothing"},
		{[]*cupel.ContextItem{message(t, "user", words, cupel.WithMetadata(map[string]any{"role": "user", "fixed": 3}), cupel.WithVariants(cupel.Variant{Make: later, Tokens: 7, Worth: .1}))}, 9, "made later", "a function makes the form of a picture"},
		{[]*cupel.ContextItem{call("read(a.go)", tool("read", "1")), own(words)}, 20, "[earlier] read(a.go)\nlong form", "a note has the forms of a result"},
		{[]*cupel.ContextItem{call("read(a.go)", tool("read", "1")), own(words)}, 10, "[earlier] read(a.go)\nf", "and the smallest one at last"},
		{[]*cupel.ContextItem{call(`write({"said":"`+words+`"})`, tool("write", "1")), message(t, "tool", "ok, it is there", cupel.WithGroup("g"), cupel.WithMetadata(map[string]any{"role": "tool", "mark": "[image]"}))}, 30, "[earlier] write(said: Nothing else was found in this place, and there … +1212 bytes)\nok, it is there", "but not beside the whole of it"},
		{[]*cupel.ContextItem{call(`write({"said":"`+words+`"})`, tool("write", "1")), own("ok, it is there")}, 30, "[earlier] write(said: Nothing else was found in this place, and there … +1212 bytes)\nok, it is there", "and a small result in full"},
		{[]*cupel.ContextItem{message(t, "user", facts), call("read(a.go)", cupel.WithMetadata(map[string]any{"role": "assistant", "tool": "read", "never": true})), result(facts, "")}, 30, "The first is RES111 here.\nThe second is RES222 here.\nNothing else was found in this place, … +1222 bytes", "one message that is never in keeps its exchange out"},
		{[]*cupel.ContextItem{message(t, "user", strings.Repeat("1234567\n", 90))}, 9, "1234567\n… +89", "numbers say something"},
	} {
		items := append(test.items, message(t, "user", "And now?"))
		window, report, err := agent.New(quarter{}).RunReport(t.Context(), items, budget(t, test.target+total(items[len(items)-1:])))
		require.NoError(t, err, test.why)
		for _, e := range report.Included {
			assert.Equal(t, e.Item == items[e.Candidate], e.Form == 0, "%s: candidate %d, %q", test.why, e.Candidate, e.Item.Content())
		}
		assert.Equal(t, test.want+"\nAnd now?\n", texts(window), test.why)
	}
}
