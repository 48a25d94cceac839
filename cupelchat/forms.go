package cupelchat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/internal/english"
)

// Texts from this many tokens on have smaller forms.
const (
	longResult  = 48
	longMessage = 160
)

// variants returns the smaller forms of an entry.
func (c *Conversation) variants(e *entry) ([]cupel.Variant, error) {
	switch {
	case isSystem(e.role), e.role == "tools", e.role == "reasoning", e.compact, c.ownForms && c.forms == nil:
		return nil, nil
	}
	text, tokens := e.said()
	long, tool := longMessage, ""
	if e.returns() {
		long, tool = longResult, strings.Join(distinct(e.names), ", ")
	}
	if tokens < 2 || text == "" {
		return nil, nil
	}
	var forms []cupel.Variant
	if c.ownForms {
		forms = c.forms(tool, text)
	} else if tokens >= long {
		var err error
		if forms, err = c.reduced(text); err != nil {
			return nil, err
		}
	}
	var variants []cupel.Variant
	for _, v := range forms {
		if !c.ownForms && !e.returns() {
			v.Content += "\n" + shortened(tokens)
		}
		if v.Content != "" {
			n, err := counted(c.counter, v.Content)
			if err != nil {
				return nil, err
			}
			v.Tokens, v.Content = n, e.with(v.Content)
		}
		if v.Tokens < tokens {
			v.Tokens += e.tokens - tokens
			variants = append(variants, v)
		}
	}
	return variants, nil
}

// smallestForm is the size that the smallest forms have at most, in tokens.
const smallestForm = 8

// reduced returns a few smaller forms of a text, each about a third of the one before,
// with their worth as a share of the text's.
func (c *Conversation) reduced(text string) ([]cupel.Variant, error) {
	texts := counting{counter: c.counter}
	whole := cupelreduce.Read(text, cupelreduce.WithCounter(texts.count))
	sizes := whole.Sizes()
	most := sizes[len(sizes)-1].Worth
	var few []cupel.Variant
	for size, last := whole.Tokens()/2, ""; ; size = max(size/3, smallestForm) {
		at := slices.IndexFunc(sizes, func(s cupelreduce.Size) bool { return s.Tokens > size }) - 1
		if form := whole.To(size); at >= 0 && form != "" && form != last {
			few, last = append(few, cupel.Variant{Content: form, Worth: sizes[at].Worth / most}), form
		}
		if size <= smallestForm {
			return few, texts.err
		}
	}
}

// shortened is the line that marks a message that is not what was said.
func shortened(tokens int) string {
	return fmt.Sprintf("[shortened from %s]", english.Plural(tokens, "token"))
}

// said returns what the words of an entry say, and their tokens.
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

// said is what the content of a smaller form says of an entry.
type said struct {
	text   string         // without the lines of calls, media and what else stays as it is
	gone   map[int]bool   // the media that the form does not have
	calls  map[int]string // shorter arguments
	called bool           // has a call
}

// saidBy returns what the content of a form says. It is the reverse of with.
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

// shortIn returns the arguments of a call as a content has them, if they are
// shortened there.
func (p *part) shortIn(content string) (arguments string, ok bool) {
	if p.value.IsZero() || !strings.Contains(content, markEnds) {
		return "", false
	}
	for line := range strings.SplitSeq(content, "\n") {
		rest, begins := strings.CutPrefix(line, p.name+"(")
		if short, ends := strings.CutSuffix(rest, ")"); begins && ends && isShort(short, p.arguments) {
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

// leftOut stands for words of which nothing is left.
const leftOut = "…"

// The first line of a note begins like this.
const noteLabel = "[earlier"

// addNotes gives exchanges the notes that may stand in their place.
func (c *Conversation) addNotes(pins []bool) error {
	if c.ownForms && c.forms == nil {
		return nil
	}
	open := c.open()
	for g, group := range c.groups {
		if slices.Contains(open, g) || slices.ContainsFunc(group, func(i int) bool { return pins[i] || c.entries[i].compact }) {
			continue
		}
		if !slices.ContainsFunc(group, func(i int) bool { return c.entries[i].tool }) {
			continue
		}
		notes, err := c.notesFor(group)
		if err != nil {
			return err
		}
		if len(notes) == 0 {
			continue
		}
		item, err := c.items[group[0]].With(cupel.WithGroupVariants(notes...))
		if err != nil {
			return err
		}
		c.items[group[0]] = item
	}
	return nil
}

// notesFor returns the notes of an exchange: its calls, with less and less of what
// was said and returned.
func (c *Conversation) notesFor(group []int) ([]cupel.Variant, error) {
	total := 0
	for _, i := range group {
		total = add(total, c.entries[i].tokens)
	}
	var notes []cupel.Variant
	texts := counting{counter: c.counter}
	for _, share := range []float64{0.3, 0.1, 0} {
		text, worth := c.noteText(group, total, share, texts.count)
		if n := texts.count(text) + messageTokens; n < total {
			notes = append(notes, cupel.Variant{Content: text, Tokens: n, Worth: worth})
		}
	}
	return notes, texts.err
}

// noteText writes a note with a share of what an exchange of so many tokens says.
func (c *Conversation) noteText(group []int, total int, share float64, count func(string) int) (text string, worth float64) {
	const least = 0.02 // that a call was made
	var titles, lines []string
	for _, i := range group {
		for _, p := range c.entries[i].parts {
			if p.kind == call {
				titles = append(titles, callTitle(p.name, p.arguments))
			}
		}
	}
	if len(titles) == 0 { // the API ran the tool, or the call is not there
		titles = append(titles, c.entries[group[0]].headline())
	}
	worth = least
	for _, i := range group {
		e := &c.entries[i]
		said, tokens := e.said()
		if share == 0 || said == "" {
			continue
		}
		out := cupelreduce.To(said, int(float64(tokens)*share), cupelreduce.WithCounter(count))
		if out == "" {
			continue
		}
		if e.returns() && len(titles) > 1 && e.title != "" {
			lines = append(lines, e.title+":")
		}
		lines = append(lines, out)
		// What comes first in an outline is worth most.
		worth += 0.9 * min(1, 2*share) * float64(tokens) / float64(max(total, 1))
	}
	label := noteLabel + ": " + strings.Join(titles, ", ") + "; shortened]"
	if len(lines) == 0 {
		label = noteLabel + ": " + strings.Join(titles, ", ") + "; results left out]"
	}
	return strings.Join(append([]string{label}, lines...), "\n"), min(worth, 0.95)
}
