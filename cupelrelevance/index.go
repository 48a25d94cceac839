package cupelrelevance

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
	"weak"

	"github.com/wollax/cupel-go/cupel"
)

// Index caches what scorers need to know about lists of items: which words
// occur where, and which items are next to each other. It indexes a list on the
// first question about it, and serves all scorers that share the Index and all
// later runs over the same list.
//
// An Index follows a list that grows, shrinks or changes: it reads only items that it
// has not seen, and all of them again when a sixteenth of what it read is gone. Scores
// do not depend on what the Index has seen before. An item is identified by its
// pointer, so pass unchanged items as the same pointers. A list in which most items are
// new is indexed as a whole.
//
// Two lists are the same if they have the same item pointers in the same order.
// An Index caches the few most recently used lists. It holds weak pointers, so
// it does not keep items alive, and drops lists whose items are gone when it
// indexes another list.
//
// Indexing takes time linear in the text and memory of about the text's size.
// Following a list takes time linear in the text of the new items, plus a few
// nanoseconds for each item. A question takes time linear in the number of
// items with one of its words.
//
// An Index is safe for concurrent use: several lists, and several versions of a
// list, can be scored at the same time. Lists with common items are followed
// one after the other; scoring waits only for its own list. Create an Index
// with [NewIndex]; the zero Index is not usable.
type Index struct {
	made     bool // by NewIndex
	settings indexDraft

	mu    sync.Mutex
	lists []*list // the last used first
}

// IndexOption configures an [Index].
type IndexOption func(*indexDraft) error

// indexDraft is an Index under construction. It is a separate type so that
// options cannot be applied to a finished Index.
type indexDraft struct {
	language Language // "" to find it out
}

// rememberedLists is the number of lists an [Index] caches.
const rememberedLists = 4

// pause is the time after an item of a group from which the next item begins a
// group of its own.
const pause = time.Hour

// groupKeys are the metadata keys that assign an item to a group. The first of these
// keys that an item has counts. Items without any form one group. Values may be
// strings, numbers or booleans.
var groupKeys = []string{"session", "conversation", "thread", "document", "file", "path"}

// nameKeys are the metadata keys of an item's names, which a question may mention.
var nameKeys = []string{"speaker", "author", "name", "symbol", "file", "path", "title"}

// NewIndex returns an empty index of contents and tags. It caches the last 4 lists. It
// returns a
// [cupel.InvalidConfigError] if an option is invalid.
func NewIndex(opts ...IndexOption) (*Index, error) {
	var draft indexDraft
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&draft); err != nil {
			return nil, err
		}
	}
	return &Index{made: true, settings: draft}, nil
}

// WithLanguage sets the language for stemming and stop words. By default, the
// Index detects the languages from a sample of the list, and assumes English if
// the sample has too few words. The script of a word, such as Cyrillic, takes
// precedence.
func WithLanguage(language Language) IndexOption {
	return func(d *indexDraft) error {
		if stemmers[language] == nil && language != LanguageNone {
			return invalid("Index", "language", strconv.Quote(string(language)), "language must be LanguageNone or one of Languages")
		}
		d.language = language
		return nil
	}
}

// list is the index of one list of items.
type list struct {
	reading   []*cupel.ContextItem // until it is ready
	ready     chan struct{}        // closed when the rest is set
	corpus    *corpus
	left      *corpus                           // that had most of its items and became too wasteful
	items     []weak.Pointer[cupel.ContextItem] // of the corpus
	words     *words
	order     *order
	languages languages
	names     names
	err       error
}

// same reports whether all are the items of l. Comparing two pointers to live
// items is exact: an address is not used again while an item lives there.
func (l *list) same(all []*cupel.ContextItem) bool {
	if l.reading != nil {
		return slices.Equal(l.reading, all)
	}
	if l.words.n != len(all) {
		return false
	}
	for i, item := range all {
		if l.items[l.words.numbers[i]].Value() != item {
			return false
		}
	}
	return true
}

// gone reports whether the first item is no longer in memory.
func (l *list) gone() bool {
	return l.reading == nil && l.words.n > 0 && l.items[l.words.numbers[0]].Value() == nil
}

// of returns the index of a list, and builds it if needed.
func (x *Index) of(ctx context.Context, all []*cupel.ContextItem) (*list, error) {
	for {
		l, others := x.find(all)
		if others != nil {
			if err := x.finish(l, x.read(ctx, l, all, others)); err != nil {
				return nil, err
			}
			return l, nil
		}
		select {
		case <-l.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if l.err == nil {
			return l, nil
		}
		// The caller that was building it was canceled; this caller tries
		// again.
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// read indexes the items, and reuses the data of other lists.
func (x *Index) read(ctx context.Context, l *list, all []*cupel.ContextItem, others []*list) error {
	for i, other := range others {
		if slices.ContainsFunc(others[:i], func(o *list) bool { return o.corpus == other.corpus }) {
			continue
		}
		if followed, err := other.corpus.follow(ctx, l, all, others[i:]); followed || err != nil {
			return err
		}
	}
	_, err := newCorpus(&x.settings, newHashing()).follow(ctx, l, all, nil)
	return err
}

// find returns the list of these items. If it is new, the caller must build it,
// and others are the lists that are ready, the last used first. Otherwise
// others is nil.
func (x *Index) find(all []*cupel.ContextItem) (l *list, others []*list) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, l := range x.lists {
		if l.same(all) {
			copy(x.lists[1:i+1], x.lists[:i])
			x.lists[0] = l
			return l, nil
		}
	}
	l = &list{reading: all, ready: make(chan struct{})}
	if len(all) == 0 {
		l.reading = []*cupel.ContextItem{}
	}
	x.lists = slices.DeleteFunc(x.lists, (*list).gone)
	others = make([]*list, 0, len(x.lists))
	for _, other := range x.lists {
		if other.reading == nil {
			others = append(others, other)
		}
	}
	x.lists = slices.Insert(x.lists, 0, l)
	if len(x.lists) > rememberedLists {
		clear(x.lists[rememberedLists:])
		x.lists = x.lists[:rememberedLists]
	}
	return l, others
}

// finish makes a list ready, or drops it if it could not be read. The lists
// of a corpus that became too wasteful are dropped, since they would keep it in memory.
func (x *Index) finish(l *list, err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	l.err, l.reading = err, nil
	x.lists = slices.DeleteFunc(x.lists, func(other *list) bool {
		return other == l && err != nil || l.left != nil && other.reading == nil && other.corpus == l.left
	})
	l.left = nil
	close(l.ready)
	return err
}
