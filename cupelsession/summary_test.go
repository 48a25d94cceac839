package cupelsession_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelsession"
)

// ready is a summary of items as a state has it.
func ready(t testing.TB, items ...*cupel.ContextItem) any {
	t.Helper()
	s := session(t, newest(t), cupelsession.Config{})
	commit(t, next(t, s, items, 1000))
	var w struct {
		Window []struct{ Keys []string }
	}
	require.NoError(t, json.Unmarshal([]byte(state(t, s)), &w))
	var keys []string
	for _, e := range w.Window {
		keys = append(keys, e.Keys...)
	}
	return map[string]any{"ready": map[string]any{"keys": keys, "text": "(summary)", "tokens": 5}}
}

// amend gives a session the summaries of another state.
func amend(t testing.TB, s *cupelsession.Session, summaries any) {
	t.Helper()
	var w map[string]any
	require.NoError(t, json.Unmarshal([]byte(state(t, s)), &w))
	w["summaries"] = summaries
	data, err := json.Marshal(w)
	require.NoError(t, err)
	require.NoError(t, s.UnmarshalJSON(data))
}

func saying(text string, tokens int) func(context.Context, []*cupel.ContextItem) (cupelsession.Summary, error) {
	return func(context.Context, []*cupel.ContextItem) (cupelsession.Summary, error) {
		return cupelsession.Summary{Text: text, Tokens: tokens, Usage: cupelsession.Usage{Input: 100, Output: tokens}}, nil
	}
}

// A summary is made while turns go on, and stands where its items left; if anything goes
// wrong with it, the window is that of a session without.
func TestSummaries(t *testing.T) {
	for _, test := range []struct {
		name      string
		summarize func(context.Context, []*cupel.ContextItem) (cupelsession.Summary, error)
		window    string
		note      string
	}{
		{"in time", saying(" (summary)\n", 5), "a (summary) e f", ""},
		{"error", func(context.Context, []*cupel.ContextItem) (cupelsession.Summary, error) {
			return cupelsession.Summary{}, errors.New("offline")
		}, "a e f", "no summary of 3 items: offline"},
		{"panic", func(context.Context, []*cupel.ContextItem) (cupelsession.Summary, error) { panic("no model") }, "a e f", "panicked: no model"},
		{"end of the goroutine", func(context.Context, []*cupel.ContextItem) (cupelsession.Summary, error) {
			runtime.Goexit()
			return cupelsession.Summary{}, nil
		}, "a e f", "ended its goroutine"},
		{"as long as the items", saying("long", 30), "a e f", "not smaller than the 30 tokens"},
		{"too long", saying("long", 21), "a e f", "does not fit"},
		{"impossible", saying("odd", -1), "a e f", "it has -1 tokens"},
		{"beyond numbers", saying("odd", math.MaxInt), "a e f", "it has 9223372036854775807 tokens"},
		{"nothing to say", saying(" ", 1), "a e f", ""},
		{"list that changes", func(_ context.Context, leaving []*cupel.ContextItem) (cupelsession.Summary, error) {
			clear(leaving)
			return cupelsession.Summary{Text: "(summary)", Tokens: 5}, nil
		}, "a (summary) e f", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			items := numbered(t, 9)
			s := session(t, newest(t), cupelsession.Config{Summarize: test.summarize})
			commit(t, next(t, s, items[:4], 50))
			commit(t, next(t, s, items[:5], 50))
			synctest.Wait()
			second := next(t, s, items[:5], 50)
			commit(t, second)
			third := next(t, s, items[:6], 50)
			notes := fmt.Sprint(second.Notes, third.Notes)
			require.Equal(t, test.window, says(third), test.name)
			require.Contains(t, notes, test.note, test.name)
			if test.note == "" {
				require.Equal(t, "[] []", notes, test.name)
			}
			for n := range third.Window {
				if e := third.Entries[n]; third.Window[n].Content() == "(summary)" && len(e.Candidates) < 2 {
					t.Errorf("%s: the summary is written in the place of %d items: one would lend it its role", test.name, len(e.Candidates))
				}
			}
		})
	}
}

