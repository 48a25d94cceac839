package cupelrelevance

// manner tells whether the items of a group speak each for itself, or
// together.
type manner struct {
	decay float64 // decay of a word from one item to the next
	own   float64 // weight of the item itself, as a share of the passage
}

// The settings of manners.
const (
	mannerReach  = 3000.0 // length of items from which hardly anything spreads, in bytes
	mannerShare  = 7.0    // the most items over which half of a word spreads
	mannerLong   = 50.0   // items that make a group neither short nor long
	mannerApart  = 1.05   // lift from which neighbors are not strangers
	mannerTopics = 3.0    // lift of a list of many topics, see [sample.lift]
)

// mannerOf returns the manner of a group of some items, of bytes each on
// average, in a list with the given lift, at least 1.
//
// A passage of a meeting goes on for dozens of short turns; an abstract speaks
// for itself, and a session of a chat has several passages. If neighbors
// share no more words than strangers do, as in the results of a search, there
// are no passages.
//
// In a long group on one topic, like a meeting, an item says little and the
// passage decides. In a short group, and if neighbors share many words that
// the rest of the list lacks, as the functions of a file do, the item itself
// counts as much as the passage.
func mannerOf(items int, bytes, lift float64) manner {
	n, length, topics := float64(items), 1+bytes/mannerReach, (lift-1)/(mannerTopics-1)
	together := min(1, (lift-1)/(mannerApart-1))
	return manner{
		decay: together / (length * length) * (n / (n + mannerShare)),
		own:   min(1, max(1/(1+float64(n*n)/(mannerLong*mannerLong)), float64(topics*topics))),
	}
}
