package replay_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/internal/corpus"
)

// samples measures what a reader has.
func samples(t testing.TB, m *replay.Measure, r io.Reader) []replay.Sample {
	t.Helper()
	var all []replay.Sample
	for s, err := range m.Samples(t.Context(), replay.Scan("file.jsonl", r, nil)) {
		require.NoError(t, err)
		all = append(all, s)
	}
	return all
}

func measure(t testing.TB, policies []replay.Policy, shares []float64, opts ...replay.Option) *replay.Measure {
	t.Helper()
	m, err := replay.NewMeasure(policies, shares, opts...)
	require.NoError(t, err)
	return m
}

func written(t testing.TB, result *replay.Result) string {
	t.Helper()
	data, err := json.Marshal(result)
	require.NoError(t, err)
	return string(data) + result.Text()
}

// TestShards: samples that were written and read, in any order and in tables that are
// merged, give the bits of one run.
func TestShards(t *testing.T) {
	data, err := os.ReadFile("testdata/agents.jsonl")
	require.NoError(t, err)
	for i := range 60 { // shorter ones that differ
		line := strings.NewReplacer("\n", " ", "Hi!", strings.Repeat("please ", i%23), "TEA-77", fmt.Sprintf("TEA-%d", i)).Replace(talk)
		data = append(data, line+"\n"...)
	}
	data = append(data, "{\n"...)
	policies := append(replay.Baselines(), replay.Choosing("latest", latest(t)).InSession(0.5), failing(t))
	m := measure(t, policies, shares, replay.WithAgainst("newest"))
	all, whole := samples(t, m, bytes.NewReader(data)), replay.NewTable(m.Plan())
	for i := range all {
		require.NoError(t, whole.Add(&all[i]))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, shards := range []int{1, 2, 5} {
		total := replay.NewTable(m.Plan())
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for part := range slices.Chunk(all, len(all)/shards) {
			table := replay.NewTable(m.Plan())
			for _, s := range part {
				var read replay.Sample
				require.NoError(t, json.Unmarshal(marshal(t, s), &read))
				require.NoError(t, table.Add(&read))
			}
			var read replay.Table
			require.NoError(t, json.Unmarshal(marshal(t, table), &read))
			require.NoError(t, total.Merge(&read))
		}
		assert.Equal(t, written(t, whole.Result()), written(t, total.Result()))
	}
	other := replay.NewTable(measure(t, policies, shares).Plan())
	require.Error(t, whole.Merge(other), "tables of two plans were merged")
	require.Error(t, other.Add(&replay.Sample{Counts: make([]replay.Counts, 3)}), "a sample of another plan was added")
	counts := make([]replay.Counts, len(policies)*len(shares))
	counts[1].Caches = make([]replay.CacheCount, 1)
	require.ErrorContains(t, other.Add(&replay.Sample{Counts: counts}), "has the costs of 1 caches, and the table 0")
}

// TestTextOfWorst: the text has a line for each conversation, whatever its name.
func TestTextOfWorst(t *testing.T) {
	table := replay.NewTable(replay.Plan{Policies: []replay.Planned{{Name: "a", Title: "all of it"}, {Name: "b"}}, Shares: []float64{0.25, 0.5}, Against: "b"})
	for _, s := range []replay.Sample{{File: "f\n", Line: 1, Conversation: "one"}, {File: "g", Conversation: "two\x1b"}} {
		s.Counts = []replay.Counts{{Values: 9, Grounded: 5}, {Values: 9, Grounded: 8}, {Values: 9, Grounded: 7}, {Values: 9, Grounded: 9}}
		s.Counts[0].Lost = []replay.Lost{{Value: strings.Repeat("é", 41), Tokens: 7}, {Value: "b"}}
		require.NoError(t, table.Add(&s))
		require.Empty(t, s.Counts[0].Lost[0].File, "the sample stays as it is")
	}
	_, text, _ := strings.Cut(table.Result().Text(), "\nworst")
	text, lost, _ := strings.Cut(text, "\nlost")
	require.Contains(t, lost, "\n     7        0  "+strings.Repeat("é", 40)+" in \n")
	require.Equal(t, 5, strings.Count(lost, "\n"), "three of four values")
	require.Equal(t, " for all of it: values missed more than b\n  0.25     0.5      of  conversation\n"+
		"     3       2       9  one (\"f\\n\":1)\n     3       2       9  \"two\\x1b\" (g)\n", text)
}

// TestWorst: the ten conversations in which a policy misses most, in an order that
// ties do not change, from tables that are merged in any order.
func TestWorst(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	plan := replay.Plan{Policies: []replay.Planned{{Name: "a"}, {Name: "b"}}, Shares: []float64{0.25, 0.5}}
	type at struct {
		missed [2]int
		line   int
	}
	var order []at // of policy b, from the worst
	var all []replay.Sample
	for line := 1; line <= 60; line++ {
		missed := [2]int{random.IntN(4), random.IntN(3)}
		s := replay.Sample{File: "f", Line: line, Conversation: "same", Counts: make([]replay.Counts, 4)}
		for k, m := range missed {
			s.Counts[2*k] = replay.Counts{Values: 9, Grounded: 9} // policy a misses nothing
			s.Counts[2*k+1] = replay.Counts{Values: 9, Grounded: 9 - m}
		}
		if line%20 == 7 {
			s.Counts[1].First = &replay.Failure{Step: line}
		}
		all = append(all, s)
		order = append(order, at{missed, line})
	}
	slices.SortStableFunc(order, func(a, b at) int {
		return cmp.Or(b.missed[0]+b.missed[1]-a.missed[0]-a.missed[1], a.missed[0]-b.missed[0])
	})
	for range 20 {
		tables := make([]*replay.Table, 4)
		for i := range tables {
			tables[i] = replay.NewTable(plan)
		}
		for _, i := range random.Perm(len(all)) {
			require.NoError(t, tables[random.IntN(len(tables))].Add(&all[i]))
		}
		for _, other := range tables[1:] {
			require.NoError(t, tables[0].Merge(other))
		}
		require.Equal(t, 7, tables[0].Result().Rows[1].First.Step, "of equal conversations the first step")
		got := tables[0].Result().Worst
		require.Len(t, got, 10, "those of policy b")
		for i, w := range got {
			want := order[i]
			require.Equal(t, "b", w.Policy, "conversation %d", i)
			require.Equal(t, want.line, w.Line, "conversation %d", i)
			require.Equal(t, want.missed[:], w.Missed, "conversation %d", i)
			require.Equal(t, 9, w.Values, "conversation %d", i)
		}
	}
}

// TestIntervals: the interval of a share ends at 0 and 1, that of another ratio at 0, and
// that of a difference at -1 and 1, or where it is for one conversation.
func TestIntervals(t *testing.T) {
	table := replay.NewTable(replay.Plan{Policies: []replay.Planned{{Name: "a"}, {Name: "b"}}, Shares: []float64{0.5}, Against: "b"})
	for i, n := range []int{9, 3} {
		c := replay.Counts{Steps: 9, Breaks: n, Recent: n, Values: 9, Support: n, Grounded: n, Tasks: 9, Task: n, Sent: n, Room: 9, Cost: float64(n), Whole: 9}
		require.NoError(t, table.Add(&replay.Sample{Counts: []replay.Counts{c, {Values: 9}}}))
		require.Equal(t, []replay.Against{{Policy: "b", Difference: 1, Low: 1, High: 1}, {Policy: "b", Difference: 12 / 18.0, Low: -1, High: 1}}[i], *table.Result().Rows[0].Against)
		require.Nil(t, table.Result().Rows[1].Against)
	}
	got := table.Result().Rows[0].Intervals
	require.Greater(t, min(got.Cost.High, got.Fill.High), 1.0)
	got.Cost.High, got.Fill.High = 1, 1
	all := replay.Interval{High: 1}
	require.Equal(t, replay.Intervals{Support: all, Grounded: all, Cost: all, Breaks: all, Task: all, Recent: all, Fill: all}, got)
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// TestScanDamaged: a line that is damaged is named, and costs no other line.
func TestScanDamaged(t *testing.T) {
	const fine = `{"id": "a", "messages": []}`
	const message = `{"role": "user", "content": "Hi"}`
	for _, row := range []struct {
		name, text string
		want       string
		why        string
	}{
		{"in between", fine + "\n{\"id\": \n\n" + fine + "\n", "a:1 !2 a:4", "those around it are read"},
		{"first", "{\"id\": \"x\", \"mess\n" + fine + "\n" + fine, "!1 a:2 a:3", "it is not the beginning of a value on several lines"},
		{"first, cut between values", "{\"id\": \"x\",\n" + fine + "\n" + fine, "!1 a:2 a:3", "nor is this"},
		{"no conversation", "{\"id\": 1}\n" + fine + "\n" + message + "\n" + fine, "!1 a:2 !3 a:4", "the first that can be read says what lines are"},
		{"messages of another type", fine + "\n{\"messages\": 7}\n" + fine, "a:1 !2 a:3", "no conversation is made of it"},
		{"a list of another type", fine + "\n[{\"role\": 1}]\n" + fine, "a:1 !2 a:3", "nor of this"},
		{"only one", "{\"id\": ", "!1", "a file of one line"},
		{"of messages", message + "\n{\"role\n" + message + "\n" + fine, "!2 !4 sha256:8fffeb56175d1fe6:1", "a log loses one message"},
		{"one value on several lines, after others", fine + "\n" + fine + "\n{\"id\": \"b\",\n\"messages\": []}", "a:1 a:2 !3 !4", "in JSON Lines each is one"},
		{"several values on several lines", "{\"id\": \"a\",\n\"messages\": []}\n" + fine, "!1 !2 a:3", "this is neither one value nor JSON Lines"},
	} {
		var got []string
		for c, err := range replay.Scan("f", strings.NewReader(row.text), nil) {
			if err == nil {
				got = append(got, fmt.Sprintf("%s:%d", c.ID, c.Line))
				continue
			}
			var line int
			_, scan := fmt.Sscanf(err.Error(), "f: line %d:", &line)
			require.NoError(t, scan, "%s: %v", row.name, err)
			got = append(got, fmt.Sprintf("!%d", line))
		}
		assert.Equal(t, row.want, strings.Join(got, " "), "%s (%s)", row.name, row.why)
	}
}

// TestScanTakes: what is taken is asked once for each conversation, and a loop may end
// before all is read.
func TestScanTakes(t *testing.T) {
	const first, second = `{"id": "a", "messages": []}`, `{"id": "b", "messages": []}`
	const message = `{"role": "user", "content": "Hi"}`
	for _, row := range []struct{ text, asked, want, why string }{
		{first + "\n" + second + "\n" + first, "0:1 1:2 2:3", "b:2", "by their numbers"},
		{"[" + first + ", " + second + "]", "0:1 1:1", "b:1", "a list counts them"},
		{message + "\n" + message, "0:1 0:2 0:1", "", "messages are the first"},
		{"{\n" + second, "0:1 1:2", "b:2", "a line that is not wanted may be damaged"},
		{first + "\n" + second + "\n1", "0:1 1:2 2:3", "b:2", "also when the lines are known to be conversations"},
		{"[" + first + ", " + second + ", 1]", "0:1 1:1 2:1", "b:1", "and an element of a list"},
	} {
		var asked, got []string
		for c, err := range replay.Scan("f", strings.NewReader(row.text), func(n, line int) bool {
			asked = append(asked, fmt.Sprintf("%d:%d", n, line))
			return n == 1
		}) {
			require.NoError(t, err)
			got = append(got, fmt.Sprintf("%s:%d", c.ID, c.Line))
		}
		assert.Equal(t, []string{row.asked, row.want}, []string{strings.Join(asked, " "), strings.Join(got, " ")}, row.why)
	}
	many := strings.NewReader(strings.Repeat(first+"\n", 20_000))
	for _, err := range replay.Scan("f", many, nil) {
		require.NoError(t, err)
		break
	}
	require.Greater(t, many.Len(), 10_000*len(first), "two conversations show what the lines are")
	unread := iotest.ErrReader(errBroken)
	for _, text := range []string{first + "\n", first + "\n" + second + "\n", first + "\n{}\n", message + "\n{\n"} {
		for _, end := range []io.Reader{unread, strings.NewReader("")} {
			for _, err := range replay.Scan("f", io.MultiReader(strings.NewReader(text), end), nil) {
				require.NotErrorIs(t, err, errBroken)
				break
			}
		}
	}
}

// TestScanCut: a gzip file is read up to where it is cut, and the line there
// counts as one that cannot be read.
func TestScanCut(t *testing.T) {
	const line = `{"id": "a", "messages": []}` + "\n"
	for _, lines := range []int{1, 2, 400} {
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		_, err := io.WriteString(w, strings.Repeat(line, lines))
		require.NoError(t, err)
		require.NoError(t, w.Flush())
		cut := compressed.Len()
		require.NoError(t, w.Close())
		read, failed := 0, 0
		for _, err := range replay.Scan("f", corpus.Uncompressed(bytes.NewReader(compressed.Bytes()[:cut])), nil) {
			require.Zero(t, failed, "the error is not the last")
			if err == nil {
				read++
				continue
			}
			failed++
			var bad *replay.ReadError
			require.ErrorAs(t, err, &bad)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.Equal(t, lines+1, bad.Line)
		}
		require.Equal(t, []int{lines, 1}, []int{read, failed})
	}
}

// TestParse: a line alone is one conversation or an error.
func TestParse(t *testing.T) {
	const message = `{"role": "user", "content": "Hi"}`
	for _, row := range []struct{ text, id, reason, why string }{
		{`{"id": "a", "messages": [` + message + `]}`, "a", "", "a conversation"},
		{`[` + message + `]`, "sha256:ad3d801606f34b4e", "", "messages alone"},
		{message, "", "the line must be a conversation", "it may be one of many"},
		{`[{"messages": []}, {"messages": []}]`, "", "the line must have one conversation, not 2", "a list of them"},
		{`{"messages": [`, "", "unexpected end of JSON input", "not JSON"},
		{`{"id": 1}`, "", "a conversation must be an object", "no conversation"},
	} {
		c, err := replay.Parse([]byte(row.text))
		assert.Equal(t, row.id, c.ID, row.why)
		if row.reason == "" {
			assert.NoError(t, err, row.why)
		} else {
			assert.ErrorContains(t, err, row.reason, row.why)
		}
	}
}

// TestFailedSamples: what cannot be read is a sample with its error.
func TestFailedSamples(t *testing.T) {
	line := strings.ReplaceAll(talk, "\n", " ")
	m := measure(t, replay.Baselines()[:2], []float64{0.5})
	got := samples(t, m, strings.NewReader("{\n"+line+"\n"+line+"\n"))
	table := replay.NewTable(m.Plan())
	for i, want := range []string{"unexpected end of JSON input", "", ""} {
		s := got[i]
		assert.Equal(t, i+1, s.Line)
		assert.Equal(t, "file.jsonl", s.File)
		assert.Equal(t, want, s.Error)
		assert.Equal(t, want == "", s.Err() == nil)
		require.NoError(t, table.Add(&got[i]))
	}
	r := table.Result()
	require.Equal(t, 2, r.Conversations)
	require.Equal(t, 1, r.Failed)
	require.Regexp(t, "^2 conversations, 6 steps, 2 values, 1 left out\n(.|\n)*: values missed\n", r.Text())
	require.Equal(t, 6, r.Rows[0].Steps)
	require.Len(t, r.Lost, 2)
	require.Equal(t, "file.jsonl", r.Lost[0].File)
	require.Equal(t, 2, r.Lost[0].Line)
	require.Equal(t, 3, r.Lost[1].Line)
}
