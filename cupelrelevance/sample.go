package cupelrelevance

import (
	"math/bits"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// sample has the properties of a list that a sample shows: its languages, and how
// many words neighbors share compared with strangers. It takes as long in a long
// list as in a short one.
type sample struct {
	numbers   []uint32 // of the items, and of their neighbors
	languages languages
	shared    float64 // the share of an item's words, by rarity, that the neighbors have
	expected  float64 // the share that as many strangers have
}

// The settings of samples.
const (
	sampleSize  = 512     // items, at least half of that if there are as many
	sampleNear  = 2       // neighbors of each
	sampleBytes = 1 << 12 // of an item
	// The prior belief about a list counts as if strangers had been expected
	// to share this many words.
	samplePrior = 50.0
	sampleUsual = 1.5 // lift of most lists
)

// lift returns how many times as many words neighbors share as strangers do, at
// least 1.
func (s *sample) lift(strangers bool) float64 {
	prior := samplePrior * sampleUsual
	if strangers {
		prior = samplePrior
	}
	return max(1, (s.shared+prior)/(s.expected+samplePrior))
}

// markOf returns a number that looks random and depends only on a text.
func markOf(text string) uint16 {
	mark := uint32(len(text))
	for i := range min(len(text), 64) {
		mark = (mark ^ uint32(text[i])) * 16777619
	}
	return uint16(mark >> 16)
}

// sampleOf samples a list. Which items are in the sample depends on their texts
// and not on their places, so that it stays the same in a list that grows or
// loses its oldest items. Earlier results can then be reused.
func sampleOf(all []*cupel.ContextItem, o *order, numbers []uint32, facts []fact, before *sample) *sample {
	rarely := bits.Len(uint(len(all) / sampleSize))
	s := &sample{}
	var runs [][]uint32 // positions of an item and its neighbors
	for g := range o.numGroups() {
		sequence := o.at(g)
		for p := range sequence {
			run := sequence[p:min(p+1+sampleNear, len(sequence))]
			mark := uint32(facts[numbers[run[0]]].mark)
			if len(run) > 1 {
				mark |= uint32(facts[numbers[run[1]]].mark) << 16
			}
			if mark*0x9E3779B1>>(32-rarely) != 0 {
				continue
			}
			runs = append(runs, run)
			for _, i := range run {
				s.numbers = append(s.numbers, numbers[i])
			}
		}
	}
	if before != nil && slices.Equal(s.numbers, before.numbers) {
		return before
	}
	s.count(all, runs)
	return s
}

// sampledWord is the data of a sample on a word.
type sampledWord struct {
	items  int // sampled items that have it
	asked  int // their neighbors
	shared int // the neighbors that have it too
	seen   int // the last text that had it
	run    int // the last run whose item had it, from 1
}

// sampledText is a text that was read, which neighbors in the list need again.
type sampledText struct {
	item  *cupel.ContextItem
	words []int // without repetitions
}

// count counts the words that items share with their neighbors.
func (s *sample) count(all []*cupel.ContextItem, runs [][]uint32) {
	numbers := make(map[string]int)
	var words []sampledWord
	var ofItems []int // words of items, and not of neighbors alone
	var texts [1 + sampleNear]sampledText
	text := 0 // how many were read
	reader := newTokenizer(func(term []byte, _ bool) {
		number, known := numbers[string(term)]
		if !known {
			number = len(words)
			numbers[string(term)] = number
			words = append(words, sampledWord{})
		}
		if words[number].seen != text {
			words[number].seen = text
			last := &texts[text%len(texts)]
			last.words = append(last.words, number)
		}
	})
	for run, positions := range runs {
		for k, i := range positions {
			at := slices.IndexFunc(texts[:], func(t sampledText) bool { return t.item == all[i] })
			if at < 0 {
				text++
				at = text % len(texts)
				texts[at] = sampledText{all[i], texts[at].words[:0]}
				content := all[i].Content()
				reader.text(content[:min(len(content), sampleBytes)])
			}
			for _, number := range texts[at].words {
				w := &words[number]
				if k > 0 {
					if w.run == run+1 {
						w.shared++
					}
					continue
				}
				if w.items == 0 {
					ofItems = append(ofItems, number)
				}
				w.items, w.asked, w.run = w.items+1, w.asked+len(positions)-1, run+1
			}
		}
	}
	n := float64(len(runs))
	for _, number := range ofItems {
		w := &words[number]
		items := float64(w.items)
		rarity := ln(1 + (n-items+0.5)/(items+0.5))
		s.shared += float64(rarity * float64(w.shared))
		s.expected += float64(rarity * (float64(w.asked) * (items - 1) / max(1, n-1)))
	}
	having := make(map[string]int)
	for word, number := range numbers {
		if words[number].items > 0 && len(languagesOf[word]) > 0 {
			having[word] = words[number].items
		}
	}
	s.languages = detected(having)
}
