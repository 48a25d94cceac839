package knapsack

import "math"

// engine runs through the items of a core, in input order, and records how to
// decide some of the last ones.
//
// The capacities that can be asked for after an item are known: the later items
// of the answer weigh between nothing and everything. An engine may leave out
// what only other capacities would need.
type engine[S any] interface {
	// load makes the state that save returned, or the start for nil, the
	// current one, with an empty record.
	load(at S, from int)
	// push runs over item i and records how to decide it. After that, only the
	// capacities lo to hi can be asked for.
	push(i int, lo, hi int64) error
	// worth returns the value of the items so far at a capacity that can be
	// asked for.
	worth(capacity int64) int64
	// taken decides item i, which the record must cover, at the given capacity.
	taken(i int, capacity int64) bool
	// recorded returns the size of the record in bytes; forget empties it.
	recorded() int64
	forget()
	// save returns the current state and its size in bytes.
	save() (S, int64)
}

// tracer finds the answer by running an engine forward and walking back.
//
// If the record of all items fits recordLimit, one run is enough. If not, the
// tracer forgets the record so far and saves the engine's state at that item
// instead. On the way back it runs each such block of items again, for a single
// capacity, which usually needs far fewer cells. When the saved states exceed
// saveLimit, it drops every second one; a block that became longer is split up
// in the same way when its turn comes.
type tracer[S any] struct {
	solver      *solver
	engine      engine[S]
	before      []int64 // weight of all items before each one, saturating
	recordLimit int64
	saveLimit   int64
	saved       int64
}

func newTracer[S any](s *solver, e engine[S], recordLimit, saveLimit int64) *tracer[S] {
	before := make([]int64, len(s.items)+1)
	for i := range s.items {
		before[i+1] = saturatingAdd(before[i], s.items[i].w)
	}
	return &tracer[S]{solver: s, engine: e, before: before, recordLimit: recordLimit, saveLimit: saveLimit}
}

// lowest is the least capacity that can be asked for after the items before from,
// when capacity is asked for after the items before to.
func (t *tracer[S]) lowest(from, to int, capacity int64) int64 {
	if t.before[to] == math.MaxInt64 {
		return 0
	}
	return max(0, capacity-(t.before[to]-t.before[from]))
}

// checkpoint is an engine's state before item at.
type checkpoint[S any] struct {
	at    int
	state S
	size  int64
}

// answer decides all items. No set of them may be worth more than goal.
func (t *tracer[S]) answer(goal int64) error {
	_, _, err := t.run(checkpoint[S]{}, len(t.solver.items), t.solver.capacity, goal)
	return err
}

// run decides the items from start.at up to to, given the capacity left for
// them and those before, and a value that these cannot exceed. It returns the
// capacity left for those before, and their value.
//
// If the items up to some item reach the goal, the answer contains no later
// ones, and the engine need not run over them.
func (t *tracer[S]) run(start checkpoint[S], to int, capacity, goal int64) (int64, int64, error) {
	marks := []checkpoint[S]{start}
	stride, forgotten := 1, 0
	recordedFrom := start.at
	t.engine.load(start.state, start.at)
	for i := start.at; i < to; i++ {
		if err := t.engine.push(i, t.lowest(i+1, to, capacity), capacity); err != nil {
			return 0, 0, err
		}
		if t.engine.worth(capacity) >= goal {
			to = i + 1
		}
		if t.engine.recorded() <= t.recordLimit || i+1 == to {
			continue
		}
		t.engine.forget()
		recordedFrom = i + 1
		if forgotten++; forgotten%stride != 0 {
			continue
		}
		state, size := t.engine.save()
		t.saved += size
		marks = append(marks, checkpoint[S]{i + 1, state, size})
		if t.saved <= t.saveLimit {
			continue
		}
		// Blocks will be split up again: leave room for that.
		for free := t.saveLimit - t.saved + sizes(marks[1:]); len(marks) > 1 && sizes(marks[1:]) > free/2; stride *= 2 {
			marks = t.thin(marks)
		}
	}
	value := t.engine.worth(capacity)
	for {
		for i := to - 1; i >= recordedFrom; i-- {
			if t.engine.taken(i, capacity) {
				it := &t.solver.items[i]
				t.solver.take(it.pos)
				capacity -= it.w
				value -= it.v
			}
		}
		if to = recordedFrom; to == start.at {
			return capacity, value, nil
		}
		last := marks[len(marks)-1]
		if last.at == to { // the block just walked
			t.saved -= last.size
			marks = marks[:len(marks)-1]
			continue
		}
		var err error
		if capacity, value, err = t.run(last, to, capacity, value); err != nil {
			return 0, 0, err
		}
		recordedFrom, to = last.at, last.at
	}
}

// thin drops every second checkpoint but the first.
func (t *tracer[S]) thin(marks []checkpoint[S]) []checkpoint[S] {
	kept := marks[:1]
	for i, m := range marks[1:] {
		if i%2 == 1 {
			kept = append(kept, m)
		} else {
			t.saved -= m.size
		}
	}
	clear(marks[len(kept):])
	return kept
}

func sizes[S any](marks []checkpoint[S]) int64 {
	var sum int64
	for _, m := range marks {
		sum += m.size
	}
	return sum
}
