package agent_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// quarter counts a token for every four characters.
type quarter struct{}

func (quarter) CountTokens(text string) (int, error) {
	return (utf8.RuneCountInString(text) + 3) / 4, nil
}

func message(t testing.TB, role, content string, opts ...cupel.ItemOption) *cupel.ContextItem {
	t.Helper()
	n, _ := quarter{}.CountTokens(content)
	item, err := cupel.NewContextItem(content, n+4, append([]cupel.ItemOption{cupel.WithMetadata(map[string]any{"role": role})}, opts...)...)
	require.NoError(t, err)
	return item
}

// exchange is a call with its result.
func exchange(t testing.TB, group, call, result string, opts ...cupel.ItemOption) []*cupel.ContextItem {
	t.Helper()
	name, _, _ := strings.Cut(call, "(")
	opts = append([]cupel.ItemOption{cupel.WithGroup(group), cupel.WithGroupVariants(cupel.Variant{Content: "a call", Tokens: 6, Worth: .1})}, opts...)
	return []*cupel.ContextItem{
		message(t, "assistant", call, append(opts, cupel.WithMetadata(map[string]any{"role": "assistant", "tool": name}))...),
		message(t, "tool", result, append(opts, cupel.WithMetadata(map[string]any{"role": "tool", "tool": name}))...),
	}
}

func budget(t testing.TB, tokens int) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(tokens, tokens)
	require.NoError(t, err)
	return b
}

// reservation is a result of some 200 tokens.
func reservation(id string) string {
	return fmt.Sprintf(`{"reservation_id": %q, "status": "confirmed", "notes": %q, "passengers": [{"name": "Anna", "seat": "12C"}, {"name": "Olga", "seat": "12D"}]}`,
		id, strings.Repeat("The passengers asked for a quiet place near the window. ", 12))
}

// travel is a conversation of a task, n reservations that were looked up, and a
// question.
func travel(t testing.TB, n int) []*cupel.ContextItem {
	t.Helper()
	items := []*cupel.ContextItem{
		message(t, "system", "You are an airline's agent.", cupel.WithPinned()),
		message(t, "user", "Change all my flights.", cupel.WithPinned()),
	}
	for i := range n {
		id := fmt.Sprintf("RES%03d", i)
		items = append(items, exchange(t, id, fmt.Sprintf(`get_reservation({"reservation_id":%q})`, id), reservation(id))...)
	}
	return append(items, message(t, "user", "Which ones are confirmed?", cupel.WithPinned()))
}

func texts(window []*cupel.ContextItem) string {
	var b strings.Builder
	for _, item := range window {
		b.WriteString(item.Content())
		b.WriteByte('\n')
	}
	return b.String()
}

func total(items []*cupel.ContextItem) int {
	sum := 0
	for _, item := range items {
		sum += item.Tokens()
	}
	return sum
}

func TestOldUnitsBecomeOutlines(t *testing.T) {
	items := travel(t, 12)
	window, report, err := agent.New(quarter{}).RunReport(t.Context(), items, budget(t, total(items)/3))
	require.NoError(t, err)
	text := texts(window)
	for i := range 12 {
		require.Contains(t, text, fmt.Sprintf("RES%03d", i))
	}
	assert.Contains(t, text, "[earlier] get_reservation(")
	require.LessOrEqual(t, total(window), total(items)/3)
	full := map[int]bool{}
	for _, e := range report.Included {
		if e.Form == 0 {
			full[e.Candidate] = true
			assert.Same(t, items[e.Candidate], e.Item, "candidate %d", e.Candidate)
		}
	}
	for _, at := range []int{0, 1, len(items) - 3, len(items) - 2, len(items) - 1} {
		assert.True(t, full[at], "candidate %d (%s) is not whole: system, task, last exchange and question are", at, items[at])
	}
}

func TestEverythingFits(t *testing.T) {
	none, err := cupel.NewContextItem("none", 0)
	require.NoError(t, err)
	items := append(travel(t, 3), none)
	p := agent.New(quarter{})
	prepared, err := p.Prepare(t.Context(), items, budget(t, total(items)))
	require.NoError(t, err)
	for i := range items {
		assert.Same(t, items[i], prepared[i], "item %d", i)
	}
	window, _, err := p.RunReport(t.Context(), items, budget(t, total(items)))
	require.NoError(t, err)
	require.Len(t, window, len(items))
}

type badCounter struct {
	n     int
	err   error
	panic bool
}

func (b badCounter) CountTokens(string) (int, error) {
	if b.panic {
		panic("no vocabulary")
	}
	return b.n, b.err
}

