package cupelsession_test

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelsession"
)

func state(t testing.TB, s *cupelsession.Session) string {
	t.Helper()
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return string(data)
}

// interrupted is a chooser in which something happens before it chooses.
type interrupted struct {
	cupelsession.Chooser
	before func()
}

func (i interrupted) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	i.before()
	return i.Chooser.RunReport(ctx, items, budget, opts...)
}

// elsewhere is a chooser whose report names a position.
type elsewhere int

func (e elsewhere) RunReport(_ context.Context, items []*cupel.ContextItem, _ cupel.ContextBudget, _ ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	return items, &cupel.SelectionReport{
		Included: []cupel.IncludedItem{{Item: items[0], Candidate: int(e)}}, Excluded: []cupel.ExcludedItem{{Candidate: -1}, {Candidate: 6}},
	}, nil
}

func TestInvalidPositions(t *testing.T) {
	require.Equal(t, "a", says(next(t, session(t, elsewhere(0), cupelsession.Config{}), numbered(t, 6), 50)), "what is said of other items says nothing")
	for _, at := range []elsewhere{-1, 6} {
		_, err := session(t, at, cupelsession.Config{}).Next(t.Context(), numbered(t, 6), budget(t, 50), nil)
		assert.ErrorContains(t, err, "does not say which", "candidate %d", at)
	}
}

func TestConcurrentCalls(t *testing.T) {
	items := numbered(t, 9)
	entered, leave := make(chan bool), make(chan bool)
	var once sync.Once
	slow := interrupted{newest(t), func() { once.Do(func() { close(entered); <-leave }) }}
	s := session(t, slow, cupelsession.Config{})
	commit(t, next(t, s, items[:5], 50))
	turn := next(t, s, items[:5], 50)
	done := make(chan error)
	go func() {
		_, err := s.Next(t.Context(), items[:6], cupel.ContextBudget{})
		done <- err
	}()
	<-entered
	_, err := s.Next(t.Context(), items[:6], budget(t, 50))
	require.ErrorIs(t, err, cupelsession.ErrBusy)
	require.ErrorIs(t, turn.Commit(cupelsession.Usage{}), cupelsession.ErrBusy)
	require.ErrorIs(t, s.UnmarshalJSON([]byte(`{"version":1}`)), cupelsession.ErrBusy)
	require.Equal(t, 1, s.Turns(), "the committed state can be read at any time")
	require.Equal(t, 1, s.Fork().Turns())
	require.NotEmpty(t, state(t, s))
	close(leave)
	require.ErrorIs(t, <-done, pipeline.ErrPinnedExceedsBudget)
	commit(t, turn)
}

// A provider that says nothing about its cache loses nothing; one that read what was
// expected by its own count neither; one that read less does, unless it wrote.
func TestLostPrefixes(t *testing.T) {
	items := numbered(t, 8)
	cache := cupelsession.CacheModel{Read: .1, Write: 1.25, Sure: time.Hour, Likely: time.Hour}
	for _, test := range []struct {
		name  string
		usage cupelsession.Usage
		notes int
		read  int // expected of the next turn
		why   string
	}{
		{"nearly", cupelsession.Usage{Input: 50, Read: 36, Cached: true}, 0, 50, "estimates are not exact"},
		{"less", cupelsession.Usage{Input: 50, Read: 35, Cached: true}, 1, 0, "it was lost"},
		{"written again", cupelsession.Usage{Input: 50, Written: 50, Cached: true}, 1, 50, "it was lost, and is there again"},
		{"fewer than none read", cupelsession.Usage{Input: 50, Read: -7, Cached: true}, 0, 50, "what cannot be is not said"},
		{"fewer than none written", cupelsession.Usage{Input: 50, Written: -7, Cached: true}, 0, 50, "here too"},
		{"more than sent", cupelsession.Usage{Input: 50, Read: 10, Written: 45, Cached: true}, 0, 50, "nor this"},
		{"beyond numbers", cupelsession.Usage{Input: math.MinInt, Read: math.MaxInt, Written: math.MaxInt, Cached: true}, 0, 50, "nor this"},
	} {
		s := session(t, newest(t), cupelsession.Config{Cache: cache})
		commit(t, next(t, s, items[:4], 100))
		turn := next(t, s, items[:5], 100)
		require.NoError(t, turn.Commit(test.usage))
		assert.Len(t, turn.Notes, test.notes, "%s (%s)", test.name, test.why)
		for _, note := range turn.Notes {
			assert.Contains(t, note, "from its cache, 40 were expected", test.name)
		}
		assert.Equal(t, test.read, next(t, s, items[:6], 100).Cache.Read, "%s (%s)", test.name, test.why)
	}
}

// FuzzState reads states that no session wrote: an error that leaves the session as
// it was, or a session that goes on and writes what it reads again.
func FuzzState(f *testing.F) {
	items := numbered(f, 12)
	now := time.Unix(1e9, 0)
	config := cupelsession.Config{Cache: anyCache, Clock: func() time.Time { return now }}
	s := session(f, newest(f), config)
	f.Add(state(f, s))
	for n := 4; n <= 8; n++ {
		turn := next(f, s, items[:n], 50)
		require.NoError(f, turn.Commit(cupelsession.Usage{Input: 11 * n, Read: 5, Cached: true}))
		good := state(f, s)
		f.Add(good)
	}
	for _, state := range []string{
		`{"version":1,"window":[null]}`, `{"version":1,"growth":1e308}`, `{"version":1,"turns":9223372036854775807}`,
		`{"version":1,"window":[{"keys":["a","b"],"form":"x","tokens":1}],"out":["a"]}`,
		`{"version":1,"sent":{"everything":9223372036854775807,"at":"0001-01-01T00:00:00Z"}}`,
		`{"version":1,"calibration":{"reports":[{"estimated":0,"counted":9223372036854775807},{"estimated":9223372036854775807,"counted":1},{"estimated":5,"counted":1},{"estimated":1,"counted":1}]}}`,
	} {
		f.Add(state)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := session(t, newest(t), config)
		if err := s.UnmarshalJSON([]byte(text)); err != nil {
			require.ErrorAs(t, err, new(*cupelsession.StateError))
			require.Zero(t, s.Turns())
			return
		}
		again := session(t, newest(t), config)
		require.NoError(t, again.UnmarshalJSON([]byte(state(t, s))))
		for n := 9; n <= 12; n++ {
			turn, other := next(t, s, items[:n], 60), next(t, again, items[:n], 60)
			require.Equal(t, says(other), says(turn))
			used := 0
			for _, it := range turn.Window {
				used += it.Tokens()
			}
			require.LessOrEqual(t, used, 60)
			require.False(t, math.IsNaN(turn.Cache.Cost), "%+v", turn.Cache)
			commit(t, turn)
			commit(t, other)
		}
	})
}
