package cupel_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// unitItems reads items, one per line or semicolon: content, tokens, score, and
// then any of
//
//	g=GROUP  k=KEY (version of)  t=SECONDS  kind=KIND  pin
//	v=TOKENS:WORTH,...   variants; their contents are "content.TOKENS"
//	gv=TOKENS:WORTH,...  group variants, "content*TOKENS"
//
// A content ends at "/": a/1 and a/2 have the same content, a.
func unitItems(t testing.TB, text string) []*cupel.ContextItem {
	t.Helper()
	number := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var items []*cupel.ContextItem
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		content, _, _ := strings.Cut(f[0], "/")
		opts := []cupel.ItemOption{hint(number(f[2]))}
		for _, field := range f[3:] {
			key, value, _ := strings.Cut(field, "=")
			forms := func(mark string) (list []cupel.Variant) {
				for form := range strings.SplitSeq(value, ",") {
					tokens, worth, _ := strings.Cut(form, ":")
					list = append(list, cupel.Variant{Content: content + mark + tokens, Tokens: int(number(tokens)), Worth: number(worth)})
				}
				return list
			}
			switch key {
			case "g":
				opts = append(opts, cupel.WithGroup(value))
			case "k":
				opts = append(opts, cupel.WithVersionOf(value))
			case "t":
				opts = append(opts, cupel.WithTimestamp(time.Unix(int64(number(value)), 0)))
			case "kind":
				opts = append(opts, cupel.WithKind(cupel.ContextKind(value)))
			case "pin":
				opts = append(opts, cupel.WithPinned())
			case "v":
				opts = append(opts, cupel.WithVariants(forms(".")...))
			case "gv":
				opts = append(opts, cupel.WithGroupVariants(forms("*")...))
			default:
				t.Fatalf("field %q", field)
			}
		}
		items = append(items, item(t, content, int(number(f[1])), opts...))
	}
	return items
}

