package cupelreduce

// Text is a text taken apart once, of which any size can be had.
type Text struct {
	source *source
	total  int // tokens of the whole
}

// Size is how large a form of a text is and what it says.
type Size struct {
	Tokens int
	// Worth is what the form says, in units that compare between texts: about 8
	// for each id, path or error, 4 for each name, 1 or less for anything else,
	// next to nothing for what is known, and 4 more for the whole text. Divided
	// by the worth of the last size it is the share that the form keeps.
	Worth float64
}

// Read takes a text apart, in time linear in its length.
func Read(text string, opts ...Option) *Text {
	s := read(text, opts)
	return &Text{source: s, total: s.count(s.full)}
}

// Tokens returns the tokens of the whole text.
func (t *Text) Tokens() int { return t.total }

// To returns the best form of the text that has at most so many tokens: the text
// itself if it fits, and nothing if no form that says something does.
func (t *Text) To(tokens int) string {
	if t.total <= tokens {
		return t.source.full
	}
	return t.source.reduce(tokens)
}

// Sizes returns sizes to choose from, the smallest first and the whole text last,
// each of more tokens and worth than the one before.
func (t *Text) Sizes() []Size {
	d := t.source.draft(80)
	d.count(t.source.count)
	whole := d.whole()
	var sizes []Size
	for size := float64(firstForm); size < float64(t.total); size *= nextSize {
		d.clear()
		d.choose(0, int(size))
		worth := d.worth()
		if n := len(sizes); worth > 0 && worth < whole && (n == 0 || sizes[n-1].Tokens < int(size) && sizes[n-1].Worth < worth) {
			sizes = append(sizes, Size{Tokens: int(size), Worth: worth})
		}
	}
	return append(sizes, Size{Tokens: t.total, Worth: whole})
}

// To returns Read(text, opts...).To(tokens).
func To(text string, tokens int, opts ...Option) string {
	return Read(text, opts...).To(tokens)
}
