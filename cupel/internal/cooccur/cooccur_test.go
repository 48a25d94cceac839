package cooccur

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/wollax/cupel-go/cupel/internal/ascii"
)

func count(t testing.TB, c *Counter, members [][]string) []int {
	t.Helper()
	c.Reset()
	c.Expect(len(members))
	for _, tags := range members {
		for _, tag := range tags {
			c.Add(tag)
		}
		c.Next()
	}
	if err := c.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := make([]int, len(members))
	for i := range got {
		got[i] = c.Sharing(i)
	}
	return got
}

// bruteForce looks at every pair of members.
func bruteForce(members [][]string) []int {
	numbers := map[string]int{}
	tags := make([][]int, len(members))
	for i, names := range members {
		for _, name := range names {
			folded := ascii.Lower(name)
			if _, ok := numbers[folded]; !ok {
				numbers[folded] = len(numbers)
			}
			tags[i] = append(tags[i], numbers[folded])
		}
	}
	counts := make([]int, len(members))
	for i := range members {
		own := make([]bool, len(numbers))
		for _, tag := range tags[i] {
			own[tag] = true
		}
		for _, others := range tags {
			if slices.ContainsFunc(others, func(tag int) bool { return own[tag] }) {
				counts[i]++
			}
		}
	}
	return counts
}

func TestCount(t *testing.T) {
	tests := []struct {
		name    string
		members [][]string
		want    []int
		why     string
	}{
		{"no members", nil, nil, "nothing is counted"},
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

// TestSharedBytes gives tags that begin where others do, and equal tags
// elsewhere, which the place of their bytes alone would confuse.
func TestSharedBytes(t *testing.T) {
	text := "AbAb"
	members := [][]string{{text[:1]}, {text[:2]}, {text[2:]}, {text[2:3]}, {text[:0]}, {text[1:1], ""}, {"ab"}, {"B"}}
	c := new(Counter)
	for range 2 {
		if got, want := count(t, c, members), []int{2, 3, 3, 2, 2, 2, 3, 1}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	// The same bytes in memory may be other tags in the next list.
	buffer := []byte("first")
	tag := unsafe.String(&buffer[0], len(buffer))
	count(t, c, [][]string{{tag}})
	copy(buffer, "other")
	if got, want := count(t, c, [][]string{{"first"}, {tag}}), []int{1, 1}; !slices.Equal(got, want) {
		t.Errorf("after a reset: got %v, want %v", got, want)
	}
}

// shape describes random members: how many, with how many tags, from how many.
type shape struct {
	name                        string
	members, least, most, among int
	why                         string
}

var shapes = []shape{
	{"few members", 20, 0, 3, 5, "bit sets, one word"},
	{"some members", 150, 0, 12, 40, "bit sets, several words"},
	{"one tag each", 700, 1, 1, 90, "subsets of one tag"},
	{"up to three", 2000, 0, 3, 40, "subsets, with heavy sets"},
	{"exactly four", 2500, 4, 4, 60, "subsets at the limit, with few repeated sets"},
	{"short and long", 2000, 0, 9, 50, "short sets through subsets, long ones through bits, and both count each other"},
	{"mostly short", 2000, 1, 5, 12, "heavy sets on both sides of the limit"},
	{"long", 900, 18, 22, 100, "rows of bits"},
	{"sparse and long", 2000, 5, 9, 9000, "tags that few have, as lists"},
	{"mixed frequencies", 1500, 6, 40, 4000, "lists and rows in one union"},
	{"short and long, sparse", 700, 1, 7, 2500, "short sets by the lists of long ones"},
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

func TestCountEqualsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := new(Counter) // one for all, so that leftovers of a list would show
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			members := s.random(r)
			if got, want := count(t, c, members), bruteForce(members); !slices.Equal(got, want) {
				t.Errorf("counts differ from brute force (%s)", s.why)
			}
		})
	}
}