// A summary that is not there at the break changes nothing, then and later. No other one
// begins before it has ended, even if it does not heed its context.
func TestLateSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var flying, most atomic.Int64
		items := numbered(t, 20)
		release := make(chan bool)
		s := session(t, newest(t), cupelsession.Config{Summarize: func(context.Context, []*cupel.ContextItem) (cupelsession.Summary, error) {
			most.Store(max(most.Load(), flying.Add(1)))
			defer flying.Add(-1)
			<-release
			return cupelsession.Summary{Text: "(summary)", Tokens: 5, Usage: cupelsession.Usage{Input: 7}}, nil
		}})
		plain := session(t, newest(t), cupelsession.Config{})
		var notes []string
		for n := range items {
			turn, want := next(t, s, items[:n+1], 50), next(t, plain, items[:n+1], 50)
			assert.Equal(t, says(want), says(turn), "%d items", n+1)
			commit(t, turn)
			commit(t, want)
			if n == 12 {
				close(release)
				synctest.Wait()
			}
			notes = append(notes, turn.Notes...)
			if n == 13 {
				break
			}
		}
		got := s.Summarized()
		require.Contains(t, fmt.Sprint(notes), "it came after the break")
		require.EqualValues(t, 1, most.Load(), "at once")
		require.Positive(t, got.Calls)
		require.Positive(t, got.Usage.Input)
		require.LessOrEqual(t, got.Usage.Input, 7*got.Calls)
	})
}

// The context of a summary ends with the session, and none begins after that.
func TestEndOfSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		s := session(t, newest(t), cupelsession.Config{Summarize: func(ctx context.Context, _ []*cupel.ContextItem) (cupelsession.Summary, error) {
			calls++
			<-ctx.Done()
			return cupelsession.Summary{}, ctx.Err()
		}})
		items := numbered(t, 12)
		commit(t, next(t, s, items[:5], 50))
		s.Close()
		synctest.Wait()
		turn := next(t, s, items[:5], 50)
		commit(t, turn)
		require.Equal(t, "a e f", says(next(t, s, items[:6], 50)))
		require.Contains(t, fmt.Sprint(turn.Notes), context.Canceled.Error())
		for n := 6; n < len(items); n++ {
			commit(t, next(t, s, items[:n], 50))
		}
		assert.Equal(t, 1, calls, "none after the session was closed")
	})
}

// A summary that is made while another state is read is not used, and a turn that ends
// while what leaves is foreseen fails.
func TestInterruptedSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := numbered(t, 6)
		s := session(t, newest(t), cupelsession.Config{Summarize: func(context.Context, []*cupel.ContextItem) (cupelsession.Summary, error) {
			return cupelsession.Summary{Text: "(summary)", Tokens: 5, Usage: cupelsession.Usage{Input: 7, Cached: true}}, nil
		}})
		commit(t, next(t, s, items[:5], 50))
		require.NoError(t, s.UnmarshalJSON([]byte(state(t, s))))
		synctest.Wait()
		turn := next(t, s, items[:5], 50)
		commit(t, turn)
		require.Contains(t, fmt.Sprint(turn.Notes), "it came after the break")
		require.Equal(t, cupelsession.Summarized{Calls: 1, Usage: cupelsession.Usage{Input: 7, Cached: true}}, s.Summarized())
		ctx, cancel := context.WithCancel(t.Context())
		_, err := session(t, interrupted{newest(t), cancel}, cupelsession.Config{Summarize: saying("", 1)}).Next(ctx, items[:5], budget(t, 50))
		require.ErrorIs(t, err, context.Canceled)
	})
}

