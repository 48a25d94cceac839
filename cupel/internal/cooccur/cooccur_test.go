package cooccur

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/ascii"
)

func read(c *Counter, members [][]string) {
	c.Reset(len(members))
	for _, tags := range members {
		for _, tag := range tags {
			c.Add(tag)
		}
		c.Next()
	}
}

func count(t *testing.T, c *Counter, members [][]string) []int {
	t.Helper()
	read(c, members)
	if err := c.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(members))
	for i := range counts {
		counts[i] = c.Sharing(i)
	}
	return counts
}

// check compares counts with a look at every pair of members, or at the pairs of
// every so many members if there are many.
func check(t *testing.T, c *Counter, members [][]string) {
	t.Helper()
	got := count(t, c, members)
	folded := make([][]string, len(members))
	for i, tags := range members {
		for _, tag := range tags {
			folded[i] = append(folded[i], ascii.Lower(tag))
		}
	}
	for i := 0; i < len(members); i += 1 + len(members)/200 {
		want := 0
		for _, tags := range folded {
			if slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(folded[i], tag) }) {
				want++
			}
		}
		if got[i] != want {
			t.Fatalf("member %d of %d: got %d, want %d", i, len(members), got[i], want)
		}
	}
}

func TestCount(t *testing.T) {
	tests := []struct {
		name    string
		members [][]string
		want    []int
		why     string
	}{
		{"no members", nil, []int{}, "nothing is counted"},
		{"no tags", [][]string{{}, {}}, []int{0, 0}, "a member without tags shares none, not even with itself"},
		{"alone", [][]string{{"a"}}, []int{1}, "a member shares its tags with itself"},
		{"ASCII case", [][]string{{"Go"}, {"gO"}}, []int{2, 2}, "ASCII letters fold"},
		{"Unicode case", [][]string{{"k"}, {"\u212a"}, {"S"}, {"\u017f"}}, []int{1, 1, 1, 1}, "the Kelvin sign and the long s fold in Unicode only"},
		{"tag twice", [][]string{{"a", "A", "a"}, {"a"}}, []int{2, 2}, "a tag given twice counts once"},
		{"two in common", [][]string{{"a", "b"}, {"b", "a"}, {"a"}}, []int{3, 3, 3}, "a member that shares two tags is one member"},
		{"chain", [][]string{{"a", "b"}, {"b", "c"}, {"c", "d"}}, []int{2, 3, 2}, "sharing is not transitive"},
		{"empty tag", [][]string{{""}, {""}, {"x"}}, []int{2, 2, 1}, "the empty string is a tag"},
		{"prefixes", [][]string{{"ab", "c"}, {"a", "bc"}}, []int{1, 1}, "tags are compared one by one, never joined"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := count(t, new(Counter), tt.members); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v: %s", got, tt.want, tt.why)
			}
		})
	}
}

// shape describes random members: how many, with how many tags, from how many.
type shape struct {
	name                        string
	members, least, most, among int
	why                         string
}

var shapes = []shape{
	{"some members", 150, 0, 12, 40, "several words"},
	{"one tag each", 700, 1, 1, 90, "heavy sets"},
	{"up to three", 2000, 0, 3, 40, "heavy sets, and members without tags"},
	{"sparse", 6000, 4, 4, 4000, "lists are short"},
	{"long", 900, 18, 22, 100, "rows of bits, more than four"},
	{"mixed frequencies", 1500, 6, 40, 4000, "lists and rows in one union"},
	{"everyone alike", 500, 6, 6, 6, "a single set with a large weight"},
}

func (s shape) random(r *rand.Rand) [][]string {
	members := make([][]string, s.members)
	for i := range members {
		for range s.least + r.IntN(s.most-s.least+1) {
			// Squaring makes small numbers more frequent than large ones.
			n := r.IntN(s.among)
			if s.least > 4 && r.IntN(2) == 0 {
				n = n * n / s.among
			}
			members[i] = append(members[i], fmt.Sprintf([]string{"tag-%d", "Tag-%d", "TAG-%d"}[r.IntN(3)], n))
		}
	}
	return members
}

func TestCountComparesEveryPair(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := new(Counter) // one for all, so that leftovers of a list would show
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) { check(t, c, s.random(r)) })
	}
}

// doneAfter is done from a look at its error on, and counts the looks.
type doneAfter struct {
	context.Context
	looks, most int
}

func (c *doneAfter) Err() error {
	if c.looks++; c.looks > c.most {
		return context.Canceled
	}
	return nil
}

