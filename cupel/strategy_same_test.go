package cupel

import "testing"

type listed []int

func TestSameStrategy(t *testing.T) {
	one, other := func() {}, func() {}
	for _, row := range []struct {
		name string
		a, b any
		want bool
		why  string
	}{
		{"values", 1, 1, true, "they are equal"},
		{"other values", 1, 2, false, "they differ"},
		{"functions", one, one, true, "the code is the same"},
		{"other functions", one, other, false, "the code differs"},
		{"lists", listed{1}, listed{2}, true, "they cannot be compared"},
		{"types", listed{1}, []int{1}, false, "two packages of one name may have types of one name"},
		{"a function and a value", one, 1, false, "a value has no code to compare"},
	} {
		if got := sameStrategy(row.a, row.b); got != row.want {
			t.Errorf("%s: got %t, want %t: %s", row.name, got, row.want, row.why)
		}
	}
}
