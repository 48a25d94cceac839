package cupelsession_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelsession"
)

var anyCache = cupelsession.CacheModel{Read: .1, Write: 1.25, Sure: time.Minute, Likely: time.Hour, Breakpoints: 4, LookBack: 20}

// TestRubbishConfigs takes each turn of a changing conversation with settings at
// their limits.
func TestRubbishConfigs(t *testing.T) {
	forever := time.Duration(math.MaxInt64)
	for _, config := range []cupelsession.Config{
		{LowWater: math.SmallestNonzeroFloat64},
		{LowWater: 1, Horizon: math.MaxInt},
		{Horizon: math.MinInt, Cache: anyCache},
		{Cache: cupelsession.CacheModel{Sure: 1, Likely: forever, TTL: "5m"}},
		{Cache: cupelsession.CacheModel{Read: 1e6, Write: 1e6, Sure: forever, Likely: forever, MinTokens: math.MaxInt, Step: math.MaxInt, Breakpoints: math.MaxInt, LookBack: math.MaxInt}},
		{Cache: cupelsession.CacheModel{Read: 0, Write: 1e6, Sure: 1, Likely: 1, Breakpoints: 1, LookBack: 1, Step: 1}},
		{Key: func(*cupel.ContextItem) string { return "" }},
		{Key: func(i *cupel.ContextItem) string { return "a#" + fmt.Sprint(i.Tokens()%2) }, Cache: anyCache},
		{Tail: func(*cupel.ContextItem) bool { return true }, Cache: anyCache},
		{Clock: func() time.Time { return time.Time{} }, Cache: anyCache},
	} {
		s := session(t, newest(t), config)
		var items []*cupel.ContextItem
		for n := range 60 {
			opts := []cupel.ItemOption{}
			if n%7 == 0 {
				opts = append(opts, cupel.WithPinned())
			}
			if n%5 > 2 {
				opts = append(opts, cupel.WithGroup(fmt.Sprint(n%3)))
			}
			items = append(items, item(t, fmt.Sprint("message ", n/2), n%4, opts...), item(t, " ", 0))
			if n%9 == 0 && len(items) > 4 {
				items = append(items[:2:2], items[3:]...)
			}
			target := []int{math.MaxInt, 40, 0, 100}[n%4]
			turn, err := s.Next(t.Context(), items, budget(t, target))
			if err != nil {
				if !strings.Contains(err.Error(), "inned items require") {
					t.Errorf("%+v, turn %d: %v", config.Cache, n, err)
				}
				continue
			}
			if c := turn.Cache; math.IsNaN(c.Cost) || math.IsInf(c.Cost, 0) || c.Cost < 0 || c.Read < 0 || c.Written < 0 || c.Plain < 0 {
				t.Errorf("%+v, turn %d: the use of the cache is %+v", config.Cache, n, c)
			}
			turn.Report()
			usage := []cupelsession.Usage{{}, {Input: -5}, {Input: math.MaxInt, Cached: true}, {Input: 1, Read: math.MaxInt, Cached: true}}[n%4]
			require.NoError(t, turn.Commit(usage))
			if err := s.Fork().UnmarshalJSON([]byte("{")); err == nil {
				t.Error("half a state was read")
			}
		}
	}
}

// What has no room after the system prompts is out, until these change.
func TestPromptsAlone(t *testing.T) {
	s := session(t, newest(t), cupelsession.Config{Cache: anyCache, Horizon: -1})
	system := func(text string) *cupel.ContextItem {
		return item(t, text, 20, cupel.WithPinned(), cupel.WithKind(cupel.KindSystemPrompt))
	}
	items := []*cupel.ContextItem{system("a"), item(t, "large", 90)}
	for n, want := range []string{"turn 1: first choice, 0 tokens kept, 1 items left out; ", "turn 2: 20 tokens", "chosen again (free)"} {
		if n == 2 {
			items = append(items, system("b"))
		}
		turn := next(t, s, items, 50)
		require.Contains(t, turn.String(), want)
		commit(t, turn)
	}
}

func TestTooManyTokens(t *testing.T) {
	s := session(t, newest(t), cupelsession.Config{})
	for _, tokens := range []int{math.MaxInt, math.MaxInt / 2, math.MaxInt / 7} {
		var items []*cupel.ContextItem
		for n := range 6 {
			items = append(items, item(t, fmt.Sprint(n), tokens))
		}
		if turn, err := s.Next(t.Context(), items, budget(t, 100)); err == nil || !strings.Contains(err.Error(), "check the token counter") {
			t.Errorf("six items of %d tokens: turn %v, error %v, want one that says what to do", tokens, turn, err)
		}
	}
}
