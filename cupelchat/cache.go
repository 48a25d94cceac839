package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/breakpoint"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// The most breakpoints of a prompt cache in a request, and how many content blocks
// before one Anthropic looks for an earlier one. Bedrock has the same numbers.
const (
	maxBreakpoints = 4
	lookBack       = 20
)

// The members that are breakpoints, and their default value.
const (
	cacheControl = "cache_control" // of a block, with Anthropic
	cachePoint   = "cachePoint"    // of a block of its own, with Bedrock
	ephemeral    = `{"type": "ephemeral"}`
)

// block is one that has a breakpoint, or could have it.
type block struct {
	rawjson.Object
	message int // of the list; none for tools and the system prompt
	set     bool
	point   rawjson.Value // of Bedrock, if it is set
	at      place         // of the point
}

// promptCache finds the breakpoints of a request.
type promptCache struct {
	edits   rawjson.Edits
	whole   rawjson.Value
	all     []block          // in the order of the prompt: tools, system, messages
	same    int              // messages at the beginning that are as they were in the input
	tools   int              // blocks of the tools
	system  int              // blocks of the tools and the system prompt
	auto    bool             // Anthropic sets one at the end itself
	mark    string           // the value of one that is set
	bedrock bool             // breakpoints are blocks of their own
	lists   [][]rawjson.Part // of blocks, for Bedrock
}

// promptCache reads the blocks of a body, or returns nil for one with a message on
// each line.
func (c *Conversation) promptCache(body []byte) *promptCache {
	text, err := rawjson.NewText(body)
	if err != nil {
		return nil
	}
	p := &promptCache{mark: ephemeral, bedrock: c.format == Bedrock}
	if p.bedrock {
		p.mark = `{"type": "default"}`
	}
	if p.whole, err = text.Value(); err != nil || p.whole.IsString() {
		return nil
	}
	messages, old := p.whole.Elements(), c.value.Elements()
	if p.whole.IsObject() {
		o, err := p.whole.Object("")
		if err != nil {
			return nil
		}
		if p.auto = !p.bedrock && o.Has(cacheControl); p.auto {
			if set, err := o.Get(cacheControl).Object(""); err == nil {
				p.live(set.Get("ttl").String()) // one time to live for all
			}
		}
		if !p.bedrock { // not all of its models take them among the tools
			p.blocks(o.Get("tools"), none)
			p.tools = len(p.all)
		}
		p.blocks(o.Get("system"), none)
		p.system = len(p.all)
		messages, old = o.Get("messages").Elements(), c.body.Get("messages").Elements()
	}
	for p.same < min(len(old), len(messages)) && string(old[p.same].Value.Raw()) == string(messages[p.same].Value.Raw()) {
		p.same++
	}
	for i, m := range messages {
		if o, err := m.Value.Object(""); err == nil {
			p.blocks(o.Get("content"), i)
		}
	}
	return p
}

// breakpoints returns a body with at most four breakpoints of the prompt cache.
// If the caller wants them set, they are set again where package breakpoint says.
// Otherwise those that are too many go, and those at the end of what is as it was
// stay.
func (c *Conversation) breakpoints(body []byte) []byte {
	p := c.promptCache(body)
	if p == nil {
		return body
	}
	slots := maxBreakpoints
	if p.auto {
		slots--
	}
	switch {
	case c.setBreakpoints:
		same := len(p.all)
		for same > 0 && p.all[same-1].message >= p.same {
			same--
		}
		place := breakpoint.Prompt{End: len(p.all), Sent: same, Tools: p.tools, System: p.system, Most: maxBreakpoints, LookBack: lookBack}
		p.set(place.Places())
	case p.count() > slots:
		p.move(p.latest(slots))
	}
	return p.bytes(body)
}

// live sets the time to live of breakpoints that are set.
func (p *promptCache) live(ttl string) {
	if ttl == oneHour {
		p.mark = strings.TrimSuffix(p.mark, "}") + `, "ttl": "1h"}`
	}
}

// bytes returns the body with the breakpoints.
func (p *promptCache) bytes(body []byte) []byte {
	if p.edits.Empty() {
		return body
	}
	return p.edits.Outer(rawjson.Whole(p.whole))
}

