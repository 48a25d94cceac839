package cupelrelevance

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// order is the reading order of a list: group by group, and by time within a
// group.
type order struct {
	sequence []uint32 // positions of the items
	starts   []int    // of each group in sequence; one more at the end
	manners  []manner // of each group
	sample   *sample
}

// groupName identifies a group by a metadata key, by its number, and its
// value. The key is -1 for items that have none.
type groupName struct {
	key  int
	text string
}

// groupOf returns the group of an item.
func groupOf(item *cupel.ContextItem) groupName {
	for k, key := range groupKeys {
		if text, ok := metadataText(item, key); ok {
			return groupName{k, text}
		}
	}
	return groupName{key: -1}
}

// newOrder orders a list by groups, which are split where time passed between
// two items. numbers locate the facts of the items, which name at most names
// groups. before is the order of a similar list, or nil.
func newOrder(all []*cupel.ContextItem, numbers []uint32, facts []fact, names int, before *sample) *order {
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
	byTime := func(a, b uint32) int { return timeOf(all[a]).Compare(timeOf(all[b])) }
	starts := []int{}
	for g, sortable := range timed {
		from, to := o.starts[g], o.starts[g+1]
		starts = append(starts, from)
		if !sortable {
			continue
		}
		part := o.sequence[from:to]
		if !slices.IsSortedFunc(part, byTime) { // as most lists are
			slices.SortStableFunc(part, byTime)
		}
		for i := 1; i < len(part); i++ {
			if timeOf(all[part[i]]).Sub(timeOf(all[part[i-1]])) > pause {
				starts = append(starts, from+i)
			}
		}
	}
	o.starts = append(starts, len(all))
	strangers := len(all) < itemsOfGroup*o.numGroups()
	if strangers {
		for i := range o.sequence {
			o.sequence[i] = uint32(i)
		}
		if !slices.Contains(timed, false) {
			slices.SortStableFunc(o.sequence, byTime)
		}
		o.starts = []int{0, len(all)}
	}
	o.sample = sampleOf(all, o, numbers, facts, before)
	lift := o.sample.lift(strangers)
	o.manners = make([]manner, o.numGroups())
	for g := range o.numGroups() {
		bytes := 0
		for _, i := range o.at(g) {
			bytes += int(facts[numbers[i]].bytes)
		}
		o.manners[g] = mannerOf(len(o.at(g)), float64(bytes)/float64(len(o.at(g))), lift)
	}
	return o
}

// itemsOfGroup is how many items groups must have on average. If they have
// fewer, such as documents with one found passage each, the list has no
// groups.
const itemsOfGroup = 2

func timeOf(item *cupel.ContextItem) time.Time {
	t, _ := item.Timestamp()
	return t
}

// metadataText returns a metadata value as text: strings as they are, numbers
// and booleans as they are written. Other values, and "", count as absent.
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
