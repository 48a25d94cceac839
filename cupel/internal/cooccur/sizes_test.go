package cooccur

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

func TestExpectSizesTheSpellings(t *testing.T) {
	for _, tt := range []struct {
		n, want int
		why     string
	}{
		{0, 1, "a list without members may still be given a tag"},
		{1, 2, "more places than members"},
		{100, 128, "the next power of two"},
		{128, 256, "more than a power of two"},
		{mostRecent - 1, mostRecent, "as many as there may be"},
		{1_000_000, mostRecent, "no more than that for a long list"},
	} {
		c := new(Counter)
		c.Reset()
		c.Expect(tt.n)
		if len(c.recent) != tt.want || cap(c.member) < tt.n || len(c.member) != 0 {
			t.Errorf("%d members: %d spellings, room for %d members, want %d spellings: %s", tt.n, len(c.recent), cap(c.member), tt.want, tt.why)
		}
		c.Reset()
		if len(c.recent) != 0 {
			t.Errorf("after a reset %d spellings are looked at", len(c.recent))
		}
	}
}

// TestAddReadsATagOnce sees by the buffer for folding whether a tag was read.
func TestAddReadsATagOnce(t *testing.T) {
	reads := func(c *Counter, tag string) bool {
		c.folded = c.folded[:0]
		c.Add(tag)
		return len(c.folded) != 0
	}
	tag, same := "a tag", string([]byte("a tag"))
	c := new(Counter)
	c.Reset()
	c.Expect(1000)
	if !reads(c, tag) || reads(c, tag) {
		t.Error("the same string in memory is read once")
	}
	if unsafe.StringData(tag) != unsafe.StringData(same) && !reads(c, same) {
		t.Error("an equal string elsewhere must be read")
	}
	if !reads(c, tag[:1]) || c.ids[len(c.ids)-1] == c.ids[0] {
		t.Error("a shorter string at the same place must be read")
	}
	c.Reset()
	for range 2 {
		if !reads(c, tag) {
			t.Error("without Expect there is nothing to remember spellings in")
		}
	}

	// The places of a hundred tags mostly differ.
	c.Reset()
	c.Expect(mostRecent)
	var tags []string
	for i := range 100 {
		tags = append(tags, fmt.Sprint("tag", i))
	}
	again := 0
	for range 2 {
		again = 0
		for _, tag := range tags {
			if reads(c, tag) {
				again++
			}
		}
	}
	if again > 10 {
		t.Errorf("%d of 100 tags were read again", again)
	}
}

func TestShortSetsBeginAtANewWord(t *testing.T) {
	for _, tt := range []struct {
		long, short, words, longWords int
		firstShort                    uint32
	}{
		{1, 1, 2, 1, 64},
		{63, 65, 3, 1, 64},
		{64, 64, 2, 1, 64},
		{65, 1, 3, 2, 128},
		{64, 0, 1, 1, 0},
		{65, 0, 2, 2, 0},
		{0, 65, 2, 0, 0},
		{0, 0, 0, 0, 0},
	} {
		c := new(Counter)
		c.Reset()
		var among []uint32
		for i := range tt.long + tt.short {
			c.Add(fmt.Sprint(i))
			if i < tt.long {
				c.Add("second")
			}
			c.Next()
			among = append(among, uint32(i))
		}
		words, longWords := c.layOut(1, among)
		if words != tt.words || longWords != tt.longWords || c.bitSets.words != words {
			t.Errorf("%d long sets and %d short ones: %d words, %d of long sets, want %d and %d", tt.long, tt.short, words, longWords, tt.words, tt.longWords)
		}
		if tt.short > 0 && c.bitSets.bit[tt.long] != tt.firstShort {
			t.Errorf("%d long sets: the first short one has bit %d, want %d", tt.long, c.bitSets.bit[tt.long], tt.firstShort)
		}
		if bits := c.bitSets.bit[:tt.long]; !slices.IsSorted(bits) || tt.long > 0 && int(bits[tt.long-1]) != tt.long-1 {
			t.Errorf("%d long sets have bits %v", tt.long, bits)
		}
	}
}

func TestATagInAsManySetsAsWordsHasARow(t *testing.T) {
	c := new(Counter)
	var members [][]string
	for i := range 150 { // three words
		tags := []string{fmt.Sprint("own", i)}
		for _, n := range []int{2, 3, 4} {
			if i < n {
				tags = append(tags, fmt.Sprint("in", n))
			}
		}
		members = append(members, tags)
	}
	count(t, c, members)
	if err := c.countBits(t.Context(), 0, false); err != nil {
		t.Fatal(err)
	}
	c.fillRows(3)
	for number, name := range c.names {
		if has, want := c.bitSets.row[number] >= 0, name == "in3" || name == "in4"; has != want {
			t.Errorf("tag %s has a row: %t, want %t", name, has, want)
		}
	}
}