// blocks adds the blocks of a list that can have a breakpoint. A text is one.
func (p *promptCache) blocks(list rawjson.Value, message int) {
	parts := list.Elements()
	first := len(p.all)
	for i, part := range parts {
		o, err := part.Value.Object("")
		if err != nil {
			continue
		}
		switch kind := o.Get("type").String(); {
		case p.bedrock && o.Has(cachePoint):
			if last := len(p.all) - 1; last >= first && !p.all[last].set {
				p.all[last].set, p.all[last].point, p.all[last].at = true, o.Get(cachePoint), place{len(p.lists), i}
			}
			continue
		case p.bedrock:
			if o.Has("reasoningContent") {
				continue
			}
			p.all = append(p.all, block{Object: o, message: message})
			continue
		case kind == "thinking", kind == "redacted_thinking", kind == "text" && o.Get("text").String() == "":
			continue
		case kind == "tool_result":
			p.blocks(o.Get("content"), message)
		}
		p.all = append(p.all, block{Object: o, message: message, set: o.Has(cacheControl)})
	}
	if p.bedrock {
		p.lists = append(p.lists, parts)
	}
	// The API refuses a block of white space, which it takes as a string.
	if list.IsString() && strings.TrimSpace(list.String()) != "" {
		p.all = append(p.all, block{Object: rawjson.Object{Value: list}, message: message})
	}
}

func (p *promptCache) count() int {
	n := 0
	for i := range p.all {
		if p.all[i].set {
			n++
		}
	}
	return n
}

// set sets breakpoints after the first blocks, for each number of them, and no
// others.
func (p *promptCache) set(behind []int) {
	want := make(map[int]bool)
	for _, n := range behind {
		if n > 0 && !(p.auto && n == len(p.all)) {
			want[n-1] = true
		}
	}
	p.move(want)
	for i := range p.all {
		b := &p.all[i]
		if !b.set || !want[i] {
			continue
		}
		// All have one time to live: a longer one must not follow a shorter one.
		if old := b.point; p.bedrock {
			p.replace(old)
		} else {
			p.replace(b.Get(cacheControl))
		}
	}
}

func (p *promptCache) replace(old rawjson.Value) {
	if old.Compact() != strings.ReplaceAll(p.mark, " ", "") {
		p.edits.Replace(old, []byte(p.mark))
	}
}

// latest returns the blocks whose breakpoints stay: the last ones of those in what
// is as it was, and then of the others.
func (p *promptCache) latest(slots int) map[int]bool {
	want := make(map[int]bool)
	for _, stable := range []bool{true, false} {
		for i, b := range slices.Backward(p.all) {
			if b.set && (b.message < p.same) == stable && len(want) < slots {
				want[i] = true
			}
		}
	}
	return want
}

// move sets and removes breakpoints, so that the wanted blocks have one.
func (p *promptCache) move(want map[int]bool) {
	if p.bedrock {
		p.movePoints(want)
		return
	}
	for i := range p.all {
		b := &p.all[i]
		raw := b.Value.Raw()
		switch {
		case b.set == want[i]:
		case b.set:
			p.edits.Drop(b.Members, func(i int) bool { return b.Members[i].Name == cacheControl })
		case b.Value.IsString():
			p.edits.Replace(b.Value, slices.Concat([]byte(`[{"type": "text", "text": `), raw, []byte(`, "`+cacheControl+`": `+p.mark+`}]`)))
		default:
			end := b.Members[len(b.Members)-1].Value // it has a type
			p.edits.Replace(end, slices.Concat(end.Raw(), []byte(`, "`+cacheControl+`": `+p.mark)))
		}
	}
}

// movePoints is move for Bedrock, whose breakpoints are blocks after others.
func (p *promptCache) movePoints(want map[int]bool) {
	stays := make(map[place]bool)
	for i := range p.all {
		b := &p.all[i]
		switch {
		case !want[i]:
		case b.set:
			stays[b.at] = true
		default:
			p.edits.Replace(b.Value, slices.Concat(b.Value.Raw(), []byte(`, {"`+cachePoint+`": `+p.mark+`}`)))
		}
	}
	for n, list := range p.lists {
		p.edits.Drop(list, func(i int) bool {
			o, err := list[i].Value.Object("")
			return err == nil && o.Has(cachePoint) && !stays[place{n, i}]
		})
	}
}