// TestCountLooksAtTheContext counts looks: one for each 64 sets, and none after the
// one that found the context done.
func TestCountLooksAtTheContext(t *testing.T) {
	c := new(Counter)
	read(c, shapes[0].random(rand.New(rand.NewPCG(11, 12))))
	looks := (len(c.sets) + 63) / 64
	for most := range looks + 1 {
		ctx := &doneAfter{t.Context(), 0, most}
		if err := c.Count(ctx); (err == nil) != (most == looks) || ctx.looks != min(most+1, looks) {
			t.Errorf("done after %d looks: %v after %d", most, err, ctx.looks)
		}
	}
}

// TestLayOut compares the memory that is laid out with the definition.
func TestLayOut(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, s := range shapes {
		c := new(Counter)
		read(c, s.random(r))
		words, size := (len(c.sets)+63)/64, 0
		times := make([]int, len(c.names))
		for _, tag := range slices.Concat(c.sets...) {
			times[tag]++
		}
		for _, n := range times {
			size += min(4*n, words)
		}
		c.layOut()
		if len(c.bits.room) != size || size > 4*len(c.ids) {
			t.Errorf("%s: %d words, want %d", s.name, len(c.bits.room), size)
		}
		for plane, heavy := range c.bits.heavy {
			sets := 0
			for _, weight := range c.weight {
				sets += min(weight>>plane, 1)
			}
			if len(c.bits.planes) != len(c.bits.heavy)*words || sets == 0 || heavy != (sets+63)/64 {
				t.Errorf("%s: plane %d has %d words of %d for %d sets", s.name, plane, heavy, len(c.bits.planes), sets)
			}
		}
	}
}

func TestResetKeepsNoTags(t *testing.T) {
	c := new(Counter)
	read(c, [][]string{{"a", "b"}, {"C"}})
	c.Reset(0)
	for _, name := range c.names[:cap(c.names)] {
		if name != "" {
			t.Errorf("the counter still refers to %q", name)
		}
	}
}

// TestRoom holds what is made room for, and that a second count of the same list
// needs no more.
func TestRoom(t *testing.T) {
	c := new(Counter)
	for _, tt := range []struct{ n, want int }{{31, 64}, {32, 128}, {4095, 8192}, {4096, 16384}, {1 << 30, 16384}} {
		c.Reset(tt.n)
		if len(c.tagTable.slots) != tt.want || len(c.setTable.slots) != tt.want || len(c.recent) != tt.want {
			t.Errorf("room for %d: %d tags, %d sets, %d spellings", tt.n, len(c.tagTable.slots), len(c.setTable.slots), len(c.recent))
		}
	}
	r := rand.New(rand.NewPCG(15, 16))
	for _, s := range shapes[:4] {
		members := s.random(r)
		if n := testing.AllocsPerRun(3, func() {
			read(c, members)
			if err := c.Count(t.Context()); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%s: a second count of the same list allocated %v times", s.name, n)
		}
	}
}

// TestMoreTagsThanRoom: the tables grow, and find what they had before.
func TestMoreTagsThanRoom(t *testing.T) {
	var many, others []string
	for i := range 300 {
		many = append(many, fmt.Sprint("tag ", i))
		others = append(others, fmt.Sprint("other ", i))
	}
	check(t, new(Counter), [][]string{many, others, {"TAG 299"}, {"other 0"}})
}

func TestRepeats(t *testing.T) {
	x, y, z := new(int), new(int), new(int)
	tests := []struct {
		name string
		list []*int
		want []int
		why  string
	}{
		{"none", nil, nil, "an empty list has no elements"},
		{"distinct", []*int{x, y, z}, []int{1, 1, 1}, "equal contents are no repetition"},
		{"repeated", []*int{x, y, x, x}, []int{3, 1, 3, 3}, "every position of x counts all positions of x"},
		{"nil", []*int{nil, x, nil}, []int{2, 1, 2}, "nil is a pointer like any other"},
	}
	repeats := new(Repeats[int])
	for _, tt := range tests {
		repeats.Find(tt.list)
		for i, want := range tt.want {
			if got := repeats.Times(i); got != want {
				t.Errorf("%s: position %d: got %d, want %d: %s", tt.name, i, got, want, tt.why)
			}
		}
	}
}

func BenchmarkCount(b *testing.B) {
	for _, s := range []shape{
		{"100 members, 3 of 50", 100, 3, 3, 50, ""},
		{"10k members, 3 of 50", 10_000, 3, 3, 50, ""},
		{"10k members, 4 of 10k", 10_000, 4, 4, 10_000, ""},
		{"10k members, 8 of 2k", 10_000, 8, 8, 2_000, ""},
		{"20k members, 20 of 200", 20_000, 20, 20, 200, ""},
	} {
		members := s.random(rand.New(rand.NewPCG(17, 18)))
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			c := new(Counter)
			for b.Loop() {
				read(c, members)
				if err := c.Count(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
