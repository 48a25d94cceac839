package cupelsession_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelsession"
)

func TestExceededBudgets(t *testing.T) {
	s := session(t, newest(t), cupelsession.Config{})
	for over, want := range []string{"[]", "[the provider counted 51 tokens, 1 more than the budget has; 50 were estimated]"} {
		turn := next(t, s, numbered(t, 5), 50)
		require.NoError(t, turn.Commit(cupelsession.Usage{Input: 50 + over}))
		assert.Equal(t, want, fmt.Sprint(turn.Notes))
		assert.Equal(t, 50, turn.Given())
	}
}

func TestStatesThatCannotBeRead(t *testing.T) {
	for _, test := range []struct{ state, want, why string }{
		{`{"version":1,"turns":2,"window":[`, "not the JSON", "it is cut short"},
		{`{"version":9}`, "its version is 9", "a later release wrote it"},
		{`{"version":1,"window":[{"keys":[],"tokens":1,"hash":"x"}]}`, "window[0] has no keys", "it stands for nothing"},
		{`{"version":1,"window":[{"keys":["a"],"tokens":1}]}`, "neither a hash nor a form", "it says nothing"},
		{`{"version":1,"window":[{"keys":["a"],"tokens":1,"hash":"x"},{"keys":["a"],"tokens":1,"hash":"x"}]}`, "repeats the key", "one item would be in twice"},
		{`{"version":1,"window":[],"sent":{"held":[{"items":3}]}}`, "held[0] has 3 items", "there is no such place"},
		{`{"version":1,"window":[{"keys":["a"],"form":"x","tokens":9223372036854775807}]}`, "window[0] has an impossible number of tokens, 9223372036854775807", "they cannot be added up"},
		{`{"version":1,"window":[{"keys":["a"],"form":"x","tokens":2000000000000000000},{"keys":["b"],"form":"x","tokens":2000000000000000000}]}`, "window[1] has an impossible number of tokens", "nor these two"},
		{`{"version":1,"window":[],"growth":-1}`, "impossible", "nothing shrinks by itself"},
		{`{"version":1,"window":[],"summaries":{"ready":{"tokens":-1}}}`, "impossible", "no text has so few tokens"},
		{`{"version":1,"window":[],"calibration":{"reports":[{"estimated":1,"counted":0}]}}`, "reports[0]", "no request has no tokens"},
		{`{"version":1,"window":[],"kept":{"chooser":"agent","cache":"anthropic","lowWater":0.5}}`, `the chooser "agent", the cache "anthropic" and a low water mark of 0.5`, "another preset chooses in another way"},
	} {
		s := session(t, newest(t), cupelsession.Config{})
		items := numbered(t, 3)
		commit(t, next(t, s, items, 50))
		err := s.UnmarshalJSON([]byte(test.state))
		var state *cupelsession.StateError
		require.ErrorAs(t, err, &state, test.why)
		require.ErrorContains(t, err, test.want, test.why)
		assert.Equal(t, 1, s.Turns(), test.state)
	}
}

func TestConfigs(t *testing.T) {
	for _, test := range []struct {
		config cupelsession.Config
		want   string
		why    string
	}{
		{cupelsession.Config{LowWater: 1.5}, "LowWater must be in (0,1]", "a window cannot be fuller than full"},
		{cupelsession.Config{ClearAtLeast: -1}, "ClearAtLeast must be at least 0 tokens", "a break frees something"},
		{cupelsession.Config{LowWater: math.NaN()}, "LowWater must be in (0,1]", "NaN compares with nothing"},
		{cupelsession.Config{Cache: cupelsession.CacheModel{Sure: 2, Likely: 1}}, "Cache.Likely must be at least Sure", "sure is shorter than likely"},
		{cupelsession.Config{Store: new(cupelsession.MemoryStore)}, "Name is required", "a store keeps texts by session"},
	} {
		_, err := cupelsession.New(newest(t), test.config)
		var wrong *cupelsession.ConfigError
		require.ErrorAs(t, err, &wrong, test.why)
		require.ErrorContains(t, err, test.want, test.why)
	}
	_, err := cupelsession.New(nil, cupelsession.Config{})
	require.ErrorContains(t, err, "chooser is required")
	_, err = new(cupelsession.Session).Next(t.Context(), nil, budget(t, 1))
	require.ErrorContains(t, err, "chooser is missing")
}
