package cupelrelevance

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"weak"

	"github.com/wollax/cupel-go/cupel"
)

// corpus holds the data of an [Index] on single items, each with a number. It
// serves all lists that have most of their items in common. A [list] holds the
// data on a list as a whole.
//
// A corpus only grows, so that earlier lists can be scored meanwhile: they hold the
// beginnings of its slices, and its segments never change. Items that no list has any
// more stay until they are a sixteenth of the corpus. Then a new corpus reads the others
// again.
type corpus struct {
	settings *indexDraft
	hashing  hashing

	busy     chan struct{} // holds a token while a list is followed, which guards the rest
	numbers  map[weak.Pointer[cupel.ContextItem]]uint32
	items    []weak.Pointer[cupel.ContextItem] // by number
	facts    []fact                            // by number
	groups   map[groupName]uint32
	names    names
	texts    map[string]uint32 // numbers of names
	segments []*segment        // of consecutive numbers; all but the first are small
}

// fact is the data on one item, independent of the others.
type fact struct {
	group uint32 // number of the name of its group
	terms uint32 // of the content and the tags
	bytes uint32 // of its content
	mark  uint16 // of its content, see [sampleOf]
	timed bool   // it has a timestamp
}

// wasted bounds the share of a corpus that no list has: at most 1/wasted.
const wasted = 16

func newCorpus(settings *indexDraft, hashing hashing) *corpus {
	return &corpus{
		settings: settings,
		hashing:  hashing,
		busy:     make(chan struct{}, 1),
		numbers:  make(map[weak.Pointer[cupel.ContextItem]]uint32),
		groups:   make(map[groupName]uint32),
		texts:    make(map[string]uint32),
	}
}

// follow sets up a list and reads those of its items that are new. It reports
// false if most of them are, or if the corpus has become too wasteful, unless it is
// empty. others are other lists,
// and some may be in the corpus; the first is in it.
func (c *corpus) follow(ctx context.Context, l *list, all []*cupel.ContextItem, others []*list) (bool, error) {
	select {
	case c.busy <- struct{}{}:
		defer func() { <-c.busy }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if len(others) > 0 && !c.knows(all) {
		return false, nil
	}
	n := c.locate(l, all, others)
	if len(others) > 0 && len(n.items) > len(all)/2 {
		return false, nil
	}
	if c.isWasteful(l, others) {
		l.left = c
		return false, nil
	}
	var before *sample
	if len(others) > 0 {
		before = others[0].order.sample
	}
	if err := c.add(ctx, l, all, n, before); err != nil {
		return false, err
	}
	l.corpus = c
	l.words.see(c)
	l.items, l.names = c.items, c.names
	l.languages = l.order.sample.languages
	if c.settings.language != "" {
		l.languages = languages{c.settings.language}
	}
	return true, nil
}

// knows reports whether the corpus has half of a sample of the items.
func (c *corpus) knows(all []*cupel.ContextItem) bool {
	const sample = 16
	asked, known := 0, 0
	for i := 0; i < len(all); i += 1 + len(all)/sample {
		asked++
		if _, ok := c.numbers[weak.Make(all[i])]; ok {
			known++
		}
	}
	return known > 0 && 2*known >= asked
}

// newItems are items that a corpus does not have, with the numbers that they
// will get: the next ones, in order.
type newItems struct {
	items    []*cupel.ContextItem
	pointers []weak.Pointer[cupel.ContextItem]
	numbers  map[weak.Pointer[cupel.ContextItem]]uint32
}

// locate finds the numbers of the items of a list.
func (c *corpus) locate(l *list, all []*cupel.ContextItem, others []*list) (added newItems) {
	l.words = &words{n: len(all), numbers: make([]uint32, len(all))}
	before, room := &list{words: new(words)}, len(all)
	if len(others) > 0 {
		before, room = others[0], 0
	}
	added = newItems{
		make([]*cupel.ContextItem, 0, room),
		make([]weak.Pointer[cupel.ContextItem], 0, room),
		make(map[weak.Pointer[cupel.ContextItem]]uint32, room),
	}
	// Making a weak pointer takes longer than comparing one, so an item is looked
	// for after the one that preceded it in the earlier list.
	const ahead = 4
	at := 0
next:
	for i, item := range all {
		for k := at; k < min(at+ahead, len(before.words.numbers)); k++ {
			if number := before.words.numbers[k]; c.items[number].Value() == item {
				l.words.numbers[i] = number
				at = k + 1
				continue next
			}
		}
		pointer := weak.Make(item)
		number, known := c.numbers[pointer]
		if known && int(number) < len(before.words.at) && before.words.at[number] > 0 {
			at = int(before.words.at[number])
		}
		if !known {
			number, known = added.numbers[pointer]
		}
		if !known {
			number = uint32(len(c.facts) + len(added.items))
			added.numbers[pointer] = number
			added.pointers, added.items = append(added.pointers, pointer), append(added.items, item)
		}
		l.words.numbers[i] = number
	}
	return added
}

// add reads new items. It reads their text, which takes longer, concurrently
// with everything else. If it fails, the corpus is as before.
func (c *corpus) add(ctx context.Context, l *list, all []*cupel.ContextItem, added newItems, before *sample) error {
	var facts []fact
	var named []naming
	var group sync.WaitGroup
	group.Go(func() {
		facts, named = c.describe(added.items)
		l.order = newOrder(all, l.words.numbers, facts, len(c.groups), before)
	})
	terms := make([]uint32, len(added.items))
	segments := c.segments
	var err error
	if len(added.items) > 0 {
		var read *segment
		if read, err = newSegment(ctx, added.items, uint32(len(c.facts)), c.hashing, terms); err == nil {
			segments = joined(segments, read)
		}
	}
	group.Wait()
	if err != nil {
		return err
	}
	for i, n := range terms {
		facts[len(c.facts)+i].terms = n
	}
	if len(c.facts) == 0 {
		c.numbers = added.numbers
	} else {
		maps.Copy(c.numbers, added.numbers)
	}
	c.items = append(c.items, added.pointers...)
	c.facts, c.names.named, c.segments = facts, named, segments
	return nil
}

// describe returns the facts and names of the corpus with those of new items.
func (c *corpus) describe(added []*cupel.ContextItem) ([]fact, []naming) {
	facts, named := slices.Grow(c.facts, len(added)), slices.Grow(c.names.named, len(added))
	for _, item := range added {
		name := groupOf(item)
		group, known := c.groups[name]
		if !known {
			group = uint32(len(c.groups))
			c.groups[name] = group
		}
		for _, key := range nameKeys {
			if text, ok := metadataText(item, key); ok {
				named = append(named, naming{uint32(len(facts)), c.name(text)})
			}
		}
		_, timed := item.Timestamp()
		facts = append(facts, fact{group: group, timed: timed, bytes: uint32(min(uint64(len(item.Content())), math.MaxUint32)), mark: markOf(item.Content())})
	}
	return facts, named
}

// isWasteful reports whether the items that no list has any more are too many.
func (c *corpus) isWasteful(l *list, others []*list) bool {
	has := make([]bool, len(c.facts))
	left := len(has)
	mark := func(number uint32) {
		if int(number) < len(has) && !has[number] { // new items have higher numbers
			has[number] = true
			left--
		}
	}
	for _, number := range l.words.numbers {
		mark(number)
	}
	for _, other := range others {
		if other.corpus != c {
			continue
		}
		for _, number := range other.words.numbers {
			if c.items[number].Value() != nil {
				mark(number)
			}
		}
	}
	return left*wasted > len(c.facts)
}
