package cupelchat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// Texts from this many tokens on have smaller forms.
const (
	longResult  = 48
	longMessage = 160
)

// variants returns the smaller forms of an entry, which end with the mark. Their media are
// gone, unless the entry is a result in the exchange at the end, which is open. It reports
// whether the forms are the caller's, so that a preset makes no others.
func (c *Conversation) variants(e *entry, open bool, mark string) (variants []cupel.Variant, own bool, err error) {
	if isSystem(e.role) || e.role == "tools" || e.role == "reasoning" || e.compact {
		return nil, false, nil
	}
	text, tokens := e.said()
	long, tool := longMessage, ""
	if e.returns() {
		long, tool = longResult, strings.Join(distinct(e.names), ", ")
	}
	if tokens < 2 || text == "" {
		return nil, false, nil
	}
	var forms []cupel.Variant
	if c.forms != nil {
		forms = c.forms(tool, text)
		own = forms != nil
	}
	if _, fixed := e.fixed(); !own && tokens >= long && (c.all || fixed) { // see withForms
		if forms, err = c.reduced(text); err != nil {
			return nil, false, err
		}
	}
	lean, share := e, 1.0
	if !own && !(e.returns() && open) {
		lean, share = e.lean()
	}
	gone := e.tokens - lean.tokens
	if gone > 0 {
		forms = slices.Insert(forms, 0, cupel.Variant{Content: text, Worth: 1})
	}
	for _, v := range forms {
		if v.Content != "" {
			if !own && (gone > 0 || !e.returns()) {
				v.Content += "\n" + shortened(tokens+gone)
			}
			v.Content = marked(v.Content, mark)
			n, err := counted(c.counter, v.Content)
			if err != nil {
				return nil, false, err
			}
			v.Tokens, v.Content = n, lean.with(v.Content)
		}
		if v.Tokens < tokens+gone {
			v.Tokens += lean.tokens - tokens
			v.Worth *= share
			variants = append(variants, v)
		}
	}
	return variants, own, nil
}

// lean returns the entry without the media that can be left out, and its share of the
// worth: each medium and the words are worth the same.
func (e *entry) lean() (lean *entry, share float64) {
	some := *e
	some.parts = slices.Clone(e.parts)
	gone := 0
	for i := range some.parts {
		if p := &some.parts[i]; p.kind == media && p.list != none {
			p.text, some.tokens, gone = "", some.tokens-p.tokens, gone+1
		}
	}
	return &some, 1 / float64(1+gone)
}

// smallestForm is the maximum size of the smallest forms, in tokens.
const smallestForm = 8

// reduced returns a few smaller forms of a text, with their worth as a share of the
// text's.
func (c *Conversation) reduced(text string) ([]cupel.Variant, error) {
	texts := counting{counter: c.counter}
	whole := cupelreduce.Read(text, cupelreduce.WithCounter(texts.count))
	sizes := whole.Sizes()
	most := sizes[len(sizes)-1].Worth
	var few []cupel.Variant
	for size, last := whole.Tokens()/2, ""; ; size = max(size/4, smallestForm) {
		near := sizes[max(slices.IndexFunc(sizes, func(s cupelreduce.Size) bool { return s.Tokens > size })-1, 0)]
		if form := whole.To(size); form != "" && form != last {
			worth := near.Worth * min(1, float64(size)/float64(near.Tokens))
			few, last = append(few, cupel.Variant{Content: form, Worth: worth / most}), form
		}
		if size <= smallestForm {
			return few, texts.err
		}
	}
}

// shortened is the line that marks a message as shortened.
func shortened(tokens int) string {
	return fmt.Sprintf("[shortened from %s]", english.Plural(tokens, "token"))
}

// marked is a text with a mark at its end.
func marked(text, mark string) string { return strings.TrimSuffix(text+" "+mark, " ") }

// said returns the words of an entry, and their tokens.
func (e *entry) said() (text string, tokens int) {
	var lines []string
	for _, p := range e.parts {
		if p.kind == words && p.text != "" {
			lines = append(lines, p.text)
			tokens = add(tokens, p.tokens)
		}
	}
	return strings.Join(lines, "\n"), tokens
}

