package cupeltest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiff(t *testing.T) {
	for _, row := range []struct{ want, got, lines, why string }{
		{"a", "a", "", "nothing differs"},
		{"a\nb\nc", "a\nx\nc", "- b\n+ x", "one line in the middle"},
		{"a", "a\na", "+ a", "one line more"},
		{"a\na", "a", "- a", "one line less"},
		{"a\nb\nb\nc", "a\nb\nc", "- b", "a line once in place of twice"},
		{"x\nb\ny", "p\nb\nq", "- x\n- b\n- y\n+ p\n+ b\n+ q", "all between the first and the last that differ"},
	} {
		require.Equal(t, row.lines, diff(row.want, row.got), row.why)
	}
}

func TestDifferentPositions(t *testing.T) {
	long := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, row := range []struct {
		a, b []int
		want string
	}{
		{[]int{1, 2}, []int{1, 3}, "from index 1 on [2], then [3]"},
		{[]int{1, 2}, nil, "from index 0 on [1 2], then []"},
		{long, long[1:], "from index 0 on [0 1 2 3 4 5 6 7 8 9] and 1 more, then [1 2 3 4 5 6 7 8 9 10]"},
	} {
		require.Equal(t, row.want, differentPositions(row.a, row.b))
	}
}
