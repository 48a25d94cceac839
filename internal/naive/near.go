package naive

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
)

// nearWord is one of WORDS.
type nearWord struct {
	text   string
	number bool
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || r == '_'
}

func ideograph(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// wordsOf is WORDS.
func wordsOf(text string, f Fault) []nearWord {
	var words []nearWord
	for _, line := range withoutLineNumbers(strings.Split(text, "\n"), f) {
		runes := []rune(line)
		for i := 0; i < len(runes); i++ {
			switch r := runes[i]; {
			case ideograph(r):
				words = append(words, nearWord{text: string(r)})
			case inWord(r):
				start, number := i, false
				for ; i < len(runes) && inWord(runes[i]) && !ideograph(runes[i]); i++ {
					number = number || unicode.IsNumber(runes[i])
				}
				if unicode.IsNumber(r) && start > 0 && (runes[start-1] == '-' || runes[start-1] == '−') && (start == 1 || !inWord(runes[start-2])) {
					start--
				}
				words = append(words, nearWord{string(runes[start:i]), number})
				i--
			}
		}
	}
	return words
}

// withoutLineNumbers cuts off the numbers that number lines.
func withoutLineNumbers(lines []string, f Fault) []string {
	if f == FaultNearLineNumbers {
		return lines
	}
	number := make([]int, len(lines)) // -5 for none
	rest := make([]string, len(lines))
	for i, line := range lines {
		number[i] = -5
		trimmed := strings.TrimLeft(line, " \t")
		digits := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "0123456789"))]
		after := []rune(trimmed[len(digits):])
		switch {
		case digits == "", len(digits) > 9, len(after) > 0 && inWord(after[0]):
			continue
		case len(after) > 1 && !unicode.IsSpace(after[0]) && '0' <= after[1] && after[1] <= '9':
			continue
		}
		number[i], _ = strconv.Atoi(digits)
		rest[i] = trimmed[len(digits):]
	}
	cut := slices.Clone(lines)
	for i := range lines {
		before := i > 0 && number[i-1] == number[i]-1
		after := i+1 < len(lines) && number[i+1] == number[i]+1
		if number[i] >= 0 && (before || after) {
			cut[i] = rest[i]
		}
	}
	return cut
}

// nearText is a text as near copies are looked for.
type nearText struct {
	content  string
	newest   *member
	shingles map[string]bool
	numbers  map[string]map[string]int // by the words on one side: how often each number is there
	of       *nearText
	share    float64
}

func newNearText(m *member, f Fault) *nearText {
	t := &nearText{content: m.ref.Content(), newest: m, shingles: map[string]bool{}, numbers: map[string]map[string]int{}}
	words := wordsOf(t.content, f)
	if len(words) < 50 && f != FaultNearShortTexts {
		return nil
	}
	masked := func(i int) string {
		switch {
		case i < 0 || i >= len(words):
			return "|"
		case words[i].number:
			return "#"
		}
		return words[i].text
	}
	for i := 0; i+4 <= len(words); i++ {
		t.shingles[words[i].text+" "+words[i+1].text+" "+words[i+2].text+" "+words[i+3].text] = true
	}
	for i, w := range words {
		if !w.number || f == FaultNearAnyNumbers {
			continue
		}
		for _, side := range []string{"before " + masked(i-1) + " " + masked(i-2), "after " + masked(i+1) + " " + masked(i+2)} {
			if t.numbers[side] == nil {
				t.numbers[side] = map[string]int{}
			}
			t.numbers[side][w.text]++
		}
	}
	return t
}

// differ is DIFFER.
func differ(a, b *nearText) bool {
	lacks := func(a, b map[string]int) bool {
		for n, times := range a {
			if times > b[n] {
				return true
			}
		}
		return false
	}
	for side, numbers := range a.numbers {
		if others := b.numbers[side]; others != nil && lacks(numbers, others) && lacks(others, numbers) {
			return true
		}
	}
	return false
}

// markCopies is NEAR-DUPLICATES. It returns the units that leave, with what each
// is a copy of.
func (r *run) markCopies(units []*unit) map[*unit]*nearText {
	f := r.Fault
	if r.NearDuplicates == 0 {
		return nil
	}
	var members []*member
	for _, u := range units {
		for _, m := range u.members {
			if !m.stale {
				members = append(members, m)
			}
		}
	}
	slices.SortFunc(members, func(a, b *member) int { return a.position - b.position })
	texts := map[string]*nearText{}
	timed := true
	members = slices.DeleteFunc(members, func(m *member) bool {
		content := m.ref.Content()
		if texts[content] == nil {
			texts[content] = newNearText(m, f)
		}
		if texts[content] == nil {
			return true
		}
		timed = timed && m.hasTimestamp
		return false
	})
	newer := func(a, b *member) int { // negative if a is newer
		byTime := 0
		if timed {
			byTime = b.timestamp.Compare(a.timestamp)
		}
		order := cmp.Or(byTime, b.position-a.position)
		if f == FaultNearOldestStays {
			return -order
		}
		return order
	}
	var list []*nearText
	for _, m := range members {
		t := texts[m.ref.Content()]
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
		if newer(m, t.newest) < 0 {
			t.newest = m
		}
	}
	slices.SortFunc(list, func(a, b *nearText) int { return newer(a.newest, b.newest) })

	known := map[string][]*nearText{}
	for _, t := range list {
		met := map[*nearText]int{}
		var others []*nearText
		for s := range t.shingles {
			for _, other := range known[s] {
				if met[other] == 0 {
					others = append(others, other)
				}
				met[other]++
			}
		}
		slices.SortFunc(others, func(a, b *nearText) int { return cmp.Or(met[b]-met[a], newer(a.newest, b.newest)) })
		if len(others) > 8 {
			others = others[:8]
		}
		slices.SortFunc(others, func(a, b *nearText) int { return newer(a.newest, b.newest) })
		for _, other := range others {
			shared := 0
			for s := range t.shingles {
				if other.shingles[s] {
					shared++
				}
			}
			share := float64(shared) / float64(len(t.shingles))
			if share >= r.NearDuplicates && share > t.share && !differ(t, other) {
				t.of, t.share = other, share
			}
		}
		if t.of != nil && f != FaultNearCopyOfCopy {
			continue
		}
		for s := range t.shingles {
			if len(known[s]) < 16 {
				known[s] = append(known[s], t)
			}
		}
	}

	leave := map[*unit]*nearText{}
	for _, m := range members {
		t := texts[m.ref.Content()]
		copied := t
		if t.of == nil {
			if m == t.newest || sameContents(m.unit, t.newest.unit) {
				continue
			}
			copied = &nearText{of: t, share: 1}
		}
		m.stale = true
		switch {
		case m.unit.lone(), f == FaultNearMembersLeave:
			leave[m.unit] = copied
		case f != FaultStaleMemberStaysFull:
			m.shrink()
		}
	}
	return leave
}

func sameContents(a, b *unit) bool {
	return a.grouped == b.grouped && slices.EqualFunc(a.members, b.members, func(a, b *member) bool { return a.ref.Content() == b.ref.Content() })
}

// excludeCopy reports a near copy.
func (r *run) excludeCopy(u *unit, t *nearText) {
	for _, m := range u.members {
		r.exclude(m.item, u.score, deduplicateStage, cupel.NewExclusionReason(cupel.ExcludeNearDuplicate, cupel.ReasonData{
			Of: t.of.content, Similarity: t.share, Survivor: t.of.newest.ref,
		}))
	}
}