// checkEveryWay counts what c has counted by all other plans.
func checkEveryWay(t *testing.T, c *Counter, want []int) {
	t.Helper()
	for limit := range MaxSubsetTags + 1 {
		for _, byTag := range []bool{false, true} {
			clear(c.sharing)
			if err := errors.Join(c.countSubsets(t.Context(), limit), c.countBits(t.Context(), limit, byTag)); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if got := c.Sharing(i); got != want[i] {
					t.Fatalf("subsets up to %d tags, by tag %t: member %d has %d, want %d", limit, byTag, i, got, want[i])
				}
			}
		}
	}
}

// TestEveryLimitCountsTheSame holds the two ways of counting against each other
// at every split between them, not only where the cost estimate puts it.
func TestEveryLimitCountsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	c := new(Counter)
	for _, s := range shapes {
		s.members = min(s.members, 700)
		members := s.random(r)
		want := bruteForce(members)
		count(t, c, members)
		checkEveryWay(t, c, want)
	}
}

// TestListsAndRowsCountTheSame asks both ways of counting long sets for the
// same sets.
func TestListsAndRowsCountTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	c := new(Counter)
	for _, s := range shapes {
		count(t, c, s.random(r))
		if err := c.countBits(t.Context(), 0, false); err != nil {
			t.Fatal(err)
		}
		b := &c.bitSets
		words, planes := b.words, c.fillPlanes(b.all)
		for i := range c.sets.len() {
			ids := c.set(uint32(i))
			listed, union := b.countListed(uint32(i), ids, 64*words), b.countUnion(ids, words, words, planes)
			if listed != union {
				t.Fatalf("%s: set %d is shared by %d by its lists, %d by its rows", s.name, i, listed, union)
			}
		}
	}
}

func TestCountStopsWhenTheContextIsDone(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range shapes[:8] {
		c := new(Counter)
		c.Reset()
		for _, tags := range s.random(r) {
			for _, tag := range tags {
				c.Add(tag)
			}
			c.Next()
		}
		if err := c.Count(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want the context's error", s.name, err)
		}
	}
}

func TestResetKeepsNoTags(t *testing.T) {
	c := new(Counter)
	count(t, c, [][]string{{"a", "b"}, {"C"}})
	c.Reset()
	for _, name := range c.names[:cap(c.names)] {
		if name != "" {
			t.Errorf("the counter still refers to %q", name)
		}
	}
	for _, s := range c.recent[:cap(c.recent)] {
		if s.tag != "" {
			t.Errorf("the counter still remembers %q", s.tag)
		}
	}
}

func TestWarmCounterDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, s := range shapes[:8] {
		members := s.random(r)
		c := new(Counter)
		count(t, c, members)
		if n := testing.AllocsPerRun(3, func() {
			c.Reset()
			for _, tags := range members {
				for _, tag := range tags {
					c.Add(tag)
				}
				c.Next()
			}
			if err := c.Count(t.Context()); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: a second count of the same list allocated %v times", s.name, n)
		}
	}
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
		{"nil", []*int{nil, x, nil}, []int{2, 1, 2}, "nil is an element like any other"},
	}
	r := new(Repeats[*int])
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.Find(tt.list)
			for i, want := range tt.want {
				if got := r.Times(i); got != want {
					t.Errorf("position %d: got %d, want %d: %s", i, got, want, tt.why)
				}
			}
		})
	}
}

func TestRepeatsOfManyElements(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	list := make([]int, 5000)
	times := map[int]int{}
	for i := range list {
		list[i] = r.IntN(3000)
		times[list[i]]++
	}
	repeats := new(Repeats[int])
	for range 2 {
		repeats.Find(list)
		for i, e := range list {
			if got := repeats.Times(i); got != times[e] {
				t.Fatalf("%d at position %d: got %d times, want %d", e, i, got, times[e])
			}
		}
	}
}

