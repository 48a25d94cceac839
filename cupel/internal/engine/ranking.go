package engine

import (
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Ranking is the units of a [Set] that a slicer may choose from, best first. Make
// it with Score, Deduplicate and Sort, in this order; its memory is reused.
type Ranking struct {
	*Set
	// Left are the decisions of Deduplicate. It hides those of the Set.
	Left []Decision
	// Unique is the number of candidates that Deduplicate keeps.
	Unique int

	scores   []float64 // by candidate; undefined where it is not scoreable
	score    []float64 // by unit, the greatest of its members'
	live     []Unit    // that take part, ascending
	survivor []Unit    // by unit: itself, unless it is a duplicate; only where some units leave
	sorted   []Unit    // by rank
	keys     []order.Pair

	// The older versions that may come back in place of a unit, as a list: by unit
	// the first one, and by candidate the one after it. Empty where no candidate is
	// older.
	firstOlder []Candidate
	nextOlder  []Candidate

	slotOf []uint32 // parallel to live: the slot of its content in Set.names
}

// Score takes the scores of the scoreable candidates. A unit has the greatest score
// of its members; NaN is the least.
func (r *Ranking) Score(scores []float64) {
	own, best := Resize(r.scores, len(r.Tokens)), Resize(r.score, len(r.units))
	for i, c := range r.Scoreable {
		score, at := scores[i], r.unitOf[c]
		own[c] = score
		if c == r.Place(at) || order.Key(score) > order.Key(best[at]) {
			best[at] = score
		}
	}
	r.scores, r.score = own, best
}

// Deduplicate leaves out older versions and near copies, and, unless keep is set,
// all but the best of units with the same contents, on a tie all but the first.
//
// It implements the Deduplicate chapter of the specification, over units.
func (r *Ranking) Deduplicate(keep bool) {
	r.Left = r.Left[:0]
	leave := len(r.newest)+len(r.copies) > 0
	if leave {
		r.leaveOutCopies()
	}
	live := Resize(r.live, len(r.units))[:0]
	for i := range r.units {
		if u := &r.units[i]; !u.out && !u.pinned && !(leave && r.leaves(u.place)) {
			live = append(live, Unit(i))
		}
	}
	r.live, r.Unique = live, len(r.Scoreable)-len(r.Left)
	found := !keep && r.findDuplicates()
	if found || leave {
		r.survivor = Resize(r.survivor, len(r.units))
		for i := range r.survivor {
			r.survivor[i] = Unit(i)
		}
	}
	if found {
		r.leaveOutDuplicates()
	}
}

func (r *Ranking) leaveOutCopies() {
	for _, c := range r.Scoreable {
		switch {
		case r.IsOlder(c):
			r.Left = append(r.Left, Decision{Candidate: c, Code: Superseded, Score: r.scores[c], Other: r.newest[c]})
		case r.isCopy(c):
			n := &r.copies[c]
			r.Left = append(r.Left, Decision{
				Candidate: c, Code: NearCopy, Score: r.scores[c], Other: n.of, Tokens: int(n.shared), Available: int(n.total),
			})
		}
	}
}

// findDuplicates finds the survivor of each unit, and reports whether a unit has
// another one.
func (r *Ranking) findDuplicates() (found bool) {
	best := &r.names
	best.reset(len(r.live))
	r.slotOf = Resize(r.slotOf, len(r.live))
	r.keys = Resize(r.keys, len(r.live))
	for i, at := range r.live { // first, so that the misses of the cache overlap
		r.keys[i].Key = r.hash(at)
	}
	for i, at := range r.live {
		r.slotOf[i] = best.find(r.keys[i].Key, func(item int32) bool { return r.sameContents(Unit(item), at) })
		slot := &best.slots[r.slotOf[i]]
		found = found || slot.item != None
		// This is the chapter's comparison: NaN beats nothing, and nothing
		// beats a NaN that came first.
		if slot.item == None || r.score[at] > r.score[slot.item] {
			slot.item = int32(at)
		}
	}
	return found
}

// leaveOutDuplicates leaves out all live units but the survivors.
func (r *Ranking) leaveOutDuplicates() {
	live := r.live[:0]
	for i, at := range r.live {
		r.survivor[at] = Unit(r.names.slots[r.slotOf[i]].item)
		if r.survivor[at] == at {
			live = append(live, at)
		}
	}
	r.live = live
	for _, c := range r.Scoreable {
		at := r.unitOf[c]
		winner := r.survivor[at]
		if winner == at { // so is a candidate that has left already
			continue
		}
		n, _ := slices.BinarySearch(r.Members(at), c)
		r.Left = append(r.Left, Decision{Candidate: c, Code: Duplicate, Score: r.score[at], Other: r.Members(winner)[n]})
		r.Unique--
	}
}

// hash returns a hash of the contents of a unit.
func (r *Ranking) hash(at Unit) uint64 {
	if r.units[at].size == 1 {
		return r.names.hash(r.Contents[r.Place(at)])
	}
	hash := uint64(0)
	for _, m := range r.Members(at) {
		hash = (hash + r.names.hash(r.Contents[m])) * 0x9E3779B97F4A7C15
		hash ^= hash >> 29
	}
	return hash
}

// Sort orders the units by score, highest first, ties by place, NaN last (R8).
func (r *Ranking) Sort() {
	r.keys = Resize(r.keys, len(r.live))
	for i, at := range r.live {
		r.keys[i] = order.Pair{Key: order.Key(r.score[at]), Index: int(at)}
	}
	order.SortDescending(r.keys)
	r.sorted = Resize(r.sorted, len(r.keys))
	for i, k := range r.keys {
		r.sorted[i] = Unit(k.Index)
	}
	r.firstOlder = r.firstOlder[:0]
	if len(r.newest) > 0 {
		r.offerOlder()
	}
}

// offerOlder finds the older versions that may come back in place of a unit.
func (r *Ranking) offerOlder() {
	r.firstOlder, r.nextOlder = filled(r.firstOlder, len(r.units), None), filled(r.nextOlder, len(r.Tokens), None)
	for _, c := range slices.Backward(r.Scoreable) {
		if !r.IsOlder(c) {
			continue
		}
		at := r.survivor[r.unitOf[r.newest[c]]]
		if u := &r.units[at]; !u.group && !u.pinned && r.Tokens[c] < u.tokens {
			r.nextOlder[c], r.firstOlder[at] = r.firstOlder[at], c
		}
	}
}

// Sorted returns the units by rank. The list must not be changed.
func (r *Ranking) Sorted() []Unit { return r.sorted }

// ScoreOf returns the score of a unit that is not pinned.
func (r *Ranking) ScoreOf(u Unit) float64 { return r.score[u] }

// ScoreOfCandidate returns the own score of a scoreable candidate.
func (r *Ranking) ScoreOfCandidate(c Candidate) float64 { return r.scores[c] }

// Older returns the older versions that may come back in place of a unit, by place.
func (r *Ranking) Older(u Unit) (older []Candidate) {
	if len(r.firstOlder) == 0 {
		return nil
	}
	for c := r.firstOlder[u]; c != None; c = r.nextOlder[c] {
		older = append(older, c)
	}
	return older
}

// olderAt returns the n-th older version of a unit, counted from 0, or None.
func (r *Ranking) olderAt(u Unit, n int32) Candidate {
	if len(r.firstOlder) == 0 {
		return None
	}
	c := r.firstOlder[u]
	for ; n > 0 && c != None; n-- {
		c = r.nextOlder[c]
	}
	return c
}
