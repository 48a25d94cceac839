package cupelchat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// KindTools is the kind of the item for the tool definitions of a request. It is
// always pinned, because they are always sent.
const KindTools cupel.ContextKind = "ToolDefinitions"

// makeItems makes an item for each entry, or takes it from an earlier conversation.
func (c *Conversation) makeItems(earlier *Conversation) error {
	pins, err := c.pins()
	if err != nil {
		return err
	}
	c.fillTimes()
	c.opened = c.open()
	c.items = make([]*cupel.ContextItem, len(c.entries))
	for g, group := range c.groups {
		if c.takeItems(earlier, g, pins) {
			continue
		}
		for _, i := range group {
			if c.items[i], err = c.makeItem(i, pins[i]); err != nil {
				return err
			}
		}
		if err := c.addNotes(g, pins); err != nil {
			return err
		}
	}
	return nil
}

func (c *Conversation) makeItem(i int, pinned bool) (*cupel.ContextItem, error) {
	e := &c.entries[i]
	m := &c.messages[e.message]
	group := c.group(i)
	kind, source, origin := cupel.KindMessage, cupel.SourceChat, e.role
	switch {
	case e.role == "tools":
		kind, source, origin = KindTools, cupel.SourceTool, "tool"
	case e.tool:
		kind, source = cupel.KindToolOutput, cupel.SourceTool
	case isSystem(e.role):
		kind, origin = cupel.KindSystemPrompt, "system"
	case e.role == "reasoning":
		origin = "assistant"
	}
	metadata := map[string]any{"role": e.role, cupel.MetadataSourceType: origin, "title": e.headline()}
	if m.member == "" {
		metadata["index"] = m.index
	}
	if n := c.messagesOf(group); n > 1 && group[0] == i {
		metadata["messages"] = n
	}
	for key, list := range map[string][]string{"tool": e.names, "tool_call_id": e.ids} {
		if list = distinct(list); len(list) > 0 {
			metadata[key] = strings.Join(list, ", ")
		}
	}
	if tokens, ok := e.fixed(); ok {
		metadata["fixed"] = tokens
	}
	if c.leavesFirst(i) {
		metadata["never"] = true
	}
	if len(e.tools) > 0 {
		tokens := make(map[string]any, len(e.tools))
		for _, d := range e.tools {
			tokens[d.name] = d.tokens
		}
		metadata["tools"] = tokens
	}
	mark := c.markOf(e)
	if mark != "" {
		metadata["mark"] = mark
	}
	variants, own, err := c.variants(e, slices.Contains(c.opened, c.groupOf[i]), mark)
	if err != nil {
		return nil, err
	}
	if own {
		metadata["forms"] = "own"
	}
	opts := []cupel.ItemOption{
		cupel.WithKind(kind), cupel.WithSource(source), cupel.WithMetadata(metadata),
		cupel.WithTimestamp(c.timeOf(group[len(group)-1])), cupel.WithVariants(variants...),
	}
	if pinned {
		opts = append(opts, cupel.WithPinned())
	}
	if len(group) > 1 || e.tool {
		opts = append(opts, cupel.WithGroup(fmt.Sprintf("exchange %d", group[0])))
	}
	return cupel.NewContextItem(cmp.Or(e.content(), "(empty)"), e.tokens, opts...)
}

// fixed returns the tokens of the parts that are neither words nor calls, and whether
// there are such parts.
func (e *entry) fixed() (tokens int, ok bool) {
	for _, p := range e.parts {
		if p.kind == media || p.kind == fixed {
			tokens, ok = add(tokens, p.tokens), true
		}
	}
	return tokens, ok
}

// content is the content of an entry's item: its parts, each on lines of its
// own.
func (e *entry) content() string {
	var lines []string
	for _, p := range e.parts {
		if p.text != "" {
			lines = append(lines, p.text)
		}
	}
	return strings.Join(lines, "\n")
}

// markOf returns the mark of an entry, which ends its smaller forms.
func (c *Conversation) markOf(e *entry) string {
	shortens := e.returns() || !e.tool && !isSystem(e.role) && e.role != "tools" && e.role != "reasoning" && !e.compact && e.tokens >= longMessage
	if c.marker == nil || !shortens {
		return ""
	}
	return c.marker.Mark(strings.Join(distinct(e.names), ", "), e.content())
}

// messagesOf counts the messages that have a part in a group.
func (c *Conversation) messagesOf(group []int) int {
	n, last := 0, none
	for _, i := range group {
		if at := c.entries[i].message; at != last {
			n, last = n+1, at
		}
	}
	return n
}

func isSystem(role string) bool { return role == "system" || role == "developer" }

// distinct returns the distinct values that are not empty.
func distinct(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		known := seen[s] || s == ""
		seen[s] = true
		return known
	})
}

// group returns the entries that are in or out together with one.
func (c *Conversation) group(i int) []int { return c.groups[c.groupOf[i]] }

// messageOf returns the message of an entry.
func (c *Conversation) messageOf(i int) *message { return &c.messages[c.entries[i].message] }

// fillTimes gives every entry a time. Most conversations have none; the invented
// times only order the messages.
func (c *Conversation) fillTimes() {
	known := slices.IndexFunc(c.entries, func(e entry) bool { return !e.time.IsZero() })
	if known < 0 {
		return
	}
	c.times = make([]time.Time, len(c.entries))
	for i := range c.entries {
		switch e := &c.entries[i]; {
		case !e.time.IsZero():
			c.times[i] = e.time
		case i < known:
			c.times[i] = c.entries[known].time.Add(time.Duration(i - known))
		default:
			c.times[i] = c.times[i-1].Add(1)
		}
	}
}

// timeOf returns the time of an entry.
func (c *Conversation) timeOf(i int) time.Time {
	if c.times == nil {
		return time.Unix(int64(c.entries[i].message), 0)
	}
	return c.times[i]
}
