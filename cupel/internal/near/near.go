// Package near finds near copies among texts.
//
// It implements the Near duplicates section of the Units chapter.
package near

import (
	"cmp"
	"context"
	"slices"
)

const (
	// shingle is the number of words in a row that are compared as one.
	shingle = 4
	// registered is how many of the texts that stay are known by one shingle, the
	// first ones: what many texts share finds only those.
	registered = 16
	// compared is how many of the texts that stay a text is compared with.
	compared = 8
	// contextWords is the number of words before and after a number by which numbers
	// of two texts are matched.
	contextWords = 2
)

// Copy records that a text is a near copy of an earlier one.
type Copy struct {
	Of            int // its position, or -1 if the text is not a copy
	Shared, Total int // of the shingles of the text, those that the other has, and all
}

// Find returns, for each text, whether it is a near copy of an earlier one that
// stays: at least the share threshold of its shingles are there, and no number
// differs. All texts are different and [Long]. The cost is
// linear in the sum of their words, but for the logarithm of the longest. It
// fails with the error of ctx.
func Find(ctx context.Context, texts []string, threshold float64) ([]Copy, error) {
	f := finder{
		words:    map[string]int32{"#": masked},
		shingles: make(map[[shingle]int32]int32),
		texts:    make([]text, len(texts)),
		met:      make([]int32, len(texts)),
	}
	copies := make([]Copy, len(texts))
	for i, content := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.read(i, content)
		copies[i] = f.best(i, threshold)
		if copies[i].Of < 0 {
			f.register(int32(i))
		} else {
			f.texts[i] = text{}
		}
	}
	return copies, nil
}

// masked stands for any number, and edge for the words before the first and
// after the last.
const (
	masked = 0
	edge   = -1
)

type finder struct {
	words    map[string]int32         // numbers that stand for words
	shingles map[[shingle]int32]int32 // numbers that stand for shingles
	known    [][]int32                // by shingle: the first texts that stay and have it
	texts    []text
	met      []int32 // by text, while another one is compared: shingles by which both are known
	list     []int32 // of the text that is read: its words
	marks    []bool  // of list: whether the word is a number
}

// text is what is kept of a text that stays.
type text struct {
	shingles []int32 // ascending, each once
	numbers  []number
}

// number is a number with the words on one side of it: the side, these words, and
// last the number.
type number [contextWords + 2]int32

func (a number) compare(b number) int { return slices.Compare(a[:], b[:]) }

func (a number) context() [contextWords + 1]int32 { return [contextWords + 1]int32(a[:]) }

// read splits a text into shingles and numbers.
func (f *finder) read(at int, content string) {
	f.list, f.marks = f.list[:0], f.marks[:0]
	eachWord(content, func(w word) bool {
		id, ok := f.words[w.text]
		if !ok {
			id = int32(len(f.words))
			f.words[w.text] = id
		}
		f.list, f.marks = append(f.list, id), append(f.marks, w.number)
		return true
	})
	t := &f.texts[at]
	t.shingles = make([]int32, 0, len(f.list))
	for i := range len(f.list) - shingle + 1 {
		key := [shingle]int32(f.list[i:])
		id, ok := f.shingles[key]
		if !ok {
			id = int32(len(f.known))
			f.shingles[key] = id
			f.known = append(f.known, nil)
		}
		t.shingles = append(t.shingles, id)
	}
	slices.Sort(t.shingles)
	t.shingles = slices.Compact(t.shingles)
	word := func(i int) int32 {
		switch {
		case i < 0 || i >= len(f.list):
			return edge
		case f.marks[i]:
			return masked
		}
		return f.list[i]
	}
	for i, isNumber := range f.marks {
		if !isNumber {
			continue
		}
		for side := range int32(2) {
			n := number{side}
			for at := 1; at <= contextWords; at++ {
				n[at] = word(i + at*int(2*side-1))
			}
			n[contextWords+1] = f.list[i]
			t.numbers = append(t.numbers, n)
		}
	}
	slices.SortFunc(t.numbers, number.compare)
}

// best returns the text that stays which a text is the nearest copy of.
func (f *finder) best(at int, threshold float64) Copy {
	t := &f.texts[at]
	var candidates []int32
	for _, s := range t.shingles {
		for _, other := range f.known[s] {
			if f.met[other] == 0 {
				candidates = append(candidates, other)
			}
			f.met[other]++
		}
	}
	slices.SortFunc(candidates, func(a, b int32) int { return cmp.Or(cmp.Compare(f.met[b], f.met[a]), cmp.Compare(a, b)) })
	best := Copy{Of: -1, Total: len(t.shingles)}
	for _, other := range candidates[:min(compared, len(candidates))] {
		o := &f.texts[other]
		shared := common(t.shingles, o.shingles)
		if float64(shared)/float64(best.Total) < threshold || differ(t.numbers, o.numbers) {
			continue
		}
		if shared > best.Shared || shared == best.Shared && int(other) < best.Of {
			best.Of, best.Shared = int(other), shared
		}
	}
	for _, other := range candidates {
		f.met[other] = 0
	}
	return best
}

// register makes a text known by its shingles.
func (f *finder) register(at int32) {
	for _, s := range f.texts[at].shingles {
		if len(f.known[s]) < registered {
			f.known[s] = append(f.known[s], at)
		}
	}
}

// common counts what is in both lists. It searches the second list, which may be
// far longer.
func common(a, b []int32) int {
	n := 0
	for _, id := range a {
		if _, found := slices.BinarySearch(b, id); found {
			n++
		}
	}
	return n
}

// differ reports whether numbers of two texts differ: whether there are words
// that stand on one side of numbers in both texts, and each text has such a
// number that the other lacks.
func differ(a, b []number) bool {
	var onlyA, onlyB number // the last that the other text lacks
	onlyA[0], onlyB[0] = -1, -2
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].compare(b[0]) < 0:
			onlyA, a = a[0], a[1:]
		case len(a) == 0 || a[0].compare(b[0]) > 0:
			onlyB, b = b[0], b[1:]
		default:
			a, b = a[1:], b[1:]
		}
		if onlyA.context() == onlyB.context() {
			return true
		}
	}
	return false
}
