package cupelchat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// definition is the definition of a tool in a request: its name, its JSON, and its
// share of the tokens of all.
type definition struct {
	name, text string
	tokens     int
}

// WithTools leaves out definitions of tools. keep gets the user's first message, and the names of the tools with
// their definitions in JSON, and returns the tools that the request keeps. Tools that were called stay. The
// choice depends on the task alone. It is therefore the same in each turn, so that the provider's cache finds the
// beginning of the request. The function Tools of package cupelrelevance makes such a function. A request that
// loses definitions is read twice.
func WithTools(keep func(task string, names, definitions []string) []bool) Option {
	return func(s *settings) error {
		s.keepTools = keep
		return nil
	}
}

// define finds the definitions in a member of a request. Their tokens are shares of those
// of the member, by their bytes.
func (e *entry) define(v rawjson.Value) {
	total := len(v.Raw())
	eachDefinition(v, nil, func(name string, v rawjson.Value) (gone bool) {
		e.tools = append(e.tools, definition{name, string(v.Raw()), e.tokens * len(v.Raw()) / total})
		return false
	})
}

// eachDefinition visits the definitions in a member of a request, by the names that they
// have in the formats, and removes those that are gone. It reports whether nothing is
// left.
func eachDefinition(v rawjson.Value, edits *rawjson.Edits, visit func(name string, v rawjson.Value) (gone bool)) (gone bool) {
	inner := v
	for _, name := range []string{"toolSpec", "function"} {
		if o, err := v.Object(""); err == nil && o.Get(name).IsObject() {
			inner = o.Get(name)
		}
	}
	o, err := inner.Object("")
	if err == nil && o.Get("name").IsString() {
		return visit(o.Get("name").String(), v)
	}
	for _, list := range []rawjson.Value{v, o.Get("tools"), o.Get("functionDeclarations"), o.Get("function_declarations")} {
		parts := list.Elements()
		if len(parts) == 0 {
			continue
		}
		left := make([]bool, len(parts))
		for i, part := range parts {
			left[i] = !eachDefinition(part.Value, edits, visit)
		}
		if !slices.Contains(left, true) {
			return true
		}
		if edits != nil {
			edits.Drop(parts, func(i int) bool { return !left[i] })
		}
	}
	return false
}

// definitions returns the definitions of tools, and the tokens of all.
func (c *Conversation) definitions() (all []definition, tokens int) {
	for i := range c.entries {
		if e := &c.entries[i]; e.role == "tools" {
			all, tokens = append(all, e.tools...), add(tokens, e.tokens)
		}
	}
	return all, tokens
}

// withTools returns the body with the definitions that the task needs, or nil if that
// has all.
func (c *Conversation) withTools() (body []byte, notes []string) {
	task := ""
	called := map[string]bool{}
	var names, texts []string
	for i := range c.entries {
		e := &c.entries[i]
		for _, name := range e.names {
			called[name] = true
		}
		if text, _ := e.said(); task == "" && e.asks {
			task = text
		}
	}
	tools, _ := c.definitions()
	if len(tools) == 0 {
		return nil, nil
	}
	for _, d := range tools {
		names, texts = append(names, d.name), append(texts, d.text)
	}
	keep := c.keepTools(task, names, texts)
	edits, next, gone, tokens := &rawjson.Edits{}, 0, 0, 0
	for i := range c.entries {
		if c.entries[i].role != "tools" {
			continue
		}
		member := c.messageOf(i).raw
		empty := eachDefinition(member.Value, edits, func(name string, _ rawjson.Value) bool {
			at := next
			next++
			if called[name] || at >= len(keep) || keep[at] {
				return false
			}
			gone, tokens = gone+1, tokens+tools[at].tokens
			return true
		})
		if empty { // the API wants no empty list, and no choice of none
			names := []string{member.Name, "tool_choice", "parallel_tool_calls", "toolConfig", "tool_config"}
			edits.Drop(c.body.Members, func(k int) bool { return slices.Contains(names, c.body.Members[k].Name) })
		}
	}
	if gone == 0 {
		return nil, nil
	}
	note := fmt.Sprintf("left out the definitions of %s (%s), which the task does not need", english.Plural(gone, "tool"), english.Plural(tokens, "token"))
	return edits.Outer(rawjson.Whole(c.value)), []string{note}
}

// noteDefinitions names the largest definitions of tools, if all together take more than
// a quarter of a budget.
func (n *notesOf) noteDefinitions(c *Conversation, limit int) {
	all, tokens := c.definitions()
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
