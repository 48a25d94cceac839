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
	group    []uint32 // of each item
	size     float64  // mean size of an item's group, over all items
}

// newOrder groups by the first of keys that an item has in its metadata, and
// where time passed between two items. Items that have none of the keys are one
// group.
func newOrder(all []*cupel.ContextItem, keys []string, gap time.Duration) *order {
	o := &order{sequence: make([]uint32, len(all)), group: make([]uint32, len(all))}
	type groupName struct {
		key  int
		text string
	}
	numbers := make(map[groupName]uint32)
	var sizes []int
	var timed []bool // whether all items of the group have a timestamp
	for i, item := range all {
		name := groupName{key: -1}
		for k, key := range keys {
			if text, ok := metadataText(item, key); ok {
				name = groupName{k, text}
				break
			}
		}
		number, known := numbers[name]
		if !known {
			number = uint32(len(numbers))
			numbers[name] = number
			sizes, timed = append(sizes, 0), append(timed, true)
		}
		o.group[i] = number
		sizes[number]++
		if _, ok := item.Timestamp(); !ok {
			timed[number] = false
		}
	}
	o.starts = make([]int, len(sizes)+1)
	for g, size := range sizes {
		o.starts[g+1] = o.starts[g] + size
	}
	next := slices.Clone(o.starts)
	for i, g := range o.group {
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
		slices.SortStableFunc(part, func(a, b uint32) int {
			return timeOf(all[a]).Compare(timeOf(all[b]))
		})
		for i := 1; i < len(part); i++ {
			if timeOf(all[part[i]]).Sub(timeOf(all[part[i-1]])) > gap {
				starts = append(starts, from+i)
			}
		}
	}
	o.starts = append(starts, len(all))
	for g := range o.numGroups() {
		part := o.sequence[o.starts[g]:o.starts[g+1]]
		for _, i := range part {
			o.group[i] = uint32(g)
		}
		o.size += float64(float64(len(part))*float64(len(part))) / float64(len(all))
	}
	return o
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
