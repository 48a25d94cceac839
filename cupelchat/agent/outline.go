package agent

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelreduce"
)

const (
	messageTokens = 4 // of a message, in addition to its text
	callWorth     = 1 // of the name of a call
	wholeWorth    = 4 // of a unit in full, in addition to the worth of its parts
	label         = "[earlier] "
)

// longText is the length in bytes from which texts are not counted again: they have
// about the tokens of their item.
const longText = 4096

// part is a piece of a unit with its own sizes: the arguments of a call, any other
// text, or an item with its own forms.
type part struct {
	piece
	member   int             // position among the items
	*reading                 // for what is known now
	readings []*reading      // the latest first
	mark     string          // of the text, if something of it is left out
	own      []cupel.Variant // in place of a text, smallest first; they have the mark
	inNote   bool            // own forms are in a note, which may have none of them
	tokens   int             // that it has now, beyond the smallest of its own forms
}

// reading is a part taken apart, given the known texts.
type reading struct {
	of    *cupelreduce.Text // nil for own forms
	steps []step
	forms map[int]string // by their tokens
	plan  *plan          // of a unit that ends with the part
}

// mostReadings is how many readings of a text are remembered. Which texts are known
// depends on the budget.
const mostReadings = 4

// form returns the own form that the part has now.
func (p *part) form() cupel.Variant {
	form, least := p.own[0], p.own[0].Tokens
	if p.inNote {
		least = 0
	}
	for _, v := range p.own[1:] {
		if v.Tokens <= least+p.tokens {
			form = v
		}
	}
	return form
}

// said is the form of a text in the window.
func (p *part) said() string {
	switch {
	case p.tokens <= 0, len(p.own) > 0 && p.own[0].Tokens > p.tokens:
		return ""
	case p.own != nil:
		return p.form().Content
	}
	return remembered(p.forms, mostForms, p.tokens, p.of.To)
}

// line returns a part's line of a note. A call always has one, another text only
// if it has a size.
func (p *part) line() string {
	text := p.said()
	switch {
	case p.call == "" && (text != "" || p.id != ""):
		return p.marked(text)
	case p.call == "":
		return ""
	}
	if text == "" && p.text != "" && p.text != "{}" {
		text = "…" // the call had arguments
	}
	return p.call + "(" + strings.ReplaceAll(text, "\n", " ") + ")"
}

// marked returns the form of a text, with its mark if the form is not the
// whole text.
func (p *part) marked(text string) string {
	switch {
	case p.mark == "", text != "" && (p.own != nil || p.tokens >= p.of.Tokens()):
		return text
	case text == "":
		return p.mark
	}
	return text + " " + p.mark
}

// markOf is the mark that package cupelchat gives an item, or "".
func markOf(item *cupel.ContextItem) string {
	mark, _ := item.MetadataText("mark")
	return mark
}

// read takes a unit apart, and adds to the known texts those that its results
// need not repeat. It does not read a text again if the same parts of it are
// known as before.
func (c *choice) read(u *unit) {
	u.parts = u.parts[:0]
	for _, at := range u.members {
		for _, p := range c.partsAt(u, at) {
			p.member, p.tokens = at, 0
			u.parts = append(u.parts, p)
			if p.own == nil {
				c.readPart(p)
				if p.call != "" {
					c.known.Add(p.text) // so that the result does not repeat it
				}
			}
		}
	}
	u.parts = answered(u.parts)
	c.plan(u)
}

// partsAt returns the parts of a member of a unit.
func (c *choice) partsAt(u *unit, at int) []*part {
	item := c.items[at]
	inNote := isOwn(item) && u.note
	key := partsKey{item, c.copies[item], inNote || !u.note && !c.reducible(at), inNote}
	c.copies[item]++
	return remembered(c.parts, math.MaxInt, key, func(partsKey) (parts []*part) {
		if key.own {
			return ownForms(item, key.inNote)
		}
		for _, piece := range split(item) {
			p := &part{piece: piece}
			if p.call == "" {
				p.mark = markOf(item)
			}
			parts = append(parts, p)
		}
		return parts
	})
}

// readPart takes a text apart, given the known texts, or finds an earlier reading.
func (c *choice) readPart(p *part) {
	at := slices.IndexFunc(p.readings, func(r *reading) bool { return r.of.Same(&c.known) })
	if at >= 0 {
		p.reading = p.readings[at]
		return
	}
	item := c.items[p.member]
	opts := []cupelreduce.Option{cupelreduce.WithKnown(&c.known), cupelreduce.WithCounter(c.count)}
	if p.call != "" {
		opts = append(opts, cupelreduce.WithKind(cupelreduce.KindJSON))
	}
	if content := item.Content(); len(content) > longText && len(p.text) == len(content) {
		opts = append(opts, cupelreduce.WithTokens(item.Tokens()))
	}
	of := cupelreduce.Read(p.text, opts...)
	p.reading = &reading{of: of, steps: stepsTo(p, of.Sizes()), forms: map[int]string{}}
	p.readings = slices.Insert(p.readings[:min(len(p.readings), mostReadings-1)], 0, p.reading)
}

