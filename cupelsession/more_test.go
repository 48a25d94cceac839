package cupelsession_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelchat/agent"
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

// A state is read up to its limits, and not beyond any one of them. The session stays
// as it was.
func TestStatesAtTheirLimits(t *testing.T) {
	window, held, reports := "", "", strings.Repeat(`,{"estimated":0,"counted":1}`, 20)[1:]
	for n := range 80 {
		window += fmt.Sprintf(`{"keys":["k%d"],"tokens":0,"hash":"x"},`, n)
		held += fmt.Sprintf(`,{"items":%d}`, n+1)
	}
	const most = "2305843009213693951" // a quarter of the largest int
	good := `{"version":1,"kept":{"chooser":"pipeline","cache":"","lowWater":0.5},"turns":0,"growth":0,"window":[` + window +
		`{"keys":["a","b"],"summary":true,"form":"s","tokens":` + most + `}],"sent":{"everything":0,"held":[` + held[1:] +
		`]},"calibration":{"reports":[` + reports + `]},"least":0,"summaries":{"ready":{"tokens":` + most + `}}}`
	s := session(t, newest(t), cupelsession.Config{LowWater: .5})
	commit(t, next(t, s, numbered(t, 3), 50))
	require.NotContains(t, state(t, s), `"out"`)
	require.Contains(t, state(t, session(t, agent.New(nil), cupelsession.Config{})), `"chooser":"agent"`)
	for _, test := range []struct{ from, to, want, why string }{
		{good, `{"version":1,"turns":2,"window":[`, "it is not the JSON of a session: unexpected end of JSON input", "it is cut short"},
		{`"version":1`, `"version":9`, "its version is 9, want 1", "a later release wrote it"},
		{`"cache":""`, `"cache":"anthropic"`, `the chooser "pipeline", the cache "anthropic" and a low water mark of 0.5, and`, "another cache loses in another way"},
		{`"lowWater":0.5`, `"lowWater":0`, "and no low water mark, and this", "another mark"},
		{`["k0"]`, `[]`, "window[0] has no keys", "it stands for nothing"},
		{`0,"hash":"x"`, `0`, "window[0] has neither a hash nor a form", "it says nothing"},
		{`["k1"]`, `["k0"]`, `window[1] repeats the key "k0"`, "one item would be in twice"},
		{`["k1"]`, `["k1","c"]`, "window[1] stands for 2 items and has no text", "two items have no hash"},
		{`"hash":"x"`, `"hash":"x","summary":true`, "window[0] stands for 1 items and has no text", "a summary has one"},
		{`0,"hash"`, `-1,"hash"`, "window[0] has an impossible number of tokens, -1", "nothing has so few"},
		{`0,"hash"`, `1,"hash"`, "window[80] has an impossible number of tokens, " + most, "they cannot be added up"},
		{`[{"items":1}`, `[{"items":0}`, "sent.held[0] has 0 items, want from 1 to 81, ascending", "there is no such place"},
		{`{"items":2}`, `{"items":1}`, "sent.held[1] has 1 items", "it is there"},
		{`{"items":80}`, `{"items":82}`, "sent.held[79] has 82 items", "nor this"},
		{`{"items":80}`, `{"items":80},{"items":81}`, "impossible", "more are not kept"},
		{`"counted":1`, `"counted":0`, "calibration.reports[0] has no tokens", "no request has none"},
		{`"estimated":0`, `"estimated":-1`, "calibration.reports[0] has no tokens", "nor fewer"},
		{`"reports":[`, `"reports":[{"counted":1},`, "impossible", "more are not kept"},
		{`"turns":0`, `"turns":-1`, "impossible", "none were taken back"},
		{`"growth":0`, `"growth":-1`, "impossible", "nothing shrinks by itself"},
		{`"everything":0`, `"everything":-1`, "impossible", "nothing is less than nothing"},
		{`"least":0`, `"least":-1`, "impossible", "here too"},
		{`"ready":{"tokens":` + most, `"ready":{"tokens":-1`, "impossible", "no text has so few tokens"},
		{`"ready":{"tokens":` + most, `"ready":{"tokens":2305843009213693952`, "impossible", "nor so many"},
	} {
		require.Contains(t, good, test.from)
		err := s.UnmarshalJSON([]byte(strings.Replace(good, test.from, test.to, 1)))
		var state *cupelsession.StateError
		require.ErrorAs(t, err, &state, test.why)
		require.ErrorContains(t, err, test.want, test.why)
		var syntax *json.SyntaxError
		assert.Equal(t, test.from == good, errors.As(err, &syntax))
		assert.Equal(t, 1, s.Turns(), test.why)
	}
	require.NoError(t, s.UnmarshalJSON([]byte(good)))
	require.Zero(t, s.Turns())
}

