package cupelreduce

import (
	"slices"
	"strings"
)

// Option changes how a text is reduced.
type Option func(*settings)

type settings struct {
	count func(string) int
	known *Known
	kind  Kind // or auto
}

// WithCounter sets the function that counts tokens. It must be safe for calls in
// a row, never negative, and about additive: the count of two lines about the
// sum of their counts. nil counts a token for every four bytes or part of it.
func WithCounter(count func(string) int) Option {
	return func(s *settings) {
		if count != nil {
			s.count = count
		}
	}
}

// WithKnown leaves out of outlines what the reader knows: values in JSON, and
// lines elsewhere that are known whole or whose names all are. nil knows nothing.
func WithKnown(known *Known) Option {
	return func(s *settings) { s.known = known }
}

// WithKind says what the text is instead of what [Detect] makes of it. Text that
// is no JSON object or array is reduced as a log when kind is [KindJSON].
func WithKind(kind Kind) Option {
	return func(s *settings) { s.kind = kind }
}

// estimate is the default counter.
func estimate(s string) int { return (len(s) + 3) / 4 }

// source is a text to be reduced.
type source struct {
	settings
	full string
	root *node // of JSON
}

func read(text string, opts []Option) *source {
	t := &source{settings: settings{count: estimate, kind: auto}}
	for _, opt := range opts {
		if opt != nil {
			opt(&t.settings)
		}
	}
	// A question mark is never longer than the bytes that are no character.
	t.full = strings.ToValidUTF8(text, "?")
	if t.kind == auto || t.kind == KindJSON {
		t.root = parseJSON(t.full)
	}
	if t.kind == auto && t.root == nil {
		t.kind = kindOfLines(t.full)
	}
	return t
}

// draft takes the text apart, with lines and strings cut after width bytes.
func (t *source) draft(width int) *draft {
	if t.root != nil {
		return pairDraft(t.root, t.known, width)
	}
	d := &draft{lines: true}
	d.addLines(t.full, t.kind, t.known, width)
	return d
}

// valid writes a JSON document that is still one: half of what is worth more in a
// whole text than its parts.
func (t *source) valid(to shape) (out string, worth float64) {
	w := writer{shape: to, worth: wholeWorth / 2}
	w.write("", t.root)
	return w.b.String(), w.worth
}

// shapes are the valid forms of a document, smallest first.
var shapes = []shape{{text: 80, array: 10}, {text: 400, array: 50}}

// Reduce returns the text if it has at most the given number of tokens, and
// otherwise an outline that has: what a reader can ask for the rest by comes in
// first, then what says what the text is, then the rest, each in the order of
// the text. What is left out is marked. JSON is valid JSON if cutting long strings
// and arrays keeps as much as lines of key=value would, and the reader knows
// nothing. The result is empty if nothing fits.
//
// The result is valid UTF-8 and never longer than the text; bytes that are no
// character become question marks. It takes time linear in the text, and counts
// each of its lines or values a few times.
func Reduce(text string, tokens int, opts ...Option) string {
	return To(text, tokens, opts...)
}

// reduce writes the best outline of at most so many tokens.
func (t *source) reduce(tokens int) string {
	width := max(80, tokens) // a line takes a quarter of the room, or about 20 tokens
	if tokens < 27 {
		width = max(0, 3*tokens) // one fits
	}
	d := t.draft(width)
	d.count(t.count)
	out := d.fill(tokens, len(t.full), t.count)
	if t.root != nil && t.known == nil {
		for _, shape := range slices.Backward(shapes) {
			if v, worth := t.valid(shape); worth >= d.worth() && len(v) < len(t.full) && t.count(v) <= tokens {
				return v
			}
		}
	}
	return out
}

// Form is a text in one of its sizes.
type Form struct {
	Text   string
	Tokens int
	// Worth is what the form says, in units that compare between texts: about 8
	// for each id, path or error, 4 for each name, 1 or less for anything else,
	// next to nothing for what is known, 4 more for the whole text, and 2 for
	// JSON that is still valid. Divided by the worth of the last form it is the
	// share that the form keeps, in (0,1].
	Worth float64
}

// The ladder of forms: tokens of the first, and from one to the next.
const (
	firstForm = 8
	nextForm  = 1.5
	nextSize  = 1.25
	wideForm  = 100 // tokens from which lines are cut later
)

// Forms returns the text in several sizes, the smallest first and the text
// itself last, each with more tokens and of more worth than the one before. Each
// smaller one has about two thirds of the tokens of the next, and takes its
// parts in the order of [Reduce]. A text that is too short to be reduced has one
// form. It takes linear time, and counts each line or value of the text twice.
func Forms(text string, opts ...Option) []Form {
	t := read(text, opts)
	total := t.count(t.full)
	var forms []Form
	add := func(out string, worth float64) {
		f := Form{Text: out, Tokens: t.count(out), Worth: worth}
		if out == "" || worth <= 0 || f.Tokens >= total || len(out) >= len(t.full) {
			return
		}
		for len(forms) > 0 && forms[len(forms)-1].Tokens >= f.Tokens && forms[len(forms)-1].Worth <= worth {
			forms = forms[:len(forms)-1]
		}
		if n := len(forms); n == 0 || forms[n-1].Tokens < f.Tokens && forms[n-1].Worth < worth {
			forms = append(forms, f)
		}
	}
	d := t.draft(80)
	d.count(t.count)
	whole, wide := d.whole(), false
	for size := float64(firstForm); size < float64(total); size *= nextForm {
		if size > wideForm && !wide {
			d, wide = t.draft(240), true
			d.count(t.count)
		}
		d.clear()
		end, _ := d.choose(0, int(size))
		add(d.String(), d.worth())
		if end == len(d.order) {
			break
		}
	}
	if t.root != nil && t.known == nil {
		for _, s := range shapes {
			out, worth := t.valid(s)
			add(out, min(worth, whole-wholeWorth/4))
		}
	}
	return append(forms, Form{Text: t.full, Tokens: total, Worth: whole})
}
