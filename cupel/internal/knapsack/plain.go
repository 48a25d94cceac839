package knapsack

import "slices"

// plainFits reports whether the memory limit leaves room for a plain table.
func (s *solver) plainFits() bool {
	return saturatingMul(uint64(len(s.items)), uint64(s.capacity)>>6+1) <= uint64(s.tune.limit/16)
}

// solvePlain is the chapter's dynamic program, with a bit for every cell of its
// keep table. It stops at the item that reaches goal, which no set exceeds: the
// answer has no later items.
func (s *solver) solvePlain(goal int64) error {
	capacity := int(s.capacity)
	words := capacity>>6 + 1
	row := make([]int64, capacity+1)
	keep := make([]uint64, len(s.items)*words)
	items := s.items
	for i := range items {
		if row[capacity] >= goal {
			items = items[:i]
			break
		}
		it := &s.items[i]
		if err := s.spend(uint64(capacity)); err != nil {
			return err
		}
		with := row[:capacity+1-int(it.w)]
		row := row[it.w:][:len(with)]
		record := keep[i*words:][:words]
		for k := len(with) - 1; k >= 0; k-- {
			if v := with[k] + it.v; v > row[k] {
				row[k] = v
				record[k>>6] |= 1 << (k & 63)
			}
		}
	}
	for i, it := range slices.Backward(items) {
		// Bit k stands for the capacity k above the item's weight.
		if k := capacity - int(it.w); k >= 0 && keep[i*words+k>>6]>>(k&63)&1 != 0 {
			s.take(it.pos)
			capacity = k
		}
	}
	return nil
}
