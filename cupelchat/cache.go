package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// maxBreakpoints is the most breakpoints of a prompt cache that a request to
// Anthropic or Bedrock may have.
const maxBreakpoints = 4

// The members that are breakpoints, and their default value.
const (
	cacheControl = "cache_control" // of a block, with Anthropic
	cachePoint   = "cachePoint"    // of a block of its own, with Bedrock
	ephemeral    = `{"type": "ephemeral"}`
)

// block is a block that has a breakpoint, or could have one.
type block struct {
	rawjson.Object
	set   bool
	point rawjson.Value // of Bedrock, if it is set
	at    place         // of the point
}

// promptCache finds the breakpoints of a request.
type promptCache struct {
	edits   rawjson.Edits
	whole   rawjson.Value
	all     []block          // in the order of the prompt: tools, system, messages
	before  int              // of them, those before the messages
	auto    bool             // Anthropic sets one at the end itself
	mark    string           // the value of one that is set
	bedrock bool             // breakpoints are blocks of their own
	lists   [][]rawjson.Part // of blocks, for Bedrock
}

// promptCache reads the blocks of a body. One with a message on each line has none.
func (c *Conversation) promptCache(body []byte) *promptCache {
	whole, _ := rawjson.Text(body).Value()
	p := &promptCache{whole: whole, mark: ephemeral, bedrock: c.format == Bedrock}
	if p.bedrock {
		p.mark = `{"type": "default"}`
	}
	messages := p.whole.Elements()
	if p.whole.IsObject() {
		o, _ := p.whole.Fields()
		if p.auto = !p.bedrock && o.Has(cacheControl); p.auto {
			set, _ := o.Get(cacheControl).Fields()
			p.live(set.Get("ttl").String()) // one time to live for all
		}
		if !p.bedrock { // not all of its models take them among the tools
			p.blocks(o.Get("tools"))
		}
		p.blocks(o.Get("system"))
		messages = o.Get("messages").Elements()
	}
	p.before = len(p.all)
	for _, m := range messages {
		o, _ := m.Value.Fields()
		p.blocks(o.Get("content"))
	}
	return p
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
func (p *promptCache) blocks(list rawjson.Value) {
	parts := list.Elements()
	first := len(p.all)
	for i, part := range parts {
		o, _ := part.Value.Fields()
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
			p.all = append(p.all, block{Object: o})
			continue
		case kind == "thinking", kind == "redacted_thinking", kind == "text" && len(o.Get("text").Raw()) <= len(`""`):
			continue
		case kind == "tool_result":
			p.blocks(o.Get("content"))
		}
		p.all = append(p.all, block{Object: o, set: o.Has(cacheControl)})
	}
	if p.bedrock {
		p.lists = append(p.lists, parts)
	}
	// The API refuses a block of white space, but accepts it as a string.
	if list.IsString() && !blank(list.String()) {
		p.all = append(p.all, block{Object: rawjson.Object{Value: list}})
	}
}

// set sets breakpoints after the first blocks, for each number of them, and no
// others.
func (p *promptCache) set(after []int) {
	want := make(map[int]bool)
	for _, n := range after {
		if n > 0 && !(p.auto && n == len(p.all)) {
			want[n-1] = true
		}
	}
	// All have the same time to live, since a longer one must not follow a
	// shorter one.
	if p.bedrock {
		p.movePoints(want)
		return
	}
	for i := range p.all {
		b := &p.all[i]
		raw := b.Value.Raw()
		switch {
		case b.set && want[i]:
			p.replace(b.Get(cacheControl))
		case b.set:
			p.edits.Drop(b.Members, func(i int) bool { return b.Members[i].Name == cacheControl })
		case !want[i]:
		case b.Value.IsString():
			p.edits.Replace(b.Value, slices.Concat([]byte(`[{"type": "text", "text": `), raw, []byte(`, "`+cacheControl+`": `+p.mark+`}]`)))
		default:
			end := b.Members[len(b.Members)-1].Value // it has a type
			p.edits.Replace(end, slices.Concat(end.Raw(), []byte(`, "`+cacheControl+`": `+p.mark)))
		}
	}
}

func (p *promptCache) replace(old rawjson.Value) {
	if old.Compact() != strings.ReplaceAll(p.mark, " ", "") {
		p.edits.Replace(old, []byte(p.mark))
	}
}

// movePoints is set for Bedrock, whose breakpoints are blocks of their own.
func (p *promptCache) movePoints(want map[int]bool) {
	stays := make(map[place]bool)
	for i := range p.all {
		b := &p.all[i]
		switch {
		case !want[i]:
		case b.set:
			stays[b.at] = true
			p.replace(b.point)
		default:
			p.edits.Replace(b.Value, slices.Concat(b.Value.Raw(), []byte(`, {"`+cachePoint+`": `+p.mark+`}`)))
		}
	}
	for n, list := range p.lists {
		p.edits.Drop(list, func(i int) bool {
			o, _ := list[i].Value.Fields()
			return o.Has(cachePoint) && !stays[place{n, i}]
		})
	}
}
