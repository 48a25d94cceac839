package cupelchat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// definition is the definition of a tool: its name, and its share of the tokens of all.
type definition struct {
	name   string
	tokens int
}

// define finds the definitions in a member of a request, by the names that they have in
// the formats. Their tokens are shares of those of the member, by their bytes.
func (e *entry) define(v rawjson.Value) {
	total := len(v.Raw())
	var find func(v rawjson.Value)
	find = func(v rawjson.Value) {
		for _, name := range []string{"toolSpec", "function"} {
			if o, err := v.Object(""); err == nil && o.Get(name).IsObject() {
				v = o.Get(name)
			}
		}
		o, err := v.Object("")
		if err == nil && o.Get("name").IsString() {
			e.tools = append(e.tools, definition{o.Get("name").String(), e.tokens * len(v.Raw()) / total})
			return
		}
		for _, list := range []rawjson.Value{v, o.Get("tools"), o.Get("functionDeclarations"), o.Get("function_declarations")} {
			for _, part := range list.Elements() {
				find(part.Value)
			}
		}
	}
	find(v)
}

// noteDefinitions says which definitions of tools are the largest, if all take more than
// a quarter of a budget.
func (n *notesOf) noteDefinitions(c *Conversation, limit int) {
	var all []definition
	tokens := 0
	for i := range c.entries {
		if e := &c.entries[i]; e.role == "tools" {
			all, tokens = append(all, e.tools...), add(tokens, e.tokens)
		}
	}
	const share, most = 4, 3
	if tokens <= limit/share || len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b definition) int { return cmp.Compare(b.tokens, a.tokens) })
	var largest []string
	for _, d := range all[:min(most, len(all))] {
		largest = append(largest, fmt.Sprintf("%s (%s)", d.name, english.Grouped(d.tokens)))
	}
	n.note("the definitions of %s take %s of %s; the largest: %s", english.Count(len(all), "tool"), english.Grouped(tokens), english.Count(limit, "token"), strings.Join(largest, ", "))
}
