package slicer

import (
	"math"
	"sort"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Sweep implements [cupel.SweepSlicer]. It sorts once, in the time of one call
// of Slice. After that, a change of the target takes O(log N) for each item
// that leaves or comes after the first change, and almost no time if nothing
// changes.
func (Greedy) Sweep(items []cupel.ScoredItem) cupel.SliceSweep {
	return newGreedySweep(items, sortByDensity)
}

// newGreedySweep follows the walk in the order that sort makes.
func newGreedySweep(items []cupel.ScoredItem, sort func([]cupel.ScoredItem, []order.Pair)) *greedySweep {
	buffer := order.Borrow(len(items))
	defer buffer.Return()
	sort(items, buffer.Pairs)
	s := &greedySweep{positions: make([]int, 0, len(items))}
	for _, d := range buffer.Pairs {
		if items[d.Index].Item.Tokens() >= 0 {
			s.positions = append(s.positions, d.Index)
		}
	}
	s.tokens = newMinTree(len(s.positions), func(i int) uint64 { return uint64(items[s.positions[i]].Item.Tokens()) })
	return s
}

// greedySweep follows Greedy's walk from the densest item to the last, or
// ScoreGreedy's from the best. The items taken are a stack: another target
// changes nothing before the first item that was skipped and now fits, or was
// taken and no longer fits. The walk restarts there.
type greedySweep struct {
	positions []int // in the order of the walk
	tokens    minTree
	taken     []takenItem
	target    int
	more      []int
}

// takenItem is an item that the walk takes. Sums of two token counts fit
// uint64.
type takenItem struct {
	at    int    // in positions
	spent uint64 // tokens of the items taken up to this one
	next  uint64 // the lowest target for which some item skipped before this one is taken
}

// walk returns where the walk continues after the first n items taken.
func (s *greedySweep) walk(n int) (from int, spent, next uint64) {
	if n == 0 {
		return 0, 0, math.MaxUint64
	}
	t := s.taken[n-1]
	return t.at + 1, t.spent, t.next
}

// Advance implements [cupel.SliceSweep].
func (s *greedySweep) Advance(target int) (keep int, more []int) {
	s.target, s.more = max(target, 0), s.more[:0]
	if target <= 0 {
		s.taken = s.taken[:0]
		return 0, nil
	}
	limit := uint64(target)
	keep = sort.Search(len(s.taken), func(n int) bool { return s.taken[n].next <= limit || s.taken[n].spent > limit })
	s.taken = s.taken[:keep]
	from, spent, next := s.walk(keep)
	for {
		at := s.tokens.firstAtMost(from, limit-spent)
		if at < 0 {
			return keep, s.more
		}
		next = min(next, plus(spent, s.tokens.min(from, at)))
		spent += s.tokens.at(at)
		s.taken = append(s.taken, takenItem{at, spent, next})
		s.more = append(s.more, s.positions[at])
		from = at + 1
	}
}

// Next implements [cupel.SliceSweep].
func (s *greedySweep) Next() (int, bool) {
	from, spent, next := s.walk(len(s.taken))
	next = min(next, plus(spent, s.tokens.min(from, len(s.positions))))
	if next > math.MaxInt {
		return 0, false
	}
	return max(int(next), s.target+1), true // a target of 0 takes nothing, not even items without tokens
}

// plus adds without wrapping. math.MaxUint64 is the minimum of an empty range.
func plus(a, b uint64) uint64 {
	if b > math.MaxUint64-a {
		return math.MaxUint64
	}
	return a + b
}

// minTree is a list with the minimum of each half, quarter and so on.
type minTree struct {
	size  int      // of the bottom level, a power of two
	nodes []uint64 // nodes[1] is the minimum of all, those of node i are 2i and 2i+1
}

func newMinTree(n int, value func(i int) uint64) minTree {
	size := 1
	for size < n {
		size *= 2
	}
	t := minTree{size, make([]uint64, 2*size)}
	for i := range size {
		t.nodes[size+i] = math.MaxUint64
		if i < n {
			t.nodes[size+i] = value(i)
		}
	}
	for i := size - 1; i > 0; i-- {
		t.nodes[i] = min(t.nodes[2*i], t.nodes[2*i+1])
	}
	return t
}

func (t minTree) at(i int) uint64 { return t.nodes[t.size+i] }

// min returns the minimum of the positions from <= i < to.
func (t minTree) min(from, to int) uint64 {
	m := uint64(math.MaxUint64)
	for a, b := t.size+from, t.size+to; a < b; a, b = a/2, b/2 {
		if a%2 == 1 {
			m = min(m, t.nodes[a])
			a++
		}
		if b%2 == 1 {
			b--
			m = min(m, t.nodes[b])
		}
	}
	return m
}

// firstAtMost returns the first position, from or later, whose value is at most
// limit, or -1.
func (t minTree) firstAtMost(from int, limit uint64) int {
	if from >= t.size {
		return -1
	}
	i := t.size + from
	for t.nodes[i] > limit {
		for i%2 == 1 { // the right half: continue after its parent
			i /= 2
		}
		if i == 0 {
			return -1
		}
		i++
	}
	for i < t.size {
		if i *= 2; t.nodes[i] > limit {
			i++
		}
	}
	return i - t.size
}
