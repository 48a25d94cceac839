package cupelchat

// links joins entries into groups.
type links struct{ parent []int }

func (l *links) root(i int) int {
	for len(l.parent) <= i {
		l.parent = append(l.parent, len(l.parent))
	}
	for l.parent[i] != i {
		l.parent[i] = l.parent[l.parent[i]]
		i = l.parent[i]
	}
	return i
}

// join merges the groups of two entries; the root is the first entry.
func (l *links) join(i, j int) {
	i, j = l.root(i), l.root(j)
	l.parent[max(i, j)] = min(i, j)
}

// groups returns the entries of each group of n entries, ordered by their first
// one, and the group of each entry.
func (l *links) groups(n int) (groups [][]int, of []int) {
	of = make([]int, n)
	var sizes []int
	for i := range n {
		if root := l.root(i); root != i {
			of[i] = of[root]
		} else {
			of[i], sizes = len(sizes), append(sizes, 0)
		}
		sizes[of[i]]++
	}
	all := make([]int, n)
	groups = make([][]int, len(sizes))
	for g, size := range sizes {
		groups[g], all = all[:0:size], all[size:]
	}
	for i, g := range of {
		groups[g] = append(groups[g], i)
	}
	return groups, of
}