// unitEntries lists the included items as content(tokens), with #FORM for a
// smaller form and ~ for a stale one.
func unitEntries(list []cupel.IncludedItem) string {
	var all []string
	for _, e := range list {
		text := fmt.Sprintf("%s(%d)", e.Item.Content(), e.Item.Tokens())
		if e.Form() > 0 {
			text += fmt.Sprint("#", e.Form())
		}
		if e.Stale() {
			text += "~"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// unitReasons lists the excluded items with their reasons, shortened.
func unitReasons(list []cupel.ExcludedItem) string {
	var all []string
	for _, e := range list {
		r := e.Reason
		text := fmt.Sprintf("%s@%g", e.Item.Content(), e.Score)
		if e.Stale() {
			text += "~"
		}
		switch d := r.Data(); r.Code {
		case cupel.ExcludeBudgetExceeded:
			text += fmt.Sprintf(" %d/%d", d.ItemTokens, d.AvailableTokens)
			if d.GroupTokens != 0 {
				text += fmt.Sprint(" of ", d.GroupTokens)
			}
		default:
			text += " " + r.String()
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// TestChains: what a slicer sees of units.
func TestChains(t *testing.T) {
	tests := []struct {
		why, items, want string // kind tokens @score and forms of each stand-in
	}{
		{"a lone item has its variants", "a 90 .5 v=30:.5,60:.75", "Message 90@0.5 60:0.75 30:0.5"},
		{"a group without variants has no forms", "a 90 .5 g=g; b 10 .25 g=g", "Message 100@0.5"},
		{"the step that loses least per token comes first, from all members", "a 60 .5 g=g v=40:.8,20:.1; b 40 .25 g=g v=30:.9,10:.3", "Message 100@0.5 90:0.96 70:0.84 50:0.6 30:0.18"},
		{"of steps that lose the same the later member's comes first", "a 40 .5 g=g v=20:.5; b 40 .5 g=g v=10:.25", "Message 80@0.5 50:0.625 30:0.375"},
		{"many steps come in order", "a 64 .5 g=g v=32:.9,16:.7,8:.4,4:.1; b 64 .5 g=g v=48:.85,24:.8,2:.3; c 64 .5 g=g v=60:.99,1:.01; d 64 .5 g=g v=20:.6,19:.59; e 64 .5 g=g v=40:.3", "Message 320@0.5 316:0.998 284:0.978 240:0.898 224:0.868 200:0.858 199:0.856 183:0.816 124:0.62 102:0.52 78:0.38 70:0.32 66:0.26"},
		{"a member without variants stays as it is", "a 60 .5 g=g; b 40 .5 g=g v=10:.5", "Message 100@0.5 70:0.8"},
		{"a group variant takes its place in the chain", "a 60 .5 g=g v=20:.5; b 40 .5 g=g gv=70:.9,30:.6", "Message 100@0.5 70:0.9 60:0.7 30:0.6"},
		{"a group variant with the tokens of the group is not smaller", "a 60 .5 g=g gv=100:.9,99:.8; b 40 .5 g=g", "Message 100@0.5 99:0.8"},
		{"of the members the first that has group variants decides", "a 60 .5 g=g; b 40 .5 g=g gv=50:.9; c 10 .5 g=g gv=40:.9", "Message 110@0.5 50:0.9"},
		{"a form that is larger and worth no more is useless", "a 60 .5 g=g v=20:.5; b 40 .5 g=g gv=50:.9", "Message 100@0.5 50:0.9"},
		{"of equal forms one is listed", "a 50 .5 g=g v=0:.5; b 50 .5 g=g gv=50:.75", "Message 100@0.5 50:0.75"},
		{"a lone item ignores its group variants", "a 60 .5 gv=30:.5", "Message 60@0.5"},
		{"all members have 0 tokens", "a 0 .5 g=g; b 0 .75 g=g kind=Document", "Message 0@0.75"},
		{"a variant may have 0 tokens", "a 10 .5 g=g v=0:.5; b 0 .5 g=g", "Message 10@0.5 0:0.5"},
		{"a group has the greatest score of its members", "a 10 .25 g=g; b 10 .75 g=g; c 10 .5 g=g", "Message 30@0.75"},
		{"NaN is the least score", "a 10 NaN g=g; b 10 -.5 g=g; c 10 NaN g=g", "Message 30@-0.5"},
		{"a group has the kind of most of its tokens", "a 30 .5 g=g kind=Message; b 20 .5 g=g kind=Document; c 20 .5 g=g kind=document", "Document 70@0.5"},
		{"of kinds with equal tokens the first counts", "a 20 .5 g=g kind=Memory; b 20 .5 g=g kind=Document", "Memory 40@0.5"},
		{"kinds are spelled as the first of them is", "a 5 .5 g=g kind=Memory; b 20 .5 g=g kind=note; c 20 .5 g=g kind=NOTE", "note 45@0.5"},
		{"a group of one is a group", "a 50 .5 g=g v=20:.5", "Message 50@0.5 20:0.5"},
		{"units come by score, ties by place", "a 1 .25; b 2 .5 g=g; c 3 .5; d 4 .25 g=g", "Message 6@0.5; Message 3@0.5; Message 1@0.25"},
		{"a stale member starts at its smallest variant", "a 50 .5 g=g k=f v=30:.5,10:.25; b 50 .5 g=g v=20:.5; n 1 .1 k=f", "Message 60@0.5 30:0.5833; Message 1@0.1"},
		{"a stale member without variants stays full", "a 50 .5 g=g k=f; b 50 .5 g=g v=20:.5; n 1 .1 k=f", "Message 100@0.5 70:0.75; Message 1@0.1"},
	}
	for _, tt := range tests {
		var got []string
		see := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
			for _, it := range items {
				text := fmt.Sprintf("%s %d@%g", it.Item.Kind(), it.Item.Tokens(), it.Score)
				for _, f := range it.Item.Forms() {
					text += fmt.Sprintf(" %d:%.4g", f.Tokens, f.Worth)
				}
				got = append(got, text)
			}
			return cupel.Selection{}, nil
		})
		p := pipeline(t, func(c *cupel.Config) { c.Slicer = see })
		if _, err := p.Run(t.Context(), unitItems(t, tt.items), budgetOf(t, 1000, 1000)); err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", tt.why, tt.items, got, tt.want)
		}
	}
}

// TestRunsOfUnits: what is in, what is out, and why.
func TestRunsOfUnits(t *testing.T) {
	tests := []struct {
		why, items  string
		target, max int
		how         string // words: a slicer, an overflow strategy, FullOnly, KeepDuplicates
		in, out     string
	}{
		// FIT-PINNED
		{"pinned units stay full while they fit", "a 50 .5 g=g pin; b 50 .5 g=g v=10:.5", 100, 100, "greedy", "a(50) b(50)", ""},
		{"a pinned unit shrinks by the members that the caller did not pin", "a 50 .5 g=g pin v=1:.5; b 50 .5 g=g v=10:.5", 99, 200, "greedy", "a(50) b.10(10)#1", ""},
		{"what a pinned unit no longer needs goes to others", "a 50 .5 g=g pin; b 50 .5 g=g v=10:.5; c 30 .5; d 9 .4", 99, 99, "greedy", "a(50) b.10(10)#1 c(30) d(9)", ""},
		{"the step that loses least per token is taken first", "a 10 .5 g=g pin; b 90 .5 g=g v=40:.2; c 10 .5 g=h pin; d 90 .5 g=h v=40:.8", 160, 160, "greedy", "a(10) b(90) c(10) d.40(40)#1", ""},
		{"of equal ones the later", "a 10 .5 g=g pin; b 90 .5 g=g v=40:.5; c 10 .5 g=h pin; d 90 .5 g=h v=40:.5", 160, 160, "greedy", "a(10) b(90) c(10) d.40(40)#1", ""},
		{"steps go on until it fits", "a 10 .5 g=g pin; b 90 .5 g=g v=60:.8,40:.5,10:.1; c 10 .5 g=h pin; d 90 .5 g=h v=70:.9,20:.4", 120, 120, "greedy", "a(10) b.60(60)#1 c(10) d.20(20)#2", ""},
		{"a large unit loses more than a small one", "a 100 .5 g=g pin; b 100 .5 g=g v=50:.5; c 10 .5 g=h pin; d 90 .5 g=h v=40:.2", 280, 280, "greedy", "a(100) b.50(50)#1 c(10) d(90)", ""},
		{"a small unit loses less than a large one, though it is worth less", "a 100 .5 g=g pin; b 100 .5 g=g v=50:.4; c 10 .5 g=h pin; d 90 .5 g=h v=40:.55", 280, 280, "greedy", "a(100) b(100) c(10) d.40(40)#1", ""},
		{"above the target, but within the maximum, pinned units shrink as far as they can", "a 50 .5 g=g pin; b 50 .5 g=g v=20:.5; c 20 .9", 60, 200, "greedy", "cupel: Selected items require 70 tokens, exceeding target budget of 60", ""},
		{"a pinned unit has no group variants", "a 50 .5 g=g pin gv=10:.9; b 50 .5 g=g v=20:.5", 90, 100, "greedy", "a(50) b.20(20)#1", ""},
		{"a lone pinned item does not shrink", "a 50 .5 pin v=10:.5; b 50 .5 g=g v=20:.5 pin", 60, 100, "greedy", "cupel: Selected items require 100 tokens, exceeding target budget of 60", ""},
		{"FullOnly keeps pinned units full", "a 50 .5 g=g pin; b 50 .5 g=g v=10:.5", 90, 100, "greedy FullOnly", "cupel: Selected items require 100 tokens, exceeding target budget of 90", ""},
		{"a pinned unit takes what another one needs", "p 60 .5 g=g pin; q 10 .5 g=g; c 50 .5; d 40 .5 g=h; e 5 .5 g=h", 100, 100, "greedy", "p(60) q(10)", "c@0.5 PinnedOverride: pinned items took its place; d@0.5 PinnedOverride: pinned items took its place; e@0.5 PinnedOverride: pinned items took its place"},

		// Classify
		{"a member with negative tokens takes its group out", "a 10 .5 g=g; b -3 .5 g=g; c -5 .5 g=g pin; d 10 .25", 100, 100, "greedy", "d(10)", "a@0 NegativeTokens: -3 tokens; b@0 NegativeTokens: -3 tokens; c@0 NegativeTokens: -3 tokens"},
		{"the reason has the first negative count", "a 0 .5 g=g; b -3 .5 g=g; c -5 .5 g=g", 100, 100, "greedy", "", "a@0 NegativeTokens: -3 tokens; b@0 NegativeTokens: -3 tokens; c@0 NegativeTokens: -3 tokens"},
		{"a negative member is no version", "a 10 .5 k=f; b -3 .5 k=f", 100, 100, "greedy", "a(10)", "b@0 NegativeTokens: -3 tokens"},

		// Versions
		{"without timestamps the last counts", "a 10 .9 k=f; b 11 .5 k=f; c 12 .7 k=f; o 5 .6", 100, 100, "inOrder", "c(12) o(5)", "a@0.9~ Superseded: a newer version is among the candidates; b@0.5~ Superseded: a newer version is among the candidates"},
		{"with timestamps the latest counts, of equal ones the last", "a 10 .9 k=f t=5; b 11 .5 k=f t=9; c 12 .7 k=f t=9; d 13 .7 k=f t=1", 100, 100, "inOrder", "c(12)", "a@0.9~ Superseded: a newer version is among the candidates; d@0.7~ Superseded: a newer version is among the candidates; b@0.5~ Superseded: a newer version is among the candidates"},
		{"one missing timestamp makes all of them useless", "a 10 .9 k=f t=5; b 11 .5 k=f; c 12 .7 k=f t=1", 100, 100, "inOrder", "c(12)", "a@0.9~ Superseded: a newer version is among the candidates; b@0.5~ Superseded: a newer version is among the candidates"},
		{"the first may lack its timestamp", "a 10 .9 k=f; b 11 .5 k=f t=9; c 12 .7 k=f t=1", 100, 100, "inOrder", "c(12)", "a@0.9~ Superseded: a newer version is among the candidates; b@0.5~ Superseded: a newer version is among the candidates"},
		{"the first may be the newest", "a 10 .9 k=f t=9; b 11 .5 k=f t=1; c 12 .7 k=f t=2", 100, 100, "inOrder", "a(10)", "c@0.7~ Superseded: a newer version is among the candidates; b@0.5~ Superseded: a newer version is among the candidates"},
		{"keys are separate", "a 10 .9 k=f; b 11 .5 k=h; c 12 .7 k=f; d 13 .4 k=h; e 5 .1 k=i", 100, 100, "inOrder", "c(12) d(13) e(5)", "a@0.9~ Superseded: a newer version is among the candidates; b@0.5~ Superseded: a newer version is among the candidates"},
		{"a pinned version stays", "a 10 .9 k=f pin; b 11 .5 k=f", 100, 100, "inOrder", "a(10)~ b(11)", ""},
		{"a pinned unit is as FIT-PINNED left it, stale or not", "a 10 .9 k=f g=g v=5:.5; p 10 .9 g=g pin; b 11 .5 k=f", 100, 100, "inOrder", "a(10)~ p(10) b(11)", ""},
		{"a member starts at its smallest variant", "a 50 .9 k=f g=g v=30:.5,10:.25; c 50 .9 g=g v=20:.5; b 11 .5 k=f", 100, 100, "inOrder", "a.10(10)#2~ c(50) b(11)", ""},
		{"it has no smaller form, others have", "a 50 .9 k=f g=g v=30:.5,10:.25; c 50 .9 g=g v=20:.5; b 11 .5 k=f", 45, 100, "greedy", "a.10(10)#2~ c.20(20)#1 b(11)", ""},
		{"FullOnly keeps a stale member full", "a 50 .9 k=f g=g v=30:.5,10:.25; c 50 .9 g=g v=20:.5; b 11 .5 k=f", 120, 120, "inOrder FullOnly", "a(50)~ c(50) b(11)", ""},
		{"a version comes before its copies", "a/1 10 .9 k=f; b 11 .5 k=f; a/2 10 .7 k=f", 100, 100, "inOrder", "a(10)", "a@0.9~ Superseded: a newer version is among the candidates; b@0.5~ Superseded: a newer version is among the candidates"},

		// Older versions
		{"an older version comes back where the newest does not fit", "a 10 .9 k=f; b 60 .5 k=f; o 30 .6", 50, 50, "greedy", "a(10)~ o(30)", "b@0.5 60/10"},
		{"of several the one of the greatest value", "a 10 .3 k=f; b 20 .8 k=f; c 5 .7 k=f; n 60 .5 k=f", 50, 50, "greedy", "b(20)~", "c@0.7~ Superseded: a newer version is among the candidates; n@0.5 60/30; a@0.3~ Superseded: a newer version is among the candidates"},
		{"a smaller form of the newest may be worth more", "a 10 .3 k=f; n 60 .5 k=f v=20:.9", 50, 50, "greedy", "n.20(20)#1", "a@0.3~ Superseded: a newer version is among the candidates"},
		{"or less", "a 10 .4 k=f; b 70 .9 k=f; n 60 .5 k=f v=20:.5", 50, 50, "greedy", "a(10)~", "b@0.9~ Superseded: a newer version is among the candidates; n@0.5 60/40"},
		{"an older version with as many tokens as the newest does not come back", "a 60 .9 k=f; n 60 .5 k=f; o 10 .1", 59, 59, "greedy", "o(10)", "a@0.9~ Superseded: a newer version is among the candidates; n@0.5 60/49"},
		{"nor one of a pinned newest", "a 10 .9 k=f; n 60 .5 k=f pin", 100, 100, "greedy", "n(60)", "a@0.9~ Superseded: a newer version is among the candidates"},
		{"nor one of a group", "a 10 .9 k=f; n 60 .5 k=f g=g", 50, 50, "greedy", "", "a@0.9~ Superseded: a newer version is among the candidates; n@0.5 60/50 of 60"},
		{"nor with FullOnly", "a 10 .9 k=f; n 60 .5 k=f", 50, 50, "greedy FullOnly", "", "a@0.9~ Superseded: a newer version is among the candidates; n@0.5 60/50"},
		{"nor with a slicer that does not ask for the pass", "a 10 .9 k=f; n 60 .5 k=f", 50, 50, "inOrder", "", "a@0.9~ Superseded: a newer version is among the candidates; n@0.5 60/50"},
		{"nor within a target of 0", "a 0 .9 k=f; n 60 .5 k=f", 0, 50, "greedy", "", "a@0.9~ Superseded: a newer version is among the candidates; n@0.5 60/0"},
		{"the survivor of the newest stands for it", "o/1 10 .9 k=f; x/1 60 .8; x/2 60 .5 k=f", 50, 50, "greedy", "o(10)~", "x@0.8 60/40; x@0.5 Deduplicated: the same content is in as another item"},
		{"several keys at once", "a 10 .9 k=f; m 70 .6 k=h; b 9 .8 k=h; n 60 .5 k=f; c 8 .1 k=h; l 80 .7 k=h", 30, 50, "greedy", "a(10)~ b(9)~", "l@0.7 80/11; m@0.6~ Superseded: a newer version is among the candidates; n@0.5 60/11; c@0.1~ Superseded: a newer version is among the candidates"},
		{"several keys, one among the other", "a 4 .3 k=f; b 9 .8 k=h; c 10 .9 k=f; d 8 .7 k=h; n 60 .5 k=f; m 70 .6 k=h", 30, 50, "greedy", "c(10)~ b(9)~", "d@0.7~ Superseded: a newer version is among the candidates; m@0.6 70/11; n@0.5 60/11; a@0.3~ Superseded: a newer version is among the candidates"},
		{"what came back is placed by its own score", "a 10 .2 k=f; o 10 .5; p 10 .1; n 60 .9 k=f", 35, 35, "greedy", "o(10) a(10)~ p(10)", "n@0.9 60/5"},
		{"ties go by place", "a 10 .5 k=f; o 10 .5; p 10 .5; n 60 .9 k=f", 35, 35, "greedy", "a(10)~ o(10) p(10)", "n@0.9 60/5"},

		// Duplicates
		{"of the same lone items the best stays", "a/1 10 .5 v=5:.5; a/2 10 .7; b 10 .5; b 10 .5", 100, 100, "inOrder", "a(10) b(10)", "a@0.5 Deduplicated: the same content is in as another item; b@0.5 Deduplicated: the same content is in as another item"},
		{"of the same groups the best stays, member by member", "a 10 .5 g=g; b 11 .2 g=g; a 12 .6 g=h; b 13 .1 g=h", 100, 100, "inOrder", "a(12) b(13)", "a@0.5 Deduplicated: the same content is in as another item; b@0.5 Deduplicated: the same content is in as another item"},
		{"a group is no lone item", "a 10 .5 g=g; a 10 .6", 100, 100, "inOrder", "a(10) a(10)", ""},
		{"another order is another group", "a 10 .5 g=g; b 10 .5 g=g; b 10 .6 g=h; a 10 .6 g=h", 100, 100, "inOrder", "b(10) a(10) a(10) b(10)", ""},
		{"a longer group is another group", "a 10 .5 g=g; a 10 .6 g=h; b 10 .6 g=h", 100, 100, "inOrder", "a(10) b(10) a(10)", ""},
		{"pinned units take no part", "a 10 .5 pin; a 10 .6 v=5:.5; a 10 .7", 100, 100, "inOrder", "a(10) a(10)", "a@0.6 Deduplicated: the same content is in as another item"},
		{"KeepDuplicates keeps them", "a 10 .5 g=g; a 10 .6 g=h; c 5 .5; c 5 .4", 100, 100, "inOrder KeepDuplicates", "a(10) a(10) c(5) c(5)", ""},
		{"with KeepDuplicates older versions leave all the same", "a 10 .5 k=f; a 10 .6 k=f", 100, 100, "inOrder KeepDuplicates", "a(10)", "a@0.5~ Superseded: a newer version is among the candidates"},
		{"NaN neither beats nor is beaten", "a/1 10 NaN v=5:.5; a/2 10 .7; b/1 10 .7; b/2 10 NaN", 100, 100, "inOrder", "b(10) a(10)", "a@0.7 Deduplicated: the same content is in as another item; b@NaN Deduplicated: the same content is in as another item"},

		// Slice and the left-over pass
		{"a smaller form takes what is left", "a 60 .9; b 80 .5 v=40:.6,10:.2", 100, 100, "greedy", "a(60) b.40(40)#1", ""},
		{"the largest that fits, if it is worth it", "a 60 .9; b 80 .5 v=40:.6,10:.2", 99, 100, "greedy", "a(60) b.10(10)#2", ""},
		{"two that compete: the better rate first", "a 60 .9 v=30:.9; b 80 .8 v=30:.5", 50, 50, "greedy", "a.30(30)#1", "b@0.8 80/20"},
		{"equal rates: by position", "a 60 .5 v=30:.5; b 60 .5 v=30:.5", 50, 50, "greedy", "a.30(30)#1", "b@0.5 60/20"},
		{"what has grown no further leaves room for a second unit", "a 60 .5 v=30:.5,10:.4; b 60 .5 v=30:.5,10:.4", 45, 45, "greedy", "a.30(30)#1 b.10(10)#2", ""},
		{"a negative score takes no smaller form", "a 60 -.5 v=30:.5; b 60 NaN v=30:.5", 50, 50, "greedy", "", "a@-0.5 60/50; b@NaN 60/50"},
		{"a score of 0 takes what is left, from the smallest form on", "a 60 0 v=30:.5,20:.2", 50, 50, "greedy", "a.30(30)#1", ""},
		{"a group shrinks as one", "a 60 .5 g=g v=30:.5; b 60 .5 g=g v=10:.5; c 10 .9", 100, 100, "greedy", "c(10) a(60) b.10(10)#1", ""},
		{"a group variant stands for all members", "a 60 .5 g=g v=30:.5; b 60 .4 g=g gv=25:.9; c 10 .9", 50, 50, "greedy", "c(10) b*25(25)#2 b*25(0)#1", ""},
		{"a group is out with its tokens", "a 60 .5 g=g; b 60 .4 g=g; c 10 .9", 50, 50, "greedy", "c(10)", "a@0.5 60/40 of 120; b@0.5 60/40 of 120"},
		{"a lone group member is out with its tokens", "a 60 .5 g=g; c 10 .9", 50, 50, "greedy", "c(10)", "a@0.5 60/40 of 60"},
		{"pinned units are the reason", "p 40 .5 pin; a 30 .5 g=g; b 40 .4 g=g; c 70 .1; d 20 .1; e 90 .2 g=h; f 20 .2 g=h", 100, 100, "greedy", "p(40) d(20)", "a@0.5 PinnedOverride: pinned items took its place; b@0.5 PinnedOverride: pinned items took its place; e@0.2 90/40 of 110; f@0.2 20/40 of 110; c@0.1 PinnedOverride: pinned items took its place"},
		{"of equal forms the members' come before the group variant", "a 50 .5 g=g v=0:.5; b 50 .5 g=g gv=50:.75", 50, 50, "greedy", "a.0(0)#1 b(50)", ""},
		{"pinned units are the reason only where they are", "p 40 .5 pin; x 10 .9; a 60 .5 g=g; b 61 .5 g=h; c 100 .4 g=i; d 101 .3 g=j", 100, 100, "inOrder", "p(40) x(10)", "a@0.5 60/50 of 60; b@0.5 PinnedOverride: pinned items took its place; c@0.4 PinnedOverride: pinned items took its place; d@0.3 101/50 of 101"},
		{"a zero-token unit", "z 0 .5 g=g; y 0 .5 k=f; a 5 .1", 5, 5, "inOrder", "z(0) y(0) a(5)", ""},
		{"FullOnly has no smaller forms", "a 60 .9 v=10:.5; b 60 .5 g=g v=10:.5", 50, 50, "greedy FullOnly", "", "a@0.9 60/50; b@0.5 60/50 of 60"},
		{"what knapsack leaves is filled as well", "a 60 .9; b 80 .5 v=40:.6,10:.2", 100, 100, "knapsack", "a(60) b.40(40)#1", ""},

		// Truncate
		{"truncation shrinks from the last to the first", "a 60 .9 v=30:.5; b 60 .8 v=40:.6,20:.3; c 30 .7", 120, 120, "everything truncate", "a(60) b.20(20)#2 c(30)", ""},
		{"only as far as it must", "a 60 .9 v=30:.5; b 60 .8 v=40:.6,20:.3; c 30 .7", 130, 130, "everything truncate", "a(60) b.40(40)#1 c(30)", ""},
		{"not at all if it fits", "a 60 .9 v=30:.5; b 60 .8 v=40:.6,20:.3; c 30 .7", 150, 150, "everything truncate", "a(60) b(60) c(30)", ""},
		{"pinned units shrink after the others", "p 50 .5 g=g pin; q 50 .5 g=g v=10:.5; a 60 .9 v=30:.5", 110, 110, "everything truncate", "p(50) q.10(10)#1 a.30(30)#1", ""},
		{"pinned units too shrink from the last to the first", "p 50 .5 g=g pin; q 50 .5 g=g v=10:.5; r 50 .5 g=h pin; s 50 .5 g=h v=20:.5; a 20 .9", 200, 200, "everything truncate", "p(50) q(50) r(50) s.20(20)#1 a(20)", ""},
		{"then it drops", "a 60 .9 v=30:.5; b 60 .8 g=g v=40:.6,20:.3; d 9 .2 g=g; c 30 .7; e 5 .1", 70, 70, "everything truncate", "a.30(30)#1 b.20(20)#2 d(9) e(5)", "c@0.7 30/11"},
		{"what pinned units push out", "p 50 .5 pin; a 60 .9 v=55:.5; b 60 .8 g=g v=40:.6; d 9 .2 g=g; e 5 .1", 100, 100, "everything truncate", "p(50) b.40(40)#1 d(9)", "a@0.9 PinnedOverride: pinned items took its place; e@0.1 PinnedOverride: pinned items took its place"},
		{"group variants are forms as well", "a 60 .9; b 60 .8 g=g gv=40:.5,10:.1; c 30 .7 g=g", 75, 75, "everything truncate", "a(60) b*10(10)#2 b*10(0)#2", ""},
		{"what is dropped has the tokens of its smallest form against it", "p 40 .5 pin; a 50 .9; b 95 .8 v=70:.6; g 95 .7 g=g v=61:.5; h 5 .2 g=g", 100, 100, "everything truncate", "p(40) a(50)", "b@0.8 95/10; g@0.7 95/10 of 100; h@0.7 5/10 of 100"},
		{"an older version does not shrink", "a 10 .9 k=f v=5:.5; n 60 .5 k=f; o 30 .6", 50, 50, "greedy truncate", "a(10)~ o(30)", "n@0.5 60/10"},
		{"Proceed keeps it all", "a 60 .9 v=30:.5; b 60 .8 g=g; c 30 .7 g=g", 100, 100, "everything proceed", "a(60) b(60) c(30)", "50 over: a b c"},
		{"Throw fails", "a 60 .9 v=30:.5; b 60 .8 g=g; c 30 .7 g=g", 149, 149, "everything throw", "cupel: Selected items require 150 tokens, exceeding target budget of 149", ""},
		{"pinned units above the maximum fail, after they have shrunk", "a 50 .5 g=g pin; b 50 .5 g=g v=10:.5", 50, 59, "greedy", "cupel: Pinned items require 60 tokens, but only 59 are available", ""},
	}
	for _, tt := range tests {
		p := pipelineOf(t, tt.how)
		report, err := p.DryRun(t.Context(), unitItems(t, tt.items), budgetOf(t, tt.max, tt.target))
		var in, out string
		if err != nil {
			in = err.Error()
		} else {
			in, out = unitEntries(report.Included), unitReasons(report.Excluded)
			if o := report.Overflow; o != nil {
				out = fmt.Sprintf("%d over: %s", o.TokensOverBudget, contents(o.OverflowingItems))
			}
		}
		if in != tt.in || out != tt.out {
			t.Errorf("%s: %s\ngot  %s | %s\nwant %s | %s", tt.why, tt.items, in, out, tt.in, tt.out)
		}
	}
}

// pipelineOf builds the pipeline that some words describe.
func pipelineOf(t testing.TB, how string) *cupel.Pipeline {
	t.Helper()
	knapsack, err := slicer.NewKnapsack(slicer.WithBucketSize(1))
	if err != nil {
		t.Fatal(err)
	}
	return pipeline(t, func(c *cupel.Config) {
		for word := range strings.FieldsSeq(how) {
			switch word {
			case "greedy":
				c.Slicer = slicer.Greedy{}
			case "knapsack":
				c.Slicer = knapsack
			case "inOrder":
				c.Slicer = inOrder
			case "everything":
				c.Slicer = everything
			case "truncate":
				c.Overflow = cupel.OverflowTruncate
			case "throw":
				c.Overflow = cupel.OverflowThrow
			case "proceed":
				c.Overflow = cupel.OverflowProceed
			case "FullOnly":
				c.FullOnly = true
			case "KeepDuplicates":
				c.KeepDuplicates = true
			default:
				t.Fatalf("word %q", word)
			}
		}
	})
}

// TestCursorsOverUnits: what each move changes.
func TestCursorsOverUnits(t *testing.T) {
	const items = "a 60 .9; b 80 .5 v=40:.6,10:.2; c 30 .4 g=g v=10:.5; d 30 .4 g=g gv=15:.6; o 12 .3 k=f; n 50 .35 k=f; p 5 .1 pin"
	tests := []struct {
		why    string
		budget int
		want   string
	}{
		{"the first move brings everything that fits", 300, "came [0 1 2 3 5 6] went [] changed [] tokens 255"},
		{"what no longer fits shrinks", 150, "came [] went [] changed [1 2 3] tokens 140"},
		{"the same budget again", 150, "came [] went [] changed [] tokens 140"},
		{"smaller still", 90, "came [4] went [2 3 5] changed [] tokens 87"},
		{"the older version is in place of the newest", 120, "came [5] went [1 4] changed [] tokens 115"},
		{"pinned items alone", 5, "came [] went [0 5] changed [] tokens 5"},
		{"back", 300, "came [0 1 2 3 5] went [] changed [] tokens 255"},
		{"pinned items do not fit", 4, "came [] went [0 1 2 3 5 6] changed [] tokens 0 cupel: Pinned items require 5 tokens, but only 4 are available"},
	}
	prepared, err := pipelineOf(t, "greedy truncate").Prepare(t.Context(), unitItems(t, items))
	if err != nil {
		t.Fatal(err)
	}
	cursor := prepared.Cursor()
	for _, tt := range tests {
		change, err := cursor.Move(t.Context(), budgetOf(t, tt.budget, tt.budget))
		got := fmt.Sprintf("came %v went %v changed %v tokens %d", change.Came, change.Went, change.Changed, change.Tokens)
		if err != nil {
			got = fmt.Sprintf("%s %v", got, err)
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestStreamsOfUnits: what a stream keeps, batch by batch.
func TestStreamsOfUnits(t *testing.T) {
	tests := []struct {
		why, items    string
		batch, target int
		how           string
		in, out       string
	}{
		{"a batch waits for the end of its group", "a 10 .5; b 10 .9 g=g; c 10 .1 g=g; d 10 .2 g=g; e 10 .8", 2, 35, "greedy", "e(10) a(10)", "b@0.9 10/25 of 30; c@0.9 10/25 of 30; d@0.9 10/25 of 30"},
		{"a group at the end of the source", "a 10 .5; b 10 .9 g=g; c 10 .1 g=g", 2, 35, "greedy", "b(10) c(10) a(10)", ""},
		{"one group behind the other", "b 10 .9 g=g; c 10 .1 g=g; d 10 .9 g=h; e 10 .1 g=h", 1, 35, "greedy", "b(10) c(10)", "d@0.9 10/15 of 20; e@0.9 10/15 of 20"},
		{"what was kept before the first unit counts", "a 10 .5; p 5 .5 pin; b 10 .9 g=g; a 10 .5; x 50 .1", 1, 35, "greedy", "p(5) b(10) a(10)", "a@0.5 Deduplicated: the same content is in as another item; x@0.1 50/10"},
		{"a group that is kept is not kept again", "b 10 .9 g=g; c 10 .1 g=g; b 10 .9 g=h; c 10 .1 g=h; c 10 .3", 1, 100, "greedy", "b(10) c(10) c(10)", "b@0.9 Deduplicated: the same content is in as another item; c@0.9 Deduplicated: the same content is in as another item"},
		{"unless duplicates are", "b 10 .9 g=g; c 10 .1 g=g; b 10 .9 g=h; c 10 .1 g=h", 1, 100, "greedy KeepDuplicates", "b(10) c(10) b(10) c(10)", ""},
		{"a smaller form takes what is left", "a 60 .9; b 80 .5 v=40:.6,10:.2; c 60 .2", 2, 100, "greedy", "a(60) b.40(40)#1", ""},
		{"a group variant does", "a 60 .9; b 80 .5 g=g; c 60 .2 g=g gv=20:.5; d 60 .2", 2, 100, "greedy", "a(60) c*20(20)#1 c*20(0)#1", "d@0.2 60/20"},
		{"no larger form comes later", "b 80 .5 v=40:.6,10:.2; c 30 .2 v=5:.1; d 3 .1", 1, 50, "greedy", "b.40(40)#1 c.5(5)#1 d(3)", ""},
		{"a pinned unit stays full", "p 50 .5 g=g pin; q 40 .5 g=g v=10:.5; a 20 .9 v=10:.5; b 5 .5", 1, 100, "greedy", "p(50) q(40) a.10(10)#1", ""},
		{"pinned units that come late make it overflow", "a 30 .9; g 30 .4 g=g; h 20 .3 g=g; p 50 .5 g=h pin; q 20 .5 g=h", 2, 100, "greedy truncate", "p(50) q(20) a(30)", "g@0.4 PinnedOverride: pinned items took its place; h@0.4 PinnedOverride: pinned items took its place"},
		{"what is kept in a smaller form counts as that", "a 30 .9; g 90 .4 g=g v=10:.5; h 20 .3 g=g; p 10 .5 g=h pin; q 5 .5 g=h", 2, 75, "greedy truncate", "p(10) q(5) a(30) g.10(10)#1 h(20)", ""},
		{"Proceed keeps it all", "a 30 .9; g 30 .4 g=g; h 20 .3 g=g; p 50 .5 g=h pin; q 20 .5 g=h", 2, 100, "greedy proceed", "p(50) q(20) a(30) g(30) h(20)", "50 over: p q a g h"},
		{"Throw fails", "a 30 .9; g 30 .4 g=g; h 20 .3 g=g; p 50 .5 g=h pin; q 20 .5 g=h", 2, 100, "greedy throw", "cupel: Selected items require 150 tokens, exceeding target budget of 100", ""},
		{"pinned units above the budget fail", "a 30 .9; p 90 .5 g=h pin; q 20 .5 g=h", 2, 100, "greedy", "cupel: Pinned items require 110 tokens, but only 100 are available", ""},
		{"a negative member takes its group out", "a 10 .9; b 5 .5 g=g; c -2 .5 g=g; d 5 .5 g=g pin; e 10 .1", 2, 100, "greedy", "a(10) e(10)", "b@0 NegativeTokens: -2 tokens; c@0 NegativeTokens: -2 tokens; d@0 NegativeTokens: -2 tokens"},
		{"a later version makes what is kept stale", "a 10 .9 k=f; b 10 .5 k=f; c 10 .2 k=f", 1, 100, "greedy", "a(10)~ b(10)~ c(10)", ""},
		{"within a batch older versions leave", "a 10 .9 k=f; b 10 .5 k=f; c 10 .2 k=f", 2, 100, "greedy", "b(10)~ c(10)", "a@0.9~ Superseded: a newer version is among the candidates"},
		{"and do not come back", "a 10 .9 k=f; b 70 .5 k=f; c 10 .2", 3, 50, "greedy", "c(10)", "a@0.9~ Superseded: a newer version is among the candidates; b@0.5 70/40"},
		{"a pinned version makes others stale, and becomes stale", "a 10 .9 k=f; p 10 .9 k=f pin; b 10 .9 k=f", 1, 100, "greedy", "p(10)~ a(10)~ b(10)", ""},
		{"a stale member of the batch", "a 40 .9 k=f g=g v=10:.5; c 10 .9 g=g; b 11 .5 k=f; d 10 .1", 4, 100, "greedy", "a.10(10)#1~ c(10) b(11) d(10)", ""},
		{"each key is for itself", "a 10 .9; b 10 .5 k=f; c 10 .2 k=h", 1, 100, "greedy", "a(10) b(10) c(10)", ""},
		{"the reason for a group", "p 40 .5 pin; a 30 .5 g=g; b 40 .4 g=g; c 70 .1; d 90 .2 g=h; f 20 .2 g=h", 9, 100, "greedy", "p(40)", "a@0.5 PinnedOverride: pinned items took its place; b@0.5 PinnedOverride: pinned items took its place; d@0.2 90/60 of 110; f@0.2 20/60 of 110; c@0.1 PinnedOverride: pinned items took its place"},
	}
	for _, tt := range tests {
		collector := cupel.NewDiagnosticTraceCollector()
		result, err := pipelineOf(t, tt.how).RunStream(t.Context(), streamed(unitItems(t, tt.items)), budgetOf(t, tt.target, tt.target),
			cupel.WithBatchSize(tt.batch), cupel.WithTrace(collector))
		var in, out string
		if err != nil {
			in = err.Error()
		} else {
			report := collector.BuildReport()
			in, out = unitEntries(result.Included), unitReasons(report.Excluded)
			if o := report.Overflow; o != nil {
				out = fmt.Sprintf("%d over: %s", o.TokensOverBudget, contents(o.OverflowingItems))
			}
			var window []string
			for _, e := range result.Included {
				if e.Item.Tokens() > 0 {
					window = append(window, e.Item.Content())
				}
			}
			if got := contents(result.Window); got != strings.Join(window, " ") {
				t.Errorf("%s: the window has %s, its entries %s", tt.why, got, window)
			}
		}
		if in != tt.in || out != tt.out {
			t.Errorf("%s: %s\ngot  %s | %s\nwant %s | %s", tt.why, tt.items, in, out, tt.in, tt.out)
		}
	}
}
