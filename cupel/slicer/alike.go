package slicer

import (
	"math/bits"
	"slices"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
)

// minWords is the least number of words of a text that may be like another one.
// Answers such as "yes, of course" repeat each other without being copies.
const minWords = 8

// likenesses returns a function that compares the words of two items: twice the
// number of different pairs of words in a row that both have, over the sum of those
// that each has, where that is at least [leastLikeness], and 0 below. Words are runs
// of letters, marks and numbers, compared in small letters. Texts of fewer than
// [minWords], and two texts where one has more than twice the pairs of the other, are
// not alike. It reads a text when the text is first compared.
func likenesses(items []cupel.ScoredItem) func(i, j int) float64 {
	texts := make([]*pairSet, len(items))
	of := func(i int) *pairSet {
		if texts[i] == nil {
			texts[i] = newPairSet(items[i].Item.Content())
		}
		return texts[i]
	}
	return func(i, j int) float64 {
		x, y := of(i), of(j)
		a, b := x.pairs, y.pairs
		n := len(a) + len(b)
		if x.words < minWords || y.words < minWords || len(a) > 2*len(b) || len(b) > 2*len(a) || float64(2*x.atMost(y)) < leastLikeness*float64(n) {
			return 0
		}
		shared := 0
		for len(a) > 0 && len(b) > 0 {
			switch x, y := a[0], b[0]; {
			case x < y:
				a = a[1:]
			case x > y:
				b = b[1:]
			default:
				shared++
				a, b = a[1:], b[1:]
			}
		}
		if likeness := float64(2*shared) / float64(n); likeness >= leastLikeness {
			return likeness
		}
		return 0
	}
}

// leastLikeness is the least likeness of words that is not 0. Most texts are less
// alike, which a comparison of bits finds out.
const leastLikeness = 0.25

// pairSet are the different pairs of words in a row of a text.
type pairSet struct {
	words int
	pairs []uint64   // hashes, ascending
	bits  [16]uint64 // of the hashes
	extra int        // pairs that set no bit of their own
}

// atMost returns a number that the pairs which both have do not exceed.
func (p *pairSet) atMost(other *pairSet) int {
	n := min(p.extra, other.extra)
	for i, b := range p.bits {
		n += bits.OnesCount64(b & other.bits[i])
	}
	return n
}

// newPairSet reads a text. Hashes may collide: texts made for that gain nothing
// but to be taken for copies of each other.
func newPairSet(text string) *pairSet {
	const (
		offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
		multiplier    = 0x9E3779B97F4A7C15
	)
	p := &pairSet{}
	var last, word uint64
	within := false
	end := func() {
		if !within {
			return
		}
		if p.words++; p.words > 1 {
			// A small factor would make one pair of what differs little, such as
			// "b z" and "m e".
			hash := (last*multiplier + word) * multiplier
			p.pairs = append(p.pairs, hash^hash>>29)
		}
		last, within = word, false
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) {
			end()
			continue
		}
		if !within {
			word, within = offset, true
		}
		word = (word ^ uint64(unicode.ToLower(r))) * prime
	}
	end()
	slices.Sort(p.pairs)
	p.pairs = slices.Compact(p.pairs)
	for _, hash := range p.pairs {
		at, bit := hash%16, uint64(1)<<(hash>>4%64)
		if p.bits[at]&bit != 0 {
			p.extra++
		}
		p.bits[at] |= bit
	}
	return p
}
