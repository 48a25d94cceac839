package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// The most breakpoints of Anthropic's prompt cache in a request, and the value of
// one that is set.
const (
	maxBreakpoints = 4
	cacheControl   = "cache_control"
	ephemeral      = `{"type": "ephemeral"}`
)

// breakpoint is a block that has cache_control, or could have it.
type breakpoint struct {
	block   rawjson.Object
	message int // of the list; none for tools and the system prompt
	set     bool
}

// promptCache finds the breakpoints of a request of Anthropic's.
type promptCache struct {
	edits rawjson.Edits
	all   []breakpoint // blocks in the order of the prompt: tools, system, messages
	auto  bool         // the API sets one at the end itself
}

// breakpoints returns a body with at most four breakpoints of the prompt cache.
// If the caller wants them set, they are set again: behind the tools, behind the
// system prompt, at the end of what is as it was in the input, and at the end.
// Otherwise those that are too many go, and those at the end of what is as it was
// stay.
func (c *Conversation) breakpoints(body []byte) []byte {
	text, err := rawjson.NewText(body)
	if err != nil {
		return body
	}
	value, err := text.Value()
	if err != nil || value.IsString() {
		return body // a message on each line
	}
	p := &promptCache{}
	messages := value.Elements()
	old := c.value.Elements()
	if value.IsObject() {
		o, err := value.Object("")
		if err != nil {
			return body
		}
		p.auto = o.Has(cacheControl)
		p.blocks(o.Get("tools"), none)
		p.blocks(o.Get("system"), none)
		messages, old = o.Get("messages").Elements(), c.body.Get("messages").Elements()
	}
	same := 0
	for same < min(len(old), len(messages)) && string(old[same].Value.Raw()) == string(messages[same].Value.Raw()) {
		same++
	}
	for i, m := range messages {
		if o, err := m.Value.Object(""); err == nil {
			p.blocks(o.Get("content"), i)
		}
	}
	slots := maxBreakpoints
	if p.auto {
		slots--
	}
	if c.setBreakpoints {
		p.move(p.best(same, slots))
	} else if p.count() > slots {
		p.move(p.latest(same, slots))
	}
	if p.edits.Empty() {
		return body
	}
	return p.edits.Outer(rawjson.Whole(value))
}

// blocks adds the blocks of a list that can have a breakpoint. A text is one.
func (p *promptCache) blocks(list rawjson.Value, message int) {
	for _, part := range list.Elements() {
		o, err := part.Value.Object("")
		if err != nil {
			continue
		}
		switch kind := o.Get("type").String(); {
		case kind == "thinking", kind == "redacted_thinking", kind == "text" && o.Get("text").String() == "":
			continue
		case kind == "tool_result":
			p.blocks(o.Get("content"), message)
		}
		p.all = append(p.all, breakpoint{o, message, o.Has(cacheControl)})
	}
	// The API refuses a block of white space, which it takes as a string.
	if list.IsString() && strings.TrimSpace(list.String()) != "" {
		p.all = append(p.all, breakpoint{rawjson.Object{Value: list}, message, false})
	}
}

func (p *promptCache) count() int {
	n := 0
	for _, b := range p.all {
		if b.set {
			n++
		}
	}
	return n
}

// best returns the blocks that should have a breakpoint.
func (p *promptCache) best(same, slots int) map[int]bool {
	want := make(map[int]bool)
	last := func(in func(b *breakpoint) bool) {
		for i := len(p.all) - 1; i >= 0; i-- {
			if in(&p.all[i]) {
				if len(want) < slots && !(p.auto && i == len(p.all)-1) {
					want[i] = true
				}
				return
			}
		}
	}
	last(func(*breakpoint) bool { return true })
	last(func(b *breakpoint) bool { return b.message < same })
	last(func(b *breakpoint) bool { return b.message == none })
	last(func(b *breakpoint) bool { return b.message == none && !b.block.Has("text") })
	return want
}

// latest returns the blocks whose breakpoints stay: the last ones of those in what
// is as it was, and then of the others.
func (p *promptCache) latest(same, slots int) map[int]bool {
	want := make(map[int]bool)
	for _, stable := range []bool{true, false} {
		for i, b := range slices.Backward(p.all) {
			if b.set && (b.message < same) == stable && len(want) < slots {
				want[i] = true
			}
		}
	}
	return want
}

// move sets and removes breakpoints, so that the wanted blocks have one.
func (p *promptCache) move(want map[int]bool) {
	for i, b := range p.all {
		raw := b.block.Value.Raw()
		switch {
		case b.set == want[i]:
		case b.set:
			p.edits.Drop(b.block.Members, func(i int) bool { return b.block.Members[i].Name == cacheControl })
		case b.block.Value.IsString():
			p.edits.Replace(b.block.Value, slices.Concat([]byte(`[{"type": "text", "text": `), raw, []byte(`, "`+cacheControl+`": `+ephemeral+`}]`)))
		default:
			end := b.block.Members[len(b.block.Members)-1].Value // it has a type
			p.edits.Replace(end, slices.Concat(end.Raw(), []byte(`, "`+cacheControl+`": `+ephemeral)))
		}
	}
}
