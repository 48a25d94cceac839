package cupeltiktoken

import (
	"hash/maphash"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// vocabulary holds the data of an encoding for byte pair encoding.
type vocabulary struct {
	ranks   map[string]uint32
	longest int             // bytes of the longest token
	pairs   [1 << 16]uint32 // the ranks of tokens of two bytes
	known   []uint64        // a bit for the hash of each token: most lookups find none
}

const (
	noRank    = 1<<32 - 1
	knownBits = 21 // their logarithm; 256 KiB stay in a cache
)

var tokenSeed = maphash.MakeSeed()

func newVocabulary(ranks map[string]uint32) *vocabulary {
	v := &vocabulary{ranks: ranks, known: make([]uint64, 1<<(knownBits-6))}
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	for token, rank := range ranks {
		v.longest = max(v.longest, len(token))
		if len(token) == 2 {
			v.pairs[int(token[0])<<8|int(token[1])] = rank
		}
		h := maphash.String(tokenSeed, token) >> (64 - knownBits)
		v.known[h>>6] |= 1 << (h & 63)
	}
	return v
}

// readRanks returns the tokens of an encoding for which keep returns true, with
// their ranks, which are their numbers.
func readRanks(encoding Encoding, size int, keep func(token string) bool) map[string]uint32 {
	ranks := make(map[string]uint32)
	// A codec that decodes invalid UTF-8 unchanged; the counter's own replaces it.
	codec, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		return ranks // it was there a moment ago
	}
	for id := range uint(size) {
		if token, err := codec.Decode([]uint{id}); err == nil && keep(token) {
			ranks[token] = uint32(id)
		}
	}
	return ranks
}

func (v *vocabulary) rank(s string) uint32 {
	if len(s) == 2 {
		return v.pairs[int(s[0])<<8|int(s[1])]
	}
	if len(s) > v.longest {
		return noRank
	}
	h := maphash.String(tokenSeed, s) >> (64 - knownBits)
	if v.known[h>>6]>>(h&63)&1 == 0 {
		return noRank
	}
	if rank, ok := v.ranks[s]; ok {
		return rank
	}
	return noRank
}

// A piece is merged in windows, so that the memory for one stays in a cache.
// A window begins at a token of the one before, overlap bytes before its end.
const (
	window  = 4 << 10
	overlap = 512
)

// merger is the memory for merging, pooled.
type merger struct {
	parts      []part
	queue      heap
	ends, next []int32 // ends of the tokens of a window and of the next one
	merges     int     // how many there were, for tests
}

var mergers = sync.Pool{New: func() any { return new(merger) }}

// part is a future token. It starts at its own index and ends where the next part
// starts.
type part struct {
	previous, next int32
	rank           uint32 // of the token that it makes with the next one
}

// count returns the number of tokens of a piece.
func (v *vocabulary) count(piece string) int {
	m := mergers.Get().(*merger)
	defer mergers.Put(m)
	at, tokens := m.advance(v, piece)
	m.ends = m.merge(v, piece[at:], m.ends)
	return tokens + len(m.ends)
}

// advance merges a piece window by window while two more windows remain. It
// returns a position at which a token and a character begin, and the number of
// tokens before it.
//
// A sequence of tokens is the right one for a text if and only if each two
// neighbors are the tokens of the text that they form, since a merge across their
// boundary would be the same in both texts. So two windows can be joined at any
// common token. If the end of a window affects its tokens back to the start of the
// next window, a longer window is used, up to longestWord.
func (m *merger) advance(v *vocabulary, piece string) (at, tokens int) {
	if len(piece) < 2*window {
		return 0, 0
	}
	size := window
	m.ends = m.merge(v, piece[:size], m.ends)
	for len(piece)-at >= size+window {
		last := len(m.ends) - 1
		for last > 1 && (int(m.ends[last-1]) > size-overlap || !utf8.RuneStart(piece[at+int(m.ends[last-1])])) {
			last--
		}
		from := m.ends[last-1]
		m.next = m.merge(v, piece[at+int(from):][:window], m.next)
		if alike := m.next[0] == m.ends[last]-from && utf8.RuneStart(piece[at+int(from)]); !alike && size < longestWord {
			if size *= 2; size > len(piece)-at {
				break // what remains is a window
			}
			m.ends = m.merge(v, piece[at:at+size], m.ends)
			continue
		}
		at += int(from)
		tokens += last
		size = window
		m.ends, m.next = m.next, m.ends
	}
	return at, tokens
}

// merge is byte pair encoding. As long as two neighbors form a token, it merges
// those with the lowest rank, the leftmost first. It returns the ends of the
// tokens, in the memory of ends.
func (m *merger) merge(v *vocabulary, piece string, ends []int32) []int32 {
	if cap(m.parts) < len(piece)+1 {
		m.parts = make([]part, len(piece)+1)
	}
	parts := m.parts[:len(piece)+1]
	queue := m.queue[:0]
	for i := range parts {
		parts[i] = part{int32(i) - 1, int32(i) + 1, noRank}
		if i+2 <= len(piece) {
			if rank := v.rank(piece[i : i+2]); rank != noRank {
				parts[i].rank = rank
				queue = append(queue, uint64(rank)<<32|uint64(i))
			}
		}
	}
	queue.order()
	look := func(i int32) {
		parts[i].rank = noRank
		second := parts[i].next
		if int(second) >= len(piece) {
			return
		}
		if rank := v.rank(piece[i:parts[second].next]); rank != noRank {
			parts[i].rank = rank
			queue.push(uint64(rank)<<32 | uint64(i))
		}
	}
	for len(queue) > 0 {
		lowest := queue.pop()
		i := int32(lowest & noRank)
		if uint64(parts[i].rank) != lowest>>32 { // it was merged with another part meanwhile
			continue
		}
		second := parts[i].next
		parts[second].rank = noRank
		parts[i].next = parts[second].next
		parts[parts[i].next].previous = i
		m.merges++
		look(i)
		if parts[i].previous >= 0 {
			look(parts[i].previous)
		}
	}
	m.queue = queue
	ends = ends[:0]
	for i := int32(0); int(i) < len(piece); i = parts[i].next {
		ends = append(ends, parts[i].next)
	}
	return ends
}

// heap is a binary heap with the smallest number first.
type heap []uint64

// order makes a heap of numbers in any order.
func (h heap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *heap) push(x uint64) {
	*h = append(*h, x)
	s := *h
	for i := len(s) - 1; s[i] < s[(i-1)/2]; i = (i - 1) / 2 { // the first is compared with itself
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
}

func (h *heap) pop() uint64 {
	s := *h
	first, last := s[0], len(s)-1
	s[0] = s[last]
	*h = s[:last]
	h.down(0)
	return first
}

func (h heap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[i] <= h[child] {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