// ownForms returns the part for an item with forms of its own, or none if it has none or
// may not use them.
func ownForms(item *cupel.ContextItem, inNote bool) []*part {
	if item.Pinned() {
		return nil
	}
	p := &part{inNote: inNote}
	for _, v := range slices.Backward(item.Variants()) { // they have the largest first
		if v.Content != "" || item.Group() == "" {
			p.own = append(p.own, v)
		}
	}
	if p.own == nil {
		return nil
	}
	forms, least := append(slices.Clip(p.own), cupel.Variant{Content: item.Content(), Tokens: max(0, item.Tokens()), Worth: 1}), 0
	if inNote {
		p.piece, p.mark, p.own = split(item)[0], markOf(item), forms
	} else {
		forms, least = forms[1:], forms[0].Tokens
	}
	whole := cupelreduce.Read(item.Content()).Sizes()
	var sizes []cupelreduce.Size
	for _, v := range forms {
		sizes = append(sizes, cupelreduce.Size{Tokens: v.Tokens - least, Worth: v.Worth * whole[len(whole)-1].Worth})
	}
	p.reading = &reading{steps: stepsTo(p, sizes)}
	return []*part{p}
}

// reducible reports whether a form of an item may have another text: the item
// is not pinned, and has nothing that forms keep.
func (c *choice) reducible(at int) bool {
	item := c.items[at]
	if _, fixed := item.MetadataInt(fixedKey); fixed || isOwn(item) || item.Pinned() || role(item) == "reasoning" {
		return false
	}
	return item.Group() == "" || strings.HasPrefix(role(item), "tool")
}

// isOwn reports whether the caller makes the forms of an item: a result, or a message
// without calls.
func isOwn(item *cupel.ContextItem) bool {
	forms, _ := item.MetadataText("forms")
	return forms == "own" && (item.Group() == "" || strings.HasPrefix(role(item), "tool"))
}

// fixedKey is the metadata key of package cupelchat for the tokens of parts that
// no form of an item changes, such as thinking and images.
const fixedKey = "fixed"

// piece is the arguments of a call, or a text.
type piece struct {
	call string // name of the tool
	text string
	id   string // of the call, or of the call that the text answers
}

// split cuts the content of an item into its texts and its calls, which stand on
// a line each as name(arguments).
func split(item *cupel.ContextItem) []piece {
	content := item.Content()
	id, _ := item.MetadataText("tool_call_id")
	if strings.HasPrefix(role(item), "tool") {
		return []piece{{text: content, id: id}}
	}
	tool, _ := item.MetadataText("tool")
	names := map[string]bool{}
	for name := range strings.SplitSeq(tool, ", ") {
		names[name] = name != ""
	}
	var pieces []piece
	var text []string
	flush := func() {
		if len(text) > 0 {
			pieces = append(pieces, piece{text: strings.Join(text, "\n")})
		}
		text = nil
	}
	calls := 0
	for line := range strings.SplitSeq(content, "\n") {
		name, arguments, ok := callOf(line, names)
		if !ok {
			text = append(text, line)
			continue
		}
		flush()
		calls++
		pieces = append(pieces, piece{call: name, text: arguments})
	}
	flush()
	if ids := strings.Split(id, ", "); len(ids) == calls {
		at := 0
		for i := range pieces {
			if pieces[i].call != "" {
				pieces[i].id = ids[at]
				at++
			}
		}
	}
	return pieces
}

// callOf reads a line that is a call of one of the tools.
func callOf(line string, names map[string]bool) (name, arguments string, ok bool) {
	name, rest, ok := strings.Cut(strings.TrimSuffix(line, "\r"), "(")
	if !ok || !names[name] {
		return "", "", false
	}
	arguments, ok = strings.CutSuffix(rest, ")")
	return name, arguments, ok
}

// answered puts each result after its call, if ids identify the call, so that a
// reader of the outline sees which result is left out.
func answered(parts []*part) []*part {
	results := map[string]*part{}
	for _, p := range parts {
		if p.id != "" {
			results[p.id] = p
		}
	}
	var ordered []*part
	placed := map[*part]bool{}
	place := func(p *part) {
		if p != nil && !placed[p] {
			placed[p] = true
			ordered = append(ordered, p)
		}
	}
	for _, p := range parts {
		place(p)
		if p.call != "" {
			place(results[p.id])
		}
	}
	return ordered
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func role(item *cupel.ContextItem) string {
	role, _ := item.MetadataText("role")
	return role
}