// with returns the content of an entry with other words. It is the reverse of
// wordsOf.
func (e *entry) with(text string) string {
	var lines []string
	said := false
	for _, p := range e.parts {
		switch {
		case p.kind != words && p.text != "":
			lines = append(lines, p.text)
		case p.kind == words && !said:
			said = true
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// said is the content of a smaller form, taken apart.
type said struct {
	text   string         // without the lines of calls, media and everything else that stays as it is
	gone   map[int]bool   // the media that the form does not have
	calls  map[int]string // shorter arguments
	called bool           // has a call
}

// saidBy takes the content of a form apart. It is the reverse of with.
func (e *entry) saidBy(content string) said {
	s := said{gone: map[int]bool{}, calls: map[int]string{}}
	rest := "\n" + content + "\n"
	for i, p := range e.parts {
		if p.kind == words || p.text == "" {
			continue
		}
		line := p.text
		if p.kind == call && !strings.Contains(rest, "\n"+line+"\n") {
			if short, ok := p.shortIn(rest); ok {
				s.calls[i], line = short, p.name+"("+short+")"
			}
		}
		before, after, found := strings.Cut(rest, "\n"+line+"\n")
		if found {
			rest = before + "\n" + after
			if !strings.HasPrefix(rest, "\n") {
				rest = "\n" + rest
			}
			s.called = s.called || p.kind == call
		} else if p.kind == media && p.list != none {
			s.gone[i] = true
		}
	}
	s.text = strings.Trim(rest, "\n")
	return s
}

// shortIn returns the arguments of a call in a content, if they are shortened
// there.
func (p *part) shortIn(content string) (arguments string, ok bool) {
	if p.value.IsZero() || !strings.Contains(content, markEnds) {
		return "", false
	}
	for line := range strings.SplitSeq(content, "\n") {
		rest, begins := strings.CutPrefix(line, p.name+"(")
		short, ends := strings.CutSuffix(rest, ")")
		if v, _ := rawjson.Text(short).Value(); begins && ends && strings.Contains(short, markEnds) && (p.value.IsString() || v.IsObject()) {
			return short, true
		}
	}
	return "", false
}

// cost returns the tokens of an entry with the content of a smaller form, as it is
// written.
func (c *Conversation) cost(i int, content string) (int, error) {
	e := &c.entries[i]
	says := e.saidBy(content)
	text := says.text
	texts := counting{counter: c.counter}
	first := slices.IndexFunc(e.parts, func(p part) bool { return p.kind == words })
	tokens := e.tokens
	for n, p := range e.parts {
		short, isShort := says.calls[n]
		if isShort {
			tokens = add(tokens, texts.count(short))
		}
		if isShort || says.gone[n] || p.kind == words && (p.list != none || n == first) {
			tokens -= p.tokens
		}
	}
	if first >= 0 {
		text = cmp.Or(text, leftOut)
	} else if !slices.ContainsFunc(e.parts, func(p part) bool { return p.kind == media && p.list != none }) {
		text = "" // there is no place for words
	}
	tokens = add(tokens, texts.count(text))
	return tokens, texts.err
}

// leftOut replaces words that are left out entirely.
const leftOut = "…"

// The first line of a note begins like this.
const noteLabel = "[earlier"

// addNotes gives an exchange the notes that may replace it.
func (c *Conversation) addNotes(g int, pins []bool) error {
	group := c.groups[g]
	if slices.Contains(c.opened, g) ||
		slices.ContainsFunc(group, func(i int) bool { return pins[i] || c.entries[i].compact }) ||
		len(group) == 1 && !c.entries[group[0]].tool {
		return nil
	}
	notes, err := c.notesFor(group)
	if err != nil || len(notes) == 0 {
		return err
	}
	item, err := c.items[group[0]].With(cupel.WithGroupVariants(notes...))
	c.items[group[0]] = item
	return err
}

// notesFor returns the notes of an exchange, from long to short: its calls, with
// less and less of its words and results.
func (c *Conversation) notesFor(group []int) (notes []cupel.Variant, err error) {
	const least = 0.02 // worth of saying that a call was made
	titles, said, total := c.summary(group)
	var forms []cupel.Variant
	if c.all {
		if forms, err = c.reduced(said); err != nil {
			return nil, err
		}
	}
	texts := counting{counter: c.counter}
	for _, form := range append(forms, cupel.Variant{}) {
		text := noteLabel + ": " + titles + "; results left out]"
		if form.Content != "" {
			text = noteLabel + ": " + titles + "; shortened]\n" + form.Content
		}
		if n := texts.count(text) + messageTokens; n < total {
			notes = append(notes, cupel.Variant{Content: text, Tokens: n, Worth: least + float64((1-2*least)*form.Worth)})
		}
	}
	return notes, texts.err
}

// summary returns the calls of an exchange, its words and results, and the tokens of
// all.
func (c *Conversation) summary(group []int) (titles, said string, total int) {
	var called, lines []string
	for _, i := range group {
		e := &c.entries[i]
		total = add(total, e.tokens)
		for _, p := range e.parts {
			if p.kind == call {
				called = append(called, callTitle(p.name, p.arguments))
			}
		}
		if mark := c.markOf(e); len(called) > 0 {
			called[len(called)-1] = marked(called[len(called)-1], mark)
		}
		text, _ := e.said()
		if text != "" && e.returns() && len(called) > 1 && e.title != "" {
			lines = append(lines, e.title+":")
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	if len(called) == 0 { // the API ran the tool, or the call is not there
		called = append(called, c.entries[group[len(group)-1]].headline())
	}
	return strings.Join(called, ", "), strings.Join(lines, "\n"), total
}
