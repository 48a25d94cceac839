package cupelchat

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
)

// With returns what Read returns with all options, and changes nothing of the conversation
// that it was given.
func TestWithIsRead(t *testing.T) {
	wire := func(items []*cupel.ContextItem) string {
		data, err := json.Marshal(items)
		require.NoError(t, err)
		return string(data)
	}
	forms := WithForms(func(tool, _ string) []cupel.Variant { return []cupel.Variant{{Content: tool + " short", Worth: 0.5}} })
	for name, f := range fixtures {
		read := func(opts ...Option) *Conversation {
			c, err := Read(fixture(t, name), f, bytesCounter{}, opts...)
			require.NoError(t, err, name)
			return c
		}
		c := read(forms)
		before := wire(c.Items())
		for why, opts := range map[string][]Option{
			"no options":        nil,
			"a nil option":      {nil},
			"pins":              {WithPins(false, true)},
			"no pins":           {WithoutPins()},
			"media of one size": {WithMediaTokens(0)},
		} {
			with, err := c.With(opts...)
			require.NoError(t, err, "%s: %s", name, why)
			want := wire(read(append([]Option{forms}, opts...)...).Items())
			if why == "media of one size" {
				want = before // they were counted when the conversation was read
			}
			assert.JSONEq(t, want, wire(with.Items()), "%s: %s", name, why)
			assert.Equal(t, before, wire(c.Items()), "%s: %s", name, why)
		}
		_, err := c.With(WithPins(true, true, 1000))
		require.ErrorContains(t, err, "WithPins", name)
		_, err = c.With(WithMediaTokens(-1))
		require.ErrorContains(t, err, "WithMediaTokens", name)
	}
}
