package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// table is candidates in columns, with their names and scores.
type table struct {
	Columns
	names  []string
	scores []float64
}

// read reads candidates, separated by semicolons: name, tokens, score, and then any
// of p (pinned), g=GROUP, k=KEY (version of), t=SECONDS, v=TOKENS:WORTH,... (forms),
// gv=TOKENS:WORTH,... (forms of the group) and w=WORD, a content of 60 words in which
// that one is the candidate's own. Otherwise the content is the name up to "/".
func read(t testing.TB, text string) (c table) {
	t.Helper()
	number := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	tokens := func(s string) int {
		if s == "max" {
			return math.MaxInt
		}
		return int(number(s))
	}
	for part := range strings.SplitSeq(text, ";") {
		f := strings.Fields(part)
		if len(f) == 0 {
			continue
		}
		content, _, _ := strings.Cut(f[0], "/")
		link, pinned := Link{}, false
		for _, field := range f[3:] {
			key, value, _ := strings.Cut(field, "=")
			var forms []Form
			if strings.HasSuffix(key, "v") {
				for form := range strings.SplitSeq(value, ",") {
					size, worth, _ := strings.Cut(form, ":")
					forms = append(forms, Form{tokens(size), number(worth)})
				}
			}
			switch key {
			case "p":
				pinned = true
			case "g":
				link.Group = value
			case "k":
				link.Version = value
			case "t":
				link.Time, link.Timed = time.Unix(int64(number(value)), 0), true
			case "v":
				link.Forms = forms
			case "gv":
				link.GroupForms = forms
			case "w":
				words := strings.Fields(strings.Repeat("so it goes with the words of a long text ", 6))
				for i := range words {
					words[i] += string(rune('a'+i/26)) + string(rune('a'+i%26))
				}
				words[int(number(value))] = f[0]
				content = strings.Join(words, " ")
			default:
				t.Fatalf("field %q", field)
			}
		}
		c.Tokens, c.Pinned, c.Contents = append(c.Tokens, tokens(f[1])), append(c.Pinned, pinned), append(c.Contents, content)
		c.Links, c.names, c.scores = append(c.Links, link), append(c.names, f[0]), append(c.scores, number(f[2]))
	}
	return c
}

// rank makes a ranking, with memory that may have been used.
func rank(t testing.TB, c table, near float64, keep bool, r *Ranking) {
	t.Helper()
	if r.Set == nil {
		r.Set = new(Set)
	}
	if err := r.Classify(t.Context(), c.Columns, near); err != nil {
		t.Fatal(err)
	}
	var scores []float64
	for _, at := range r.Scoreable {
		scores = append(scores, c.scores[at])
	}
	r.Score(scores)
	r.Deduplicate(keep)
	r.Sort()
}

func (c *table) list(candidates []Candidate) string {
	var names []string
	for _, at := range candidates {
		names = append(names, c.names[at])
	}
	return strings.Join(names, "+")
}

// left lists decisions: the candidate and why it is out.
func (c *table) left(list []Decision, unitName func(Unit) string) string {
	var all []string
	for _, d := range list {
		text := c.names[d.Candidate] + "@" + strconv.FormatFloat(d.Score, 'g', 4, 64)
		switch d.Code {
		case NegativeTokens:
			text += fmt.Sprint(" negative ", d.Tokens)
		case Superseded:
			text += " older than " + c.names[d.Other]
		case NearCopy:
			text += fmt.Sprintf(" near %s %d/%d", c.names[d.Other], d.Tokens, d.Available)
		case Duplicate:
			text += " is " + c.names[d.Other]
		case OverBudget:
			text += fmt.Sprintf(" %d/%d", d.Tokens, d.Available)
			if d.Unit != None {
				text += " of " + unitName(d.Unit)
			}
		case PinnedFirst:
			text += " for " + c.names[d.Other]
		case Dropped:
			text += fmt.Sprint(" drop ", d.Tokens)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// ranking describes the units of a ranking by rank: members, tokens, score, forms,
// and what may come back.
func (c *table) ranking(r *Ranking) string {
	var all []string
	for _, u := range r.Sorted() {
		text := fmt.Sprintf("%s %d@%.4g", c.list(r.Members(u)), r.TokensOf(u), r.ScoreOf(u))
		for _, f := range r.Forms(u) {
			text += fmt.Sprintf(" %d:%.4g", f.Tokens, f.Worth)
		}
		if older := r.Older(u); older != nil {
			text += " or " + c.list(older)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// window describes merged units: members with their forms, tokens and what is stale.
func (c *table) window(choice *Choice) string {
	var all []string
	for i := range choice.Merged {
		m := &choice.Merged[i]
		made := choice.Make(m.Unit, m.Form)
		var names []string
		for n, at := range choice.Members(m.Unit) {
			name := c.names[at]
			if form := made.FormOf(n); form > 0 {
				name += fmt.Sprint("#", form)
			}
			if choice.IsStale(at) {
				name += "~"
			}
			names = append(names, name)
		}
		text := strings.Join(names, "+")
		if made.Group > 0 {
			text = fmt.Sprintf("%s*%d", c.names[made.From], made.Group)
		}
		all = append(all, fmt.Sprintf("%s %d", text, m.Tokens))
	}
	return strings.Join(all, "; ")
}

// choose runs a choice: take is the ranks that a slicer takes, as RANK, RANK=FORM or
// !RANK for one that it drops; "all" takes all.
func choose(t testing.TB, choice *Choice, r *Ranking, take string, budget, without int) bool {
	t.Helper()
	choice.Ranking = r
	choice.FitPinned(budget)
	choice.Start()
	for i := range r.Sorted() {
		if take == "all" {
			choice.Take(Rank(i), 0)
		}
	}
	for word := range strings.FieldsSeq(strings.TrimPrefix(take, "all")) {
		at, form, _ := strings.Cut(strings.TrimPrefix(word, "!"), "=")
		n, err := strconv.Atoi(at)
		f, err2 := strconv.Atoi("0" + form)
		if err != nil || err2 != nil {
			t.Fatalf("word %q", word)
		}
		if word[0] == '!' {
			choice.Drop(Rank(n))
		} else {
			choice.Take(Rank(n), f)
		}
	}
	target := max(0, budget-choice.PinnedTokens.Int())
	n, ok := choice.Choose(Limits{Left: target, Target: target, WithoutPinned: without})
	if !ok {
		return false
	}
	sum := 0
	for _, m := range choice.Chosen() {
		sum += len(choice.Members(m.Unit))
		if choice.HasReturned(choice.Place(m.Unit)) != (m.Form == Returned) {
			t.Error("an older version came back unseen")
		}
	}
	if n != sum {
		t.Errorf("%d candidates are chosen, and %d are counted", sum, n)
	}
	return true
}
