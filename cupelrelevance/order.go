package cupelrelevance

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// order is the reading order of a list: group by group, and by time within a
// group.
type order struct {
	sequence []uint32  // positions of the items
	starts   []int     // of each group in sequence; one more at the end
	decays   []float64 // of each group, of a word from one item to the next
	size     float64   // mean size of an item's group, over all items
}

// groupName is what names a group: a metadata key, by its number in the
// settings, and its value. The key is -1 for items that have none.
type groupName struct {
	key  int
	text string
}

// groupOf returns the group of an item: the first of keys that it has.
func groupOf(item *cupel.ContextItem, keys []string) groupName {
	for k, key := range keys {
		if text, ok := metadataText(item, key); ok {
			return groupName{k, text}
		}
	}
	return groupName{key: -1}
}

// newOrder orders a list by groups, which are split where time passed between
// two items. The items have the given numbers, by which their facts are found,
// and these have the numbers of at most names groups.
func newOrder(all []*cupel.ContextItem, numbers []uint32, facts []fact, names int, gap time.Duration) *order {
	o := &order{sequence: make([]uint32, len(all))}
	groups := make([]uint32, names) // one more than their numbers in the list
	var sizes []int
	var timed []bool // whether all items of the group have a timestamp
	for _, number := range numbers {
		f := &facts[number]
		if groups[f.group] == 0 {
			sizes, timed = append(sizes, 0), append(timed, true)
			groups[f.group] = uint32(len(sizes))
		}
		g := groups[f.group] - 1
		sizes[g]++
		timed[g] = timed[g] && f.timed
	}
	o.starts = make([]int, len(sizes)+1)
	for g, size := range sizes {
		o.starts[g+1] = o.starts[g] + size
	}
	next := slices.Clone(o.starts)
	for i, number := range numbers {
		g := groups[facts[number].group] - 1
		o.sequence[next[g]] = uint32(i)
		next[g]++
	}
	starts := []int{}
	for g, sortable := range timed {
		from, to := o.starts[g], o.starts[g+1]
		starts = append(starts, from)
		if !sortable {
			continue
		}
		part := o.sequence[from:to]
		byTime := func(a, b uint32) int { return timeOf(all[a]).Compare(timeOf(all[b])) }
		if !slices.IsSortedFunc(part, byTime) { // as most lists are
			slices.SortStableFunc(part, byTime)
		}
		for i := 1; i < len(part); i++ {
			if timeOf(all[part[i]]).Sub(timeOf(all[part[i-1]])) > gap {
				starts = append(starts, from+i)
			}
		}
	}
	o.starts = append(starts, len(all))
	o.decays = make([]float64, o.numGroups())
	for g := range o.numGroups() {
		part := o.sequence[o.starts[g]:o.starts[g+1]]
		o.size += float64(float64(len(part))*float64(len(part))) / float64(len(all))
		blocks := 0
		for _, i := range part {
			if facts[numbers[i]].block {
				blocks++
			}
		}
		o.decays[g] = decayOf(len(part), blocks)
	}
	return o
}

// The decay of a word from one item to the next.
const (
	decayLong  = 0.95 // in groups of many items; above 0 and below 1
	decayShort = 0.35 // less in groups of few
	decaySize  = 50.0 // items that make a group neither
	decayBlock = 0.4  // in files and documents
)

// decayOf returns the decay in a group of some size. A passage of a meeting goes
// on for dozens of turns, one of a chat of twenty turns for a few. Functions and
// sections speak for themselves: a group is a file or a document if more than
// half of its items are blocks. Answers in a chat may be, but few questions are.
func decayOf(size, blocks int) float64 {
	if 2*blocks > size {
		return decayBlock
	}
	ratio := float64(size) / decaySize
	return decayLong - float64(decayShort/(1+float64(ratio*ratio)))
}

// isBlock reports whether a text has three lines or more.
func isBlock(text string) bool {
	_, rest, _ := strings.Cut(text, "\n")
	return strings.Contains(rest, "\n")
}

func timeOf(item *cupel.ContextItem) time.Time {
	t, _ := item.Timestamp()
	return t
}

// metadataText returns a metadata value as text: strings as they are, numbers
// and truth values as they are written. Others, and "", are absent.
func metadataText(item *cupel.ContextItem, key string) (string, bool) {
	value, ok := item.MetadataValue(key)
	if !ok {
		return "", false
	}
	text := ""
	switch v := value.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = strconv.FormatBool(v)
	case int:
		text = strconv.Itoa(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return text, text != ""
}

func (o *order) numGroups() int { return len(o.starts) - 1 }

// at returns the positions of the items of a group, in order.
func (o *order) at(g int) []uint32 { return o.sequence[o.starts[g]:o.starts[g+1]] }
