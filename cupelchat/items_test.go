package cupelchat

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNoPin(t *testing.T) {
	for name, f := range fixtures {
		for _, item := range read(t, f, fixture(t, name), WithoutPins()).Items() {
			if item.Pinned() != (item.Kind() == KindTools) {
				t.Errorf("%s: pinned is %t of %s %q", name, item.Pinned(), item.Kind(), item.Content())
			}
		}
	}
}

func TestNoPinButNamed(t *testing.T) {
	c := read(t, OpenAI, []byte(`[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`), WithoutPins(), WithPins(true, true, 1))
	for i, item := range c.Items() {
		assert.Equal(t, i == 1, item.Pinned(), i)
	}
}

// What the user says with the results that the model answers stays with them.
func TestWordsWithResults(t *testing.T) {
	c := read(t, Anthropic, []byte(`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"},{"type":"text","text":"Quickly."}]}]`), WithPins(false, false))
	var pinned []string
	for _, item := range c.Items() {
		if item.Pinned() {
			pinned = append(pinned, item.Content())
		}
	}
	assert.Equal(t, []string{"q", "f({})", "Quickly."}, pinned)
}

func TestMediaTokens(t *testing.T) {
	text := `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"file","file":{}},{"type":"image_url","image_url":{"url":"v"}}]}]`
	c := read(t, OpenAI, []byte(text), WithMediaTokens(7))
	assert.Equal(t, 4+3*7, c.Items()[0].Tokens())
	_, own := c.Items()[0].MetadataText("forms")
	assert.False(t, own, "the caller made no forms")
	want := []string{
		"estimated the tokens of media: 1 file of 7 tokens",
		"estimated the tokens of media: 2 images of 7 tokens",
	}
	if !slices.Equal(c.Notes(), want) {
		t.Errorf("got %q, want %q", c.Notes(), want)
	}
	huge := read(t, OpenAI, []byte(text), WithMediaTokens(int(^uint(0)>>1)))
	assert.Equal(t, int(^uint(0)>>1), huge.Items()[0].Tokens())
}

func TestBytesOf(t *testing.T) {
	for n, want := range map[int]string{999: "999 B", 1000: "1.0 kB", 4444: "4.4 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 2_345_678: "2.3 MB"} {
		assert.Equal(t, want, bytesOf(n))
	}
}