func TestCounterFails(t *testing.T) {
	offline := errors.New("offline")
	items := travel(t, 8)
	for _, test := range []struct {
		name    string
		counter cupel.TokenCounter
		want    string
		why     string
	}{
		{"error", badCounter{err: offline}, "failed: offline", "a service was not there"},
		{"negative", badCounter{n: -1}, "returned -1 tokens", "no text has a negative size"},
		{"panic", badCounter{panic: true}, "panicked: panic: no vocabulary", "no panic leaves the preset"},
	} {
		_, _, err := agent.New(test.counter).RunReport(t.Context(), items, budget(t, 300))
		assert.ErrorIs(t, err, cupel.ErrStrategy, test.name)
		assert.ErrorContains(t, err, test.want, test.why)
	}
	for at := 1; ; at++ {
		counter := &counting{failsAt: at}
		_, err := agent.New(counter).Prepare(t.Context(), items, budget(t, 300))
		if counter.calls < at {
			require.NoError(t, err)
			break
		}
		require.ErrorIs(t, err, errOnce, "call %d", at)
	}
}

func TestMistakes(t *testing.T) {
	p := agent.New(nil)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Prepare(canceled, travel(t, 8), budget(t, 300))
	require.ErrorIs(t, err, context.Canceled)
	sizes, err := p.Sizes(canceled, travel(t, 8), budget(t, 300))
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, sizes)
	_, _, err = p.RunReport(t.Context(), []*cupel.ContextItem{nil, nil}, budget(t, 0))
	require.Error(t, err)
	_, report, err := p.RunReport(t.Context(), travel(t, 8), budget(t, 3))
	require.ErrorIs(t, err, pipeline.ErrPinnedExceedsBudget)
	require.NotNil(t, report)
	var none *agent.Preset
	_, err = none.Prepare(t.Context(), travel(t, 1), budget(t, 300))
	require.Error(t, err)
	require.Nil(t, none.Remember())
	require.Nil(t, none.About(nil))
	require.Nil(t, none.Pipeline())
	require.NotNil(t, p.Pipeline())
	var noContext context.Context
	_, err = p.Prepare(noContext, travel(t, 8), budget(t, 300))
	require.NoError(t, err)
	window, _, err := p.RunReport(t.Context(), nil, budget(t, 10))
	require.NoError(t, err)
	require.Empty(t, window)
}

// random returns a conversation of all shapes of units.
func random(t testing.TB, rng *rand.Rand) []*cupel.ContextItem {
	t.Helper()
	var items []*cupel.ContextItem
	for i := range 1 + rng.IntN(20) {
		var opts []cupel.ItemOption
		if rng.IntN(12) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		id := fmt.Sprintf("ID%d", rng.IntN(10))
		if i%5 == 4 {
			opts = append(opts, cupel.WithGroupVariants()) // messages stay
		}
		switch rng.IntN(5) {
		case 4: // a picture
			picture := cupel.WithMetadata(map[string]any{"role": "user", "fixed": 3})
			forms := cupel.WithVariants(cupel.Variant{Content: "a picture of it", Tokens: 8, Worth: .5}, cupel.Variant{Content: "p", Tokens: 5, Worth: .1})
			items = append(items, message(t, "user", strings.Repeat("of it ", 9+rng.IntN(99)), append(opts, picture, forms)...))
		case 0:
			items = append(items, message(t, "user", strings.Repeat("Look at cupel/item.go again. ", 1+rng.IntN(20)), opts...))
		case 1:
			items = append(items, message(t, "assistant", "func "+id+"() {\n\treturn\n}\n"+strings.Repeat("\tmore := code\n", rng.IntN(40)), opts...))
		case 2:
			both := exchange(t, fmt.Sprint("g", i), "get("+id+")", reservation(id))
			if i%3 == 0 {
				opts = append(opts, cupel.WithMetadata(map[string]any{"role": "tool", "mark": "[m" + id + "]"}))
			}
			result, err := both[1].With(opts...) // a pin of one is one of both
			require.NoError(t, err)
			items = append(items, both[0], result)
		default:
			items = append(items, exchange(t, fmt.Sprint("g", i), `edit({"path":"a.go","text":"`+strings.Repeat("x", rng.IntN(300))+`"})`, "ok", opts...)...)
		}
	}
	return items
}

