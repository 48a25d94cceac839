package cupelrelevance

import (
	"math/bits"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// cohesion tells how many words neighbours of a list share, in comparison with
// strangers. It is found in a sample of the items, so that it takes as long in
// a long list as in a short one.
type cohesion struct {
	sample   []uint32 // numbers of the items, and of their neighbours
	shared   float64  // of the words of an item, by rarity, what the neighbours have
	expected float64  // what as many strangers have
}

// The settings of cohesion.
const (
	cohesionSample = 512     // items, at least half of that where there are as many
	cohesionNear   = 2       // neighbours of each
	cohesionText   = 1 << 12 // bytes of an item
	// What is believed of a list before its words are seen counts as if
	// strangers had been expected to share this many.
	cohesionPrior = 50.0
	cohesionUsual = 1.5 // lift of most lists
)

// lift returns how many times as many words neighbours share as strangers do, at
// least 1.
func (c *cohesion) lift(strangers bool) float64 {
	prior := cohesionPrior * cohesionUsual
	if strangers {
		prior = cohesionPrior
	}
	return max(1, (c.shared+prior)/(c.expected+cohesionPrior))
}

// markOf returns a number that looks random and depends on nothing but a text.
func markOf(text string) uint32 {
	mark := uint32(len(text))
	for i := range min(len(text), 64) {
		mark = (mark ^ uint32(text[i])) * 16777619
	}
	return mark
}

// cohesionOf samples a list. Which items are in the sample depends on their
// texts and not on their places, so that it stays the same in a list that grows
// or loses its oldest items. Then what is known from before is used again.
func cohesionOf(all []*cupel.ContextItem, o *order, numbers []uint32, facts []fact, before *cohesion) *cohesion {
	rarely := bits.Len(uint(len(all) / cohesionSample))
	c := &cohesion{}
	var runs [][]uint32 // positions of an item and its neighbours
	for g := range o.numGroups() {
		sequence := o.at(g)
		for p := range max(0, len(sequence)-1) {
			run := sequence[p:min(p+1+cohesionNear, len(sequence))]
			mark := facts[numbers[run[0]]].mark ^ bits.RotateLeft32(facts[numbers[run[1]]].mark, 16)
			if mark*0x9E3779B1>>(32-rarely) != 0 {
				continue
			}
			runs = append(runs, run)
			for _, i := range run {
				c.sample = append(c.sample, numbers[i])
			}
		}
	}
	if before != nil && slices.Equal(c.sample, before.sample) {
		return before
	}
	c.count(all, runs)
	return c
}

// sampledWord is what a sample says of a word.
type sampledWord struct {
	items  int // sampled items that have it
	asked  int // their neighbours
	shared int // those of the neighbours that have it too
	seen   int // the last text that had it
	run    int // the last run whose item had it
}

// count counts the words that items share with their neighbours.
func (c *cohesion) count(all []*cupel.ContextItem, runs [][]uint32) {
	numbers := make(map[string]int)
	var words []sampledWord
	text, run, neighbours := 0, 0, 0 // numbers of the text and the run, from 1; neighbours of the item, 0 while one is read
	reader := newTokenizer(func(term []byte, _ bool) {
		number, known := numbers[string(term)]
		if !known {
			if neighbours == 0 {
				return
			}
			number = len(words)
			numbers[string(term)] = number
			words = append(words, sampledWord{})
		}
		w := &words[number]
		if w.seen == text {
			return
		}
		w.seen = text
		if neighbours > 0 {
			w.items, w.asked, w.run = w.items+1, w.asked+neighbours, run
		} else if w.run == run {
			w.shared++
		}
	})
	for _, positions := range runs {
		run, neighbours = run+1, len(positions)-1
		for _, i := range positions {
			text++
			content := all[i].Content()
			reader.text(content[:min(len(content), cohesionText)])
			neighbours = 0
		}
	}
	n := float64(len(runs))
	for _, w := range words {
		items := float64(w.items)
		rarity := ln(1 + (n-items+0.5)/(items+0.5))
		c.shared += float64(rarity * float64(w.shared))
		c.expected += float64(rarity * (float64(w.asked) * (items - 1) / max(1, n-1)))
	}
}
