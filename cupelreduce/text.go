package cupelreduce

import (
	"strings"
	"unicode/utf8"
)

// Option changes how a text is reduced.
type Option func(*settings)

type settings struct {
	count func(string) int
	known *Known
	kind  Kind // or auto
	total int  // tokens of the whole, 0 to count them
}

// WithCounter sets the function that counts tokens. Counts must not be negative,
// and must be nearly additive: the count of two lines is about the sum of their
// counts. Calls are sequential. nil counts a token for every four bytes, rounded
// up.
func WithCounter(count func(string) int) Option {
	return func(s *settings) {
		if count != nil {
			s.count = count
		}
	}
}

// WithTokens sets the tokens of the whole text, so that a long text need not be
// counted.
func WithTokens(n int) Option {
	return func(s *settings) { s.total = n }
}

// WithKnown puts last the parts that the reader knows: values in JSON, and
// elsewhere lines that are known whole or whose names are all known. nil means
// that the reader knows nothing.
func WithKnown(known *Known) Option {
	return func(s *settings) {
		if known != nil {
			s.known = known
		}
	}
}

// WithKind sets the kind of the text, in place of the one that [Detect] returns. If kind
// is [KindJSON], text that is not a JSON object or array is reduced as a log.
func WithKind(kind Kind) Option {
	return func(s *settings) { s.kind = kind }
}

// estimate is the default counter.
func estimate(s string) int { return (len(s) + 3) / 4 }

// Text is an analyzed text, which can be written in any size. It is immutable.
type Text struct {
	settings
	full  string
	draft draft
	asked []answer
}

// Read analyzes a text, in time linear in its length. Invalid UTF-8 becomes
// question marks.
func Read(text string, opts ...Option) *Text {
	t := &Text{settings: settings{count: estimate, known: &Known{}, kind: auto}}
	for _, opt := range opts {
		if opt != nil {
			opt(&t.settings)
		}
	}
	if t.full = text; !utf8.ValidString(text) {
		t.full = strings.ToValidUTF8(text, "?")
	}
	if t.total <= 0 {
		t.total = t.count(t.full)
	}
	t.takeApart()
	t.asked, t.known.asked = t.known.asked, nil
	return t
}

// takeApart makes the draft of a text.
func (t *Text) takeApart() {
	if t.kind == auto || t.kind == KindJSON {
		if d := parseJSON(t.full); d != nil {
			t.draft = pairDraft(d, t.known)
			return
		}
	}
	if t.kind == auto {
		t.kind = kindOfLines(t.full)
	}
	t.draft = newDraft(t.full, strings.Count(t.full, "\n")+len(t.full)/maxPiece+1)
	t.draft.addRow("")
	t.draft.addLines(t.full, t.kind, t.known, 0)
	t.draft.sort()
}

// Same reports whether a reader with this Known, in place of the one in [WithKnown],
// gets the same forms, because both answer the text's questions in the same way. It
// is faster than reading the text again.
func (t *Text) Same(known *Known) bool {
	if known == nil {
		known = &Known{}
	}
	for i := range t.asked {
		if a := &t.asked[i]; known.has(a.of, a.pair) != a.yes {
			return false
		}
	}
	return true
}

// To returns Read(text, opts...).To(tokens).
func To(text string, tokens int, opts ...Option) string {
	return Read(text, opts...).To(tokens)
}

// Tokens returns the tokens of the whole text.
func (t *Text) Tokens() int { return t.total }

const (
	// maxProbes bounds how many forms are written and counted to find the size.
	maxProbes = 24
	// maxSpare is how many unused tokens of a larger size are not worth another
	// try, besides a small share.
	maxSpare = 3
	// minSigns is the least size of a form that has neither letter nor digit.
	minSigns = 16
)

// To returns the best form of the text with at most this many tokens: the text
// itself if it fits, and otherwise a form that fills the size up to the last
// word. Parts by which a reader can ask for the rest come in first, then parts
// that identify the text, then the others, each in the order of the text, with
// marks for omitted parts. A larger form has everything that a smaller one has.
// The result is empty if no useful form fits.
func (t *Text) To(tokens int) string {
	if t.total <= tokens {
		return t.full
	}
	best, good := "", false
	spare := min(maxSpare, tokens/32) + tokens/512
	fits, exceeds := 0, t.draft.end()+1
	written, counted := 0, 0 // the place and the tokens of the last form
	at := int(float64(tokens) / float64(t.total) * float64(len(t.full)))
	for try := 0; try < maxProbes && exceeds-fits > 1; try++ {
		at = min(max(at, fits+1), exceeds-1)
		out, says := t.draft.form(at)
		n := t.count(out)
		if n <= tokens {
			best, good, fits = out, says, at
			if tokens-n <= 1+spare {
				break
			}
		} else {
			exceeds = at
		}
		next := fits + (exceeds-fits)/2
		if try%8 < 7 && n != counted {
			next = at + int(float64(tokens-spare/2-n)*float64(at-written)/float64(n-counted))
		}
		written, counted, at = at, n, next
	}
	if !good && tokens < minSigns {
		return ""
	}
	return best
}

// Size is the size and the worth of a form of a text.
type Size struct {
	Tokens int
	// Worth is the value of the form to a reader, in units that compare between texts: about 8
	// for each id, path or error, 4 for each name, 1 or less for anything else, almost nothing
	// for known parts, and 4 more for the whole text. Divided by the worth of the last size,
	// it is the share that the form keeps.
	Worth float64
}

const (
	firstSize = 4 // of the parts; marks about double it
	nextSize  = 1.25
	// nextForm is the factor from one form that is written to see its size to
	// the next.
	nextForm = 2
	// maxCounted is how many bytes of a form are counted for its size. The tokens of
	// larger ones follow from those of the whole.
	maxCounted = 4096
)

// Sizes returns sizes to choose from, the smallest first and the whole text last.
// Each has more tokens and worth than the one before, by a factor of about 1.25.
// The tokens of large sizes are estimates: the form that [Text.To] returns for one
// has about its worth.
func (t *Text) Sizes() []Size {
	end := float64(t.draft.end())
	var sizes []Size
	before, tokensBefore, saysBefore := 0.0, 0, false
	place := float64(max(1, firstSize*len(t.full)/max(1, t.total)))
	for at := place; before < end; at = min(at*nextForm, end) {
		tokens, says := t.total, true
		if at < end {
			var out string
			out, says = t.draft.form(int(at))
			if tokens = len(out) * t.total / len(t.full); len(out) <= maxCounted {
				tokens = t.count(out)
			}
			says = says || tokens >= minSigns
		}
		if !saysBefore {
			place = at
		}
		for ; says && place <= at; place *= nextSize {
			share := (place - before) / (at - before)
			s := Size{Tokens: tokensBefore + int(share*float64(tokens-tokensBefore)), Worth: t.draft.worth(int(place))}
			if n := len(sizes); s.Tokens < t.total && (n == 0 || sizes[n-1].Tokens < s.Tokens && sizes[n-1].Worth < s.Worth) {
				sizes = append(sizes, s)
			}
		}
		before, tokensBefore, saysBefore = at, tokens, says
	}
	return append(sizes, Size{Tokens: t.total, Worth: t.draft.worth(int(end)) + wholeWorth})
}
