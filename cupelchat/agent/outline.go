package agent

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelreduce"
)

const (
	messageTokens = 4    // of a message, in addition to its text
	callWorth     = 1    // of the name of a call
	everyForm     = 16   // steps of a unit that are forms of their own
	growth        = 1.15 // from one form to the next after these
	wholeWorth    = 4    // of a unit in full, in addition to the worth of its parts
	label         = "[earlier] "
)

// form is a text in place of a unit.
type form struct {
	text   string
	tokens int
	worth  float64
}

// outline makes the forms of all units that are not whole, newest first, so that
// an outline leaves out what a newer one says. In the first round nothing has
// been chosen yet; two small forms stand for it.
func (c *choice) outline(ctx context.Context, first bool) error {
	c.known = new(cupelreduce.Known)
	for i := range c.units {
		if c.units[i].whole {
			c.known.Add(c.text(&c.units[i]))
		}
	}
	for i := len(c.units) - 1; i >= 0; i-- {
		u := &c.units[i]
		if u.whole {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.formsOf(u); err != nil {
			return err
		}
		if first {
			u.added = nil
			smaller := len(u.forms) - 1
			if smaller > 0 {
				u.added = append(u.added, u.forms[0].text)
			}
			if at := min(2, smaller-1); at > 0 {
				u.added = append(u.added, u.forms[at].text)
			}
		}
		for _, text := range u.added {
			c.known.Add(text)
		}
	}
	return nil
}

// part is a piece of a unit that has sizes of its own: the arguments of a call, or
// any other text.
type part struct {
	piece
	forms []cupelreduce.Form
	at    int // of forms; -1 for none
}

// line returns what the outline says of a part: a call in any case, another text
// if it has a form.
func (p *part) line() string {
	text := ""
	switch {
	case p.at >= 0:
		text = p.forms[p.at].Text
	case p.call != "" && p.text != "" && p.text != "{}":
		text = "…" // the call had arguments
	}
	if p.call == "" {
		return text
	}
	return p.call + "(" + strings.ReplaceAll(text, "\n", " ") + ")"
}

func (p *part) size() (tokens int, worth float64) {
	if p.at < 0 {
		return 0, 0
	}
	return p.forms[p.at].Tokens, p.forms[p.at].Worth
}

// formsOf makes the forms of a unit: the names of its calls, and then, step by
// step, a larger form of the part that gains the most worth per token.
func (c *choice) formsOf(u *unit) error {
	counting := counting{counter: c.counter}
	var parts []*part
	full := float64(wholeWorth)
	note := u.note
	for _, at := range u.members {
		for _, piece := range split(c.items[at]) {
			opts := []cupelreduce.Option{cupelreduce.WithKnown(c.known), cupelreduce.WithCounter(counting.count)}
			if piece.call != "" {
				note = true
				opts = append(opts, cupelreduce.WithKind(cupelreduce.KindJSON))
			}
			p := &part{piece: piece, forms: cupelreduce.Forms(piece.text, opts...), at: -1}
			full += p.forms[len(p.forms)-1].Worth
			parts = append(parts, p)
			if piece.call != "" {
				c.known.Add(piece.text) // so that the result does not repeat it
			}
		}
	}
	parts = answered(parts)
	u.forms = u.forms[:0]
	emit := func() {
		var lines []string
		worth := 0.0
		for _, p := range parts {
			_, gain := p.size()
			worth += gain
			if p.call != "" {
				worth += callWorth
			}
			if text := p.line(); text != "" {
				lines = append(lines, text)
			}
		}
		text := strings.Join(lines, "\n")
		if note {
			text = label + text
		}
		if worth == 0 || !strings.ContainsFunc(text, isWord) {
			return // a fence or a rule says nothing
		}
		if tokens := counting.count(text) + messageTokens; tokens < u.tokens {
			u.forms = append(u.forms, form{text, tokens, worth})
		}
	}
	emit()
	room := math.MaxInt
	if len(u.forms) == 0 {
		room = c.room // no form fits yet
	}
	size, emitted := 0, 0
	for i, s := range steps(parts, room) {
		before, _ := s.part.size()
		s.part.at = s.to
		after, _ := s.part.size()
		size += after - before
		if i < everyForm || float64(size) >= growth*float64(emitted) {
			emit()
			emitted = size
		}
	}
	u.forms = append(u.forms, form{"", u.tokens, full})
	return counting.err
}

// step is a larger form of a part.
type step struct {
	part *part
	to   int
	rate float64 // gain of worth per token
}

// steps returns the steps of all parts, the greatest rate first. A part takes only
// forms on the upper convex hull of tokens and worth, so that its rates
// fall; a step that exceeds the room is made in smaller ones.
func steps(parts []*part, room int) []step {
	var all []step
	for _, p := range parts {
		for from := p.at; from < len(p.forms)-1; {
			at := part{forms: p.forms, at: from}
			tokens, worth := at.size()
			best := step{part: p}
			for j := from + 1; j < len(p.forms); j++ {
				if r := (p.forms[j].Worth - worth) / float64(max(1, p.forms[j].Tokens-tokens)); r > best.rate {
					best.to, best.rate = j, r
				}
			}
			if best.rate == 0 {
				break
			}
			for n := from + 1; n < best.to && p.forms[best.to].Tokens-tokens > room; n++ {
				all = append(all, step{p, n, best.rate})
				tokens = p.forms[n].Tokens
			}
			all = append(all, best)
			from = best.to
		}
	}
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Compare(b.rate, a.rate) })
	return all
}

// piece is the arguments of a call, or a text.
type piece struct {
	call   string // name of the tool
	text   string
	id     string // of the call, or of the call that the text answers
	result bool
}

// split cuts the content of an item into its texts and its calls, which stand on
// a line each as name(arguments).
func split(item *cupel.ContextItem) []piece {
	content := item.Content()
	id, _ := item.MetadataText("tool_call_id")
	if strings.HasPrefix(role(item), "tool") {
		return []piece{{text: content, id: id, result: true}}
	}
	tool, ok := item.MetadataText("tool")
	if !ok {
		return []piece{{text: content}}
	}
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

// answered puts each result behind its call, where the calls' ids say which it is:
// then a reader of the outline sees which result is left out.
func answered(parts []*part) []*part {
	results := map[string]*part{}
	for _, p := range parts {
		if p.result && p.id != "" {
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