// TestRandom holds the preset to what it promises, over random conversations.
func TestRandom(t *testing.T) {
	p := agent.New(quarter{})
	about, unrelated := p.About(mentions("item.go")), p.About(strategy.ScorerFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }))
	filled, room, said := 0, 0, fnv.New32a()
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 7))
		items := random(t, rng)
		target := rng.IntN(total(items) + 20)
		window, report, err := p.RunReport(t.Context(), items, budget(t, target))
		if errors.Is(err, pipeline.ErrPinnedExceedsBudget) {
			continue
		}
		require.NoError(t, err)
		require.LessOrEqual(t, total(window), target, "seed %d", seed)
		related, _, err := about.RunReport(t.Context(), items, budget(t, target))
		require.NoError(t, err)
		_, _ = fmt.Fprint(said, texts(window), texts(related))
		filled += total(window)
		room += min(target, total(items))
		in := map[int]cupel.IncludedItem{}
		for _, e := range report.Included {
			in[e.Candidate] = e
			if n, _ := (quarter{}).CountTokens(e.Item.Content()); e.Form > 0 && e.Item.Tokens() > 0 && e.Item.Tokens() != n+4 {
				t.Fatalf("seed %d: a form says %d tokens, has %d", seed, e.Item.Tokens(), n+4)
			}
		}
		prepared, err := p.Prepare(t.Context(), items, budget(t, target))
		require.NoError(t, err)
		for _, e := range report.Excluded {
			assert.Same(t, items[e.Candidate], e.Item, "seed %d", seed)
		}
		groups, pinned := map[string]int{}, map[string]bool{}
		for _, item := range items {
			pinned[item.Group()] = pinned[item.Group()] || item.Pinned() && item.Group() != ""
		}
		for i, item := range items {
			if to := prepared[i]; to.Pinned() || len(to.Variants())+len(to.GroupVariants()) > 0 {
				assert.Contains(t, in, i, "seed %d: the pipeline left out what was chosen", seed)
			}
			e, ok := in[i]
			if (item.Pinned() || pinned[item.Group()]) && (!ok || e.Form != 0) {
				t.Fatalf("seed %d: pinned candidate %d is not whole in the window", seed, i)
			}
			if _, fixed := item.MetadataInt("fixed"); fixed && e.Form > 0 {
				assert.Contains(t, []string{"a picture of it", "p"}, e.Item.Content(), "seed %d", seed)
			} else {
				assert.LessOrEqual(t, e.Form, 1, "seed %d: there is one outline", seed)
			}
			if item.Group() == "" {
				continue
			}
			if was, seen := groups[item.Group()]; seen && (was == 1) != ok {
				t.Fatalf("seed %d: group %s is split", seed, item.Group())
			}
			groups[item.Group()] = 0
			if ok {
				groups[item.Group()] = 1
			}
		}
		if seed%4 == 0 {
			again, _, err := unrelated.RunReport(t.Context(), items, budget(t, target))
			require.NoError(t, err, "seed %d", seed)
			require.Equal(t, texts(window), texts(again), "seed %d", seed)
		}
	}
	assert.Equal(t, uint32(0xe3e73d5e), said.Sum32(), "what is chosen has changed: measure it by cupel replay")
	assert.Greater(t, float64(filled), 0.988*float64(room), "tokens of all windows, of a room of %d", room)
}

// TestGrowsWithTheText counts the characters that the preset has the counter
// count.
func TestGrowsWithTheText(t *testing.T) {
	work := func(n int) float64 {
		items := append(travel(t, n/2), manyCalls(t, n)...)
		counter := &counting{}
		_, err := agent.New(counter).Prepare(t.Context(), items, budget(t, total(items)/5))
		require.NoError(t, err)
		return float64(counter.characters) / float64(total(items))
	}
	small, large := work(40), work(640)
	require.LessOrEqual(t, large, 2*small)
}

// manyCalls is one exchange of n parallel calls, and a question.
func manyCalls(t testing.TB, n int) []*cupel.ContextItem {
	t.Helper()
	var calls []string
	for i := range n {
		calls = append(calls, fmt.Sprintf(`read({"path":"dir/file%d.go","from":%d})`, i, i))
	}
	items := exchange(t, "many", strings.Join(calls, "\n"), reservation("R1"))
	for i := range n - 1 {
		items = append(items, message(t, "tool", reservation(fmt.Sprint("R", i)), cupel.WithGroup("many")))
	}
	return append(items, message(t, "user", "And now?"))
}

var errOnce = errors.New("not this time")

type counting struct{ characters, calls, failsAt int }

func (c *counting) CountTokens(text string) (int, error) {
	c.characters += len(text)
	if c.calls++; c.calls == c.failsAt {
		return 0, errOnce
	}
	return quarter{}.CountTokens(text)
}
