package cupelrelevance

import "slices"

// passageSaturation is the amount of a word in one place above which more of it
// adds little; above 0.
const passageSaturation = 12.0

// addPassages adds to each score the amount of each word of the question in the
// item and around it. Repeated occurrences in one place add less and less, so a
// place with many different words of the question beats one with many occurrences
// of the same word.
//
// With v the value of the word in an item as [Lexical] counts it, from 0 to k1+1,
// and d its sum over all items of the group, each times decay^distance:
//
//	score += weight * d * (saturation + 1) / (d + saturation)
//
// before is scratch.
func addPassages(o *order, weight float64, values, before, scores []float64) {
	for g := range o.numGroups() {
		addPassage(o.at(g), o.manners[g].decay, weight, values, before, scores)
	}
}

// addPassage adds the scores of one word in one group.
func addPassage(sequence []uint32, decay, weight float64, values, before, scores []float64) {
	sum, found := 0.0, false
	for _, i := range sequence {
		sum = float64(sum*decay) + values[i]
		before[i] = sum
		found = found || values[i] != 0
	}
	if !found {
		return
	}
	sum = 0
	for _, i := range slices.Backward(sequence) {
		sum = float64(sum * decay)
		d := before[i] + sum
		sum += values[i]
		scores[i] += float64(weight * (d * (passageSaturation + 1) / (d + passageSaturation)))
	}
}