func TestConfigs(t *testing.T) {
	type cache = cupelsession.CacheModel
	type models = []cupelsession.ModelCache
	wrong := []struct {
		field  string
		config cupelsession.Config
		want   string
	}{
		{"LowWater", cupelsession.Config{LowWater: 1.5}, "must be in (0,1]"},
		{"LowWater", cupelsession.Config{LowWater: -.5}, "must be in (0,1]"},
		{"LowWater", cupelsession.Config{LowWater: math.NaN()}, "must be in (0,1]"},
		{"ClearAtLeast", cupelsession.Config{ClearAtLeast: -1}, "must be at least 0 tokens"},
		{"Name", cupelsession.Config{Store: new(cupelsession.MemoryStore)}, "is required with a Store"},
		{"Cache.Likely", cupelsession.Config{Cache: cache{Sure: 2, Likely: 1}}, "must be at least Sure"},
		{"Cache.Sure", cupelsession.Config{Cache: cache{Sure: -1}}, "must be at least 0"},
		{"Cache.MinTokens", cupelsession.Config{Cache: cache{MinTokens: -1}}, "must be at least 0"},
		{"Cache.Step", cupelsession.Config{Cache: cache{Step: -1}}, "must be at least 0"},
		{"Cache.Breakpoints", cupelsession.Config{Cache: cache{Breakpoints: -1}}, "must be at least 0"},
		{"Cache.LookBack", cupelsession.Config{Cache: cache{LookBack: -1}}, "must be at least 0"},
		{"Cache.Latest", cupelsession.Config{Cache: cache{Latest: -1}}, "must be at least 0"},
		{"Cache.TTL", cupelsession.Config{Cache: cache{TTL: "2h"}}, "must be 5m, 1h or empty"},
		{"Cache.Models[1].Name", cupelsession.Config{Cache: cache{Models: models{{Name: "m"}, {Read: 1}}}}, "is required"},
		{"Cache.Models[1].MinTokens", cupelsession.Config{Cache: cache{Models: models{{Name: "m"}, {Name: "n", MinTokens: -1}}}}, "must be at least 0"},
	}
	for _, price := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e6 + .5} {
		for field, c := range map[string]cache{"Read": {Read: price}, "Write": {Write: price}, "Models[0].Read": {Models: models{{Name: "m", Read: price}}}} {
			wrong = append(wrong, wrong[0])
			row := &wrong[len(wrong)-1]
			row.field, row.config, row.want = "Cache."+field, cupelsession.Config{Cache: c}, "must be a price"
		}
	}
	for _, test := range wrong {
		_, err := cupelsession.New(newest(t), test.config)
		var config *cupelsession.ConfigError
		require.ErrorAs(t, err, &config, test.field)
		assert.Equal(t, test.field, config.Field)
		assert.ErrorContains(t, err, test.field+" "+test.want)
	}
	_, err := cupelsession.New(nil, cupelsession.Config{})
	require.ErrorContains(t, err, "chooser is required")
	none := new(cupelsession.Session)
	_, err = none.Next(t.Context(), nil, budget(t, 1))
	require.ErrorContains(t, err, "chooser is missing")
	_, err = none.Fork().MarshalJSON()
	require.ErrorContains(t, err, "chooser is missing")
}
