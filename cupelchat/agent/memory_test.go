package agent_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelreduce"
)

// edited returns a conversation with one change: a pin, an item less, or an item twice.
func edited(t testing.TB, rng *rand.Rand, items []*cupel.ContextItem) []*cupel.ContextItem {
	t.Helper()
	items = slices.Clone(items)
	at := rng.IntN(len(items))
	switch rng.IntN(4) {
	case 0:
		pinned, err := items[at].With(cupel.WithPinned())
		require.NoError(t, err)
		items[at] = pinned
	case 1:
		items = slices.Delete(items, at, at+1)
	case 2:
		items = slices.Insert(items, rng.IntN(len(items)), items[at])
	}
	return items
}

// checkSizes checks that sizes rise to that of everything that is not pinned, and that each
// adds less worth for a token than the one before.
func checkSizes(t *testing.T, items []*cupel.ContextItem, sizes []cupelreduce.Size) {
	t.Helper()
	groups, rest := map[string]bool{}, 0
	for _, item := range items {
		groups[item.Group()] = groups[item.Group()] || item.Pinned() && item.Group() != ""
	}
	for _, item := range items {
		if !item.Pinned() && !groups[item.Group()] {
			rest += item.Tokens()
		}
	}
	before, rate := cupelreduce.Size{}, math.Inf(1)
	for n, size := range sizes {
		now := (size.Worth - before.Worth) / float64(max(1, size.Tokens-before.Tokens))
		require.GreaterOrEqual(t, size.Tokens, before.Tokens, "size %d", n)
		require.Positive(t, now, "size %d", n)
		require.LessOrEqual(t, now, rate*(1+1e-9), "size %d", n)
		before, rate = size, now
	}
	require.GreaterOrEqual(t, before.Tokens, rest)
}

// A preset that remembers chooses what one without memory does, after any other choices.
func TestRemember(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 28
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		plain := agent.New(quarter{})
		if seed%2 == 1 {
			plain = plain.About(mentions("item.go"))
		}
		all := random(t, rng)
		remembering := plain.Remember()
		for choice := range 6 {
			items := edited(t, rng, all)
			target := budget(t, rng.IntN(total(items)+20))
			sizes, err := remembering.Sizes(t.Context(), items, target)
			require.NoError(t, err)
			checkSizes(t, items, sizes)
			got, err := remembering.Prepare(t.Context(), items, target)
			require.NoError(t, err)
			want, err := plain.Prepare(t.Context(), items, target)
			require.NoError(t, err)
			for i := range want {
				require.True(t, got[i].Equal(want[i]), "seed %d, choice %d, %d tokens: item %d is\n%s\nwant\n%s", seed, choice, target.MaxTokens(), i, got[i], want[i])
			}
			window, _, err := remembering.RunReport(t.Context(), items, target)
			if err == nil && total(window) > target.MaxTokens() {
				t.Fatalf("seed %d, choice %d: %d tokens, want at most %d", seed, choice, total(window), target.MaxTokens())
			}
		}
	}
}

// A preset that remembers neither takes texts apart nor scores items a second time, with
// another budget between.
func TestRememberedWork(t *testing.T) {
	counter, scored := &counting{}, 0
	task := strategy.ScorerFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { scored++; return 1 })
	p, items := agent.New(counter).About(task).Remember(), travel(t, 8)
	var counted [3]int
	for i, tokens := range []int{300, 1500, 300} {
		_, err := p.Prepare(t.Context(), items, budget(t, tokens))
		require.NoError(t, err)
		counted[i] = counter.characters
	}
	assert.Equal(t, len(items), scored)
	assert.Less(t, counted[2]-counted[1], counted[0]/20)
}

// A preset forgets the items of another conversation once they are many beside those of
// the current one, and takes them apart again.
func TestForgottenWork(t *testing.T) {
	for _, tt := range []struct {
		other int
		again bool
		why   string
	}{
		{24, false, "all of the first are half of what there is"},
		{1, true, "most of what there is would be for nothing"},
	} {
		counter := &counting{}
		p, items := agent.New(counter).Remember(), travel(t, 24)
		work := func(items []*cupel.ContextItem) int {
			before := counter.characters
			_, err := p.Prepare(t.Context(), items, budget(t, 230))
			require.NoError(t, err)
			return counter.characters - before
		}
		first := work(items)
		work(travel(t, tt.other))
		again := work(items)
		assert.Equal(t, tt.again, again > first*9/10, "%d characters are counted, and %d again: %s", first, again, tt.why)
	}
}

// offlineAtFirst is a counter that works from the second choice on.
type offlineAtFirst struct{ failing *bool }

func (o offlineAtFirst) CountTokens(text string) (int, error) {
	if *o.failing {
		return 0, errors.New("offline")
	}
	return quarter{}.CountTokens(text)
}

func TestNothingOfAFailureIsRemembered(t *testing.T) {
	failing := true
	p, items := agent.New(offlineAtFirst{&failing}).Remember(), travel(t, 8)
	_, _, err := p.RunReport(t.Context(), items, budget(t, 300))
	require.ErrorIs(t, err, cupel.ErrStrategy)
	failing = false
	got, _, err := p.RunReport(t.Context(), items, budget(t, 300))
	require.NoError(t, err)
	want, _, err := agent.New(quarter{}).RunReport(t.Context(), items, budget(t, 300))
	require.NoError(t, err)
	assert.Equal(t, texts(want), texts(got))
}

// mentions scores items that have a text, and a few others less.
type mentions string

func (m mentions) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	if m == "" {
		return errors.New("no question")
	}
	for i, item := range items {
		if strings.Contains(item.Content(), string(m)) {
			scores[i] = 0.1
		} else if strings.Contains(item.Content(), "RES000") || i == len(items)-1 {
			scores[i] = 0.03
		}
	}
	return nil
}

func TestAbout(t *testing.T) {
	items := travel(t, 30)
	b := budget(t, total(items)/8)
	for _, p := range []*agent.Preset{agent.New(quarter{}), agent.New(quarter{}).Remember()} {
		before, _, err := p.RunReport(t.Context(), items, b)
		require.NoError(t, err)
		about := p.About(mentions("RES001"))
		after, _, err := about.RunReport(t.Context(), items, b)
		require.NoError(t, err)
		assert.NotContains(t, texts(before), reservation("RES001"))
		assert.Contains(t, texts(after), reservation("RES001"))
		assert.NotContains(t, texts(after), reservation("RES000"), "a third of the score is worth less than a tenth")
		again, _, err := about.RunReport(t.Context(), items, b)
		require.NoError(t, err)
		assert.Equal(t, texts(after), texts(again))
		_, _, err = p.About(mentions("")).RunReport(t.Context(), items, b)
		require.ErrorContains(t, err, "no question")
	}
}
