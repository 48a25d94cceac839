package cupel

import "testing"

// TestKindOfGroup adds up the tokens of each kind, also of more kinds than are
// looked for one by one.
func TestKindOfGroup(t *testing.T) {
	for _, test := range []struct {
		kinds  []ContextKind
		tokens []int
		want   ContextKind
		why    string
	}{
		{[]ContextKind{"A", "B"}, []int{1, 1}, "A", "of equal kinds the first"},
		{[]ContextKind{"A", "B", "b"}, []int{3, 2, 2}, "B", "kinds are compared without case"},
		{[]ContextKind{"A", "B", "C", "D", "E"}, []int{1, 1, 1, 1, 2}, "E", "the fifth"},
		{[]ContextKind{"A", "B", "C", "D", "E", "b"}, []int{1, 2, 3, 3, 4, 3}, "B", "one of the first four again"},
		{[]ContextKind{"A", "B", "C", "D", "E", "F", "f"}, []int{1, 1, 1, 1, 4, 2, 3}, "F", "one that came after the fifth again"},
		{[]ContextKind{"A", "B", "C", "D", "E", "e", "F"}, []int{1, 1, 1, 1, 2, 2, 3}, "E", "the fifth again"},
	} {
		var members []*ContextItem
		for i, kind := range test.kinds {
			item, err := NewContextItem("a", test.tokens[i], WithKind(kind))
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, item)
		}
		if got := kindOf(members); got != test.want {
			t.Errorf("%v with %v tokens: kind %s, want %s (%s)", test.kinds, test.tokens, got, test.want, test.why)
		}
	}
}

// TestEqualHashes puts two items with one hash into the table of contents.
func TestEqualHashes(t *testing.T) {
	var table contentTable
	table.reset(8)
	first := table.slotAt(1<<40, func(int32) bool { return false })
	table.slots[first].item = 0
	if at := table.slotAt(1<<40, func(item int32) bool { return item == 0 }); at != first {
		t.Errorf("the same content is in slot %d, want %d", at, first)
	}
	if at := table.slotAt(1<<40, func(int32) bool { return false }); at == first {
		t.Error("another content with the same hash is in the slot of the first")
	}
}
