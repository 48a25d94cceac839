package agent

import (
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

// longText is the length in bytes of texts that are not counted again: the tokens of
// their item are about theirs.
const longText = 4096

// part is a piece of a unit that has sizes of its own: the arguments of a call, any
// other text, or an item with the forms that it came with.
type part struct {
	piece
	member int // position among the items
	text   *cupelreduce.Text
	mark   string          // of the text, where something of it is left out
	own    []cupel.Variant // in place of a text, smallest first; they have the mark
	inNote bool            // own forms are in a note, which may have none of them
	worth  float64         // of the item with own forms
	tokens int             // that it has now, beyond the smallest of its own forms
}

// sizes returns what the part may have, as [cupelreduce.Text.Sizes] does.
func (p *part) sizes(whole int) []cupelreduce.Size {
	if p.own == nil {
		return p.text.Sizes()
	}
	var sizes []cupelreduce.Size
	if p.inNote {
		for _, v := range p.own {
			sizes = append(sizes, cupelreduce.Size{Tokens: v.Tokens, Worth: v.Worth * p.worth})
		}
		return sizes
	}
	for _, v := range p.own[1:] {
		sizes = append(sizes, cupelreduce.Size{Tokens: v.Tokens - p.own[0].Tokens, Worth: v.Worth * p.worth})
	}
	return append(sizes, cupelreduce.Size{Tokens: whole - p.own[0].Tokens, Worth: p.worth})
}

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

// said is what the window has of a text.
func (p *part) said() string {
	switch {
	case p.tokens <= 0, len(p.own) > 0 && p.own[0].Tokens > p.tokens:
		return ""
	case p.own != nil:
		return p.form().Content
	}
	return p.text.To(p.tokens)
}

// line returns what a note says of a part: a call in any case, another text if it
// has a size.
func (p *part) line() string {
	text := p.said()
	switch {
	case p.call == "" && (text != "" || p.id != ""):
		return p.marked(text)
	case p.call == "":
		return ""
	}
	if text == "" && p.piece.text != "" && p.piece.text != "{}" {
		text = "…" // the call had arguments
	}
	return p.call + "(" + strings.ReplaceAll(text, "\n", " ") + ")"
}

// marked returns what is said of a text, with its mark if that is not all.
func (p *part) marked(text string) string {
	switch {
	case p.mark == "", text != "" && (p.own != nil || p.tokens >= p.text.Tokens()):
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

// read takes a unit apart, and adds to what is known what its results need not
// repeat.
func (c *choice) read(u *unit) {
	u.parts = u.parts[:0]
	for _, at := range u.members {
		if own := isOwn(c.items[at]); own || !u.note && !c.reducible(at) {
			if p := ownForms(c.items[at], at, own && u.note); p != nil {
				u.parts = append(u.parts, p)
			}
			continue
		}
		content := c.items[at].Content()
		for _, piece := range split(c.items[at]) {
			opts := []cupelreduce.Option{cupelreduce.WithKnown(&c.known), cupelreduce.WithCounter(c.counting.count)}
			if piece.call != "" {
				opts = append(opts, cupelreduce.WithKind(cupelreduce.KindJSON))
			}
			if len(content) > longText && len(piece.text) == len(content) {
				opts = append(opts, cupelreduce.WithTokens(c.items[at].Tokens()))
			}
			p := &part{piece: piece, member: at, text: cupelreduce.Read(piece.text, opts...)}
			if piece.call == "" {
				p.mark = markOf(c.items[at])
			}
			u.parts = append(u.parts, p)
			if piece.call != "" {
				c.known.Add(piece.text) // so that the result does not repeat it
			}
		}
	}
	u.parts = answered(u.parts)
	u.plan(c)
}

// ownForms returns the part for an item with forms of its own, or nil if it has none
// or may not use them.
func ownForms(item *cupel.ContextItem, at int, inNote bool) *part {
	if item.Pinned() {
		return nil
	}
	p := &part{member: at, inNote: inNote}
	for _, v := range slices.Backward(item.Variants()) { // they have the largest first
		if v.Content != "" || item.Group() == "" {
			p.own = append(p.own, v)
		}
	}
	if p.own == nil {
		return nil
	}
	if inNote {
		p.piece, p.mark = split(item)[0], markOf(item)
		p.own = append(p.own, cupel.Variant{Content: item.Content(), Tokens: item.Tokens(), Worth: 1})
	}
	sizes := cupelreduce.Read(item.Content()).Sizes()
	p.worth = sizes[len(sizes)-1].Worth
	return p
}

// reducible reports whether a form of an item may have another text: it is not
// pinned, and has nothing that forms keep.
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

// fixedKey is the metadata key of package cupelchat for the tokens of what no form
// of an item changes, such as thinking and images.
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

// answered puts each result after its call, where the calls' ids say which it is:
// then a reader of the outline sees which result is left out.
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

// counting counts tokens for package cupelreduce and remembers the first error.
type counting struct {
	counter cupel.TokenCounter
	err     error
}

func (c *counting) count(text string) int {
	if c.err != nil || text == "" {
		return 0
	}
	item, err := cupel.NewItemFrom(c.counter, text) // it checks what the counter returns
	if c.err = err; err != nil {
		return 0
	}
	return item.Tokens()
}