// FuzzCount reads members out of bytes: a byte is a tag out of 16 in one of two
// spellings, and 0xff or any byte with its high bit set ends a member.
func FuzzCount(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 0xff, 2, 3, 0xff, 0xff, 17, 0xff})
	f.Add([]byte{1, 2, 3, 4, 5, 6, 0xff, 6, 0xff, 7, 0xff, 1, 1, 17, 0xff})
	f.Add(slices.Repeat([]byte{9, 25, 0xff, 3, 0x80}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		members := [][]string{nil}
		for _, b := range data[:min(len(data), 2000)] {
			if b&0x80 != 0 {
				members = append(members, nil)
				continue
			}
			spelling := "t%d\u212a"
			if b&0x10 != 0 {
				spelling = "T%d\u212a"
			}
			last := len(members) - 1
			members[last] = append(members[last], fmt.Sprintf(spelling, b&0xf))
		}
		c := new(Counter)
		want := bruteForce(members)
		if got := count(t, c, members); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		checkEveryWay(t, c, want)
	})
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
				count(b, c, members)
			}
		})
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

func TestCountStopsInMidPass(t *testing.T) {
	c := new(Counter)
	r := rand.New(rand.NewPCG(19, 20))
	count(t, c, shape{"", 20_000, 12, 12, 2_000, ""}.random(r))
	for _, way := range []struct {
		name  string
		limit int
		byTag bool
	}{{"whole sets", 0, false}, {"tag by tag", 0, true}} {
		all := &doneAfter{t.Context(), 0, 1 << 30}
		if err := c.countBits(all, way.limit, way.byTag); err != nil || all.looks < 5 || all.looks > 20_000 {
			t.Fatalf("%s: %v after %d looks at the context; it must look now and then", way.name, err, all.looks)
		}
		for _, most := range []int{0, 1, all.looks / 2, all.looks - 1} {
			ctx := &doneAfter{t.Context(), 0, most}
			if err := c.countBits(ctx, way.limit, way.byTag); !errors.Is(err, context.Canceled) || ctx.looks > most+2 {
				t.Errorf("%s, done at look %d: %v after %d looks, want to stop there", way.name, most+1, err, ctx.looks)
			}
		}
	}
}

func TestPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, tt := range []struct {
		shape
		limit int
		byTag bool
	}{
		{shape{"short", 20_000, 3, 3, 300, "subsets are linear"}, MaxSubsetTags, false},
		{shape{"long and frequent", 5000, 30, 30, 200, "a set has most others for peers: bits of whole sets"}, 0, false},
		{shape{"long and rarer", 20_000, 12, 12, 800, "few share two tags: tag by tag"}, 0, true},
		{shape{"long and rare", 3000, 30, 30, 90_000, "a tag is in one set: its list is short"}, 0, false},
	} {
		c := new(Counter)
		count(t, c, tt.random(r))
		limit, byTag, _ := c.plan()
		if tt.limit != 0 && limit != tt.limit || byTag != tt.byTag {
			t.Errorf("%s: subsets up to %d tags, by tag %t: %s", tt.name, limit, byTag, tt.why)
		}
	}
}

// TestGroupsTakeLinearMemory has tags of very different frequency, where rows as
// wide as the list would take the most.
func TestGroupsTakeLinearMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	c := new(Counter)
	members := shape{"", 4000, 12, 12, 20_000, ""}.random(r)
	for i := range members {
		members[i] = append(members[i], "everyone", fmt.Sprint("half", i%2), fmt.Sprint("tenth", i%10))
	}
	count(t, c, members)
	if err := c.countBits(t.Context(), 0, true); err != nil {
		t.Fatal(err)
	}
	given := 0
	for _, tags := range members {
		given += len(tags)
	}
	if words := cap(c.groups.rows); words > given {
		t.Errorf("%d words of rows for %d tags", words, given)
	}
}

// BenchmarkWays measures what tag by tag gains over whole sets.
func BenchmarkWays(b *testing.B) {
	c := new(Counter)
	count(b, c, shape{"", 20_000, 30, 30, 2_000, ""}.random(rand.New(rand.NewPCG(25, 26))))
	for _, byTag := range []bool{false, true} {
		b.Run(fmt.Sprintf("by-tag-%t", byTag), func(b *testing.B) {
			for b.Loop() {
				if err := c.countBits(b.Context(), 0, byTag); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
