package cupelinspect

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// contentLimit returns the maximum number of bytes of a content, or of a
// metadata text, on a page. It is halved until all of them together are short
// enough.
func contentLimit(items []*cupel.ContextItem) int {
	var lengths []int
	for _, item := range items {
		lengths = append(lengths, len(item.Content()))
		for _, value := range item.Metadata() {
			if text, ok := value.(string); ok {
				lengths = append(lengths, len(text))
			}
		}
	}
	limit := mostContent
	for ; limit > leastContent; limit /= 2 {
		sum := 0
		for _, length := range lengths {
			sum += min(limit, length)
		}
		if sum <= allContents {
			break
		}
	}
	return limit
}

// itemTable numbers the items of a page. Within a selection, items are
// identified by pointer. Two reports share no pointers, so the n-th item with
// some look matches the other report's n-th item with the same look.
type itemTable struct {
	contentLimit int
	items        []wireItem
	sources      []*cupel.ContextItem // to build the page's items from
	at           map[*cupel.ContextItem]int
	looks        map[string][]int // positions, by how an item looks; nil while there is one selection
}

// add returns the positions of the items of one selection.
func (t *itemTable) add(items []*cupel.ContextItem) []int {
	if len(t.at) > 0 && t.looks == nil {
		t.looks = make(map[string][]int)
		for i := range t.items {
			key := lookOf(&t.items[i], t.sources[i])
			t.looks[key] = append(t.looks[key], i)
		}
	}
	left := maps.Clone(t.looks)
	positions := make([]int, len(items))
	taken := make(map[int]bool)
	var fresh []int
	for i, item := range items {
		at, known := t.at[item]
		if !known {
			fresh = append(fresh, i)
			continue
		}
		positions[i], taken[at] = at, true
	}
	for _, i := range fresh {
		item := items[i]
		at, known := t.at[item] // the same pointer
		if !known {
			at = t.position(item, taken, left)
			t.at[item], taken[at] = at, true
		}
		positions[i] = at
	}
	return positions
}

// position returns the place of an item that looks like this one and is not
// taken yet, or a new place. It removes from what is left what it looks at.
func (t *itemTable) position(item *cupel.ContextItem, taken map[int]bool, left map[string][]int) int {
	w := newItem(item, t.contentLimit)
	if t.looks != nil {
		key := lookOf(&w, item)
		for len(left[key]) > 0 {
			at := left[key][0]
			left[key] = left[key][1:]
			if !taken[at] {
				return at
			}
		}
		t.looks[key] = append(t.looks[key], len(t.items))
	}
	t.items, t.sources = append(t.items, w), append(t.sources, item)
	return len(t.items) - 1
}

// lookOf returns a key that is equal for items that look equal, including the
// parts of contents that the page cuts. Marshalling sorts the metadata.
func lookOf(w *wireItem, item *cupel.ContextItem) string {
	data, err := json.Marshal(w)
	if err != nil { // newItem keeps only what can be marshaled
		return ""
	}
	sum := sha256.Sum256([]byte(strings.ToValidUTF8(item.Content(), "\uFFFD"))) // as in reports read from JSON
	return string(data) + string(sum[:])
}

func newItem(item *cupel.ContextItem, limit int) wireItem {
	w := wireItem{
		Tokens: item.Tokens(),
		Kind:   shorten(string(item.Kind()), maxLabel),
		Source: shorten(string(item.Source()), maxLabel),
		Pinned: item.Pinned(),

		Group:     shorten(item.Group(), maxLabel),
		VersionOf: shorten(item.VersionOf(), maxLabel),
	}
	w.Content, w.Cut = prefix(item.Content(), limit)
	for i, tag := range item.AllTags() {
		if i == maxTags {
			w.Tags = append(w.Tags, "… "+strconv.Itoa(item.NumTags()-i)+" more")
			break
		}
		w.Tags = append(w.Tags, shorten(tag, maxLabel))
	}
	if priority, ok := item.Priority(); ok {
		w.Priority = &priority
	}
	if timestamp, ok := item.Timestamp(); ok {
		w.Timestamp = timestamp.UTC().Format(time.RFC3339Nano)
	}
	if hint, ok := item.FutureRelevanceHint(); ok && !math.IsNaN(hint) && !math.IsInf(hint, 0) {
		w.Hint = &hint
	}
	metadata := item.Metadata()
	w.Metadata = make(map[string]string)
	for i, key := range slices.Sorted(maps.Keys(metadata)) {
		if i == maxTags {
			w.Metadata["…"] = strconv.Itoa(len(metadata)-i) + " more"
			break
		}
		w.Metadata[shorten(key, maxLabel)] = metadataValue(metadata[key], limit)
	}
	return w
}

// metadataValue returns a value as text. If it is not a text, that is its JSON
// form, if it has one.
func metadataValue(value any, limit int) string {
	if text, ok := value.(string); ok {
		return limited(text, limit)
	}
	var data []byte
	err := safely(func() (err error) {
		data, err = json.Marshal(value)
		return err
	})
	if err != nil {
		return limited(fmt.Sprintf("%T", value), maxLabel) // a channel, a NaN and so on have no JSON form
	}
	return limited(string(data), limit)
}

// limited returns text cut to limit bytes, with a note of how much is missing.
func limited(text string, limit int) string {
	kept, cut := prefix(text, limit)
	if cut > 0 {
		kept += "… (" + strconv.Itoa(cut) + " more bytes)"
	}
	return kept
}