// A summary gets the one that stood there before, and what fails leaves that one.
func TestSummariesOfSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given []string
		s := session(t, newest(t), cupelsession.Config{Summarize: func(_ context.Context, leaving []*cupel.ContextItem) (cupelsession.Summary, error) {
			text := ""
			for _, item := range leaving {
				text += item.Content()
			}
			if given = append(given, text); len(given) == 3 {
				return cupelsession.Summary{}, errors.New("offline")
			}
			return cupelsession.Summary{Text: fmt.Sprintf("(%d)", len(given)), Tokens: 2}, nil
		}})
		items := numbered(t, 26)
		var windows []string
		for n := 3; n <= len(items); n++ {
			turn := next(t, s, items[:n], 60)
			if turn.Break != nil {
				windows = append(windows, says(turn))
			}
			commit(t, turn)
			synctest.Wait()
		}
		got := fmt.Sprint(windows[:4], given[:3])
		assert.Equal(t, "[a (1) f g a (2) i j a (2) l m a (4) o p] [bcd (1)fgh (2)ijk]", got)
	})
}

// A copy of a session proposes the same windows, with any summaries at any time; a summary does not stand for what came after its items had gone.
func TestCopiesWithSummaries(t *testing.T) {
	placed, seeds := 0, uint64(150)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			pool := numbered(t, 15)
			for i := range 4 {
				pool = append(pool, item(t, fmt.Sprint("grouped ", i), 10, cupel.WithGroup(fmt.Sprint(i/2))), item(t, "b", 10))
			}
			calls := 0
			config := cupelsession.Config{Cache: anyCache, Clock: func() time.Time { return time.Unix(1e9, 0) }, Summarize: func(_ context.Context, leaving []*cupel.ContextItem) (cupelsession.Summary, error) {
				calls++
				assert.GreaterOrEqual(t, len(leaving), 2, "a summary would have the role of one item")
				return cupelsession.Summary{Text: fmt.Sprint("(call ", calls, " of ", len(leaving), ")"), Tokens: 1}, nil
			}}
			s := session(t, newest(t), config)
			var items []*cupel.ContextItem
			for step := range 25 {
				one, at := pool[rng.IntN(len(pool))], rng.IntN(len(items)+1)
				switch k := rng.IntN(4); {
				case k == 0 && at < len(items):
					items = slices.Delete(slices.Clone(items), at, at+1)
				case k == 1:
					items = slices.Insert(slices.Clone(items), at, one)
				default:
					items = append(items, one)
				}
				other := session(t, newest(t), config)
				require.NoError(t, other.UnmarshalJSON([]byte(state(t, s))))
				turn, same, again := next(t, s, items, 90), next(t, other, items, 90), next(t, s, items, 90)
				require.Equal(t, says(same), says(turn), "seed %d, step %d", seed, step)
				require.Equal(t, says(again), says(turn), "seed %d, step %d", seed, step)
				require.Equal(t, same.String(), turn.String(), "seed %d, step %d", seed, step)
				for n, e := range turn.Entries {
					if strings.HasPrefix(turn.Window[n].Content(), "(call") {
						placed++
						require.GreaterOrEqual(t, len(e.Candidates), 2, "seed %d, step %d: a summary of one item, with its role", seed, step)
					}
				}
				commit(t, turn)
				if rng.IntN(2) == 0 {
					synctest.Wait()
				}
			}
		})
	}
	require.NotZero(t, placed)
}

// Over 100 turns a summary is asked for once for each break, and once for the next one.
// The README of cupelsummary says how often.
func TestHowOftenSummariesAreMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session(t, newest(t), cupelsession.Config{Summarize: saying("(summary)", 150)})
		var items []*cupel.ContextItem
		breaks, used := 0, 0
		for n := range 100 {
			items = append(items, item(t, fmt.Sprint("question ", n), 30, cupel.WithTimestamp(time.Unix(int64(2*n), 0))),
				item(t, fmt.Sprint("result ", n), 270, cupel.WithTimestamp(time.Unix(int64(2*n+1), 0))))
			turn := next(t, s, items, 6000)
			if turn.Break != nil {
				breaks++
				if strings.Contains(says(turn), "(summary)") {
					used++
				}
			}
			commit(t, turn)
			synctest.Wait()
		}
		got := s.Summarized()
		t.Logf("%d calls, %d breaks, %d windows with a summary, %+v", got.Calls, breaks, used, got.Usage)
		require.Equal(t, 9, got.Calls)
		require.Equal(t, 8, breaks)
		require.Equal(t, breaks, used)
		require.Equal(t, 100*got.Calls, got.Usage.Input)
	})
}
