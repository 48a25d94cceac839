package cupelrecord_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelrecord"
)

// candidates have every field that strategies read. All texts but kinds and the names
// of metadata have the word secret.
func candidates(tb testing.TB) []*cupel.ContextItem {
	tb.Helper()
	at := func(minutes int) cupel.ItemOption {
		return cupel.WithTimestamp(time.Date(2026, 1, 2, 3, minutes, 0, 0, time.UTC))
	}
	with := func(id any) cupel.ItemOption {
		return cupel.WithMetadata(map[string]any{"id": id, "trust": 0.5, "note": "secret note", "deep": []any{"secret"}, "bad": func() {}})
	}
	group, short := cupel.WithGroup("secret exchange"), cupel.Variant{Content: "secret short", Tokens: 9, Worth: 0.5}
	made := cupel.Variant{Make: func(context.Context) (string, error) { return "secret", nil }, Tokens: 5, Worth: 0.25}
	question := newItem(tb, "secret question", 12, cupel.WithKind(cupel.KindMessage), at(2), with("secret again"))
	items := []*cupel.ContextItem{
		newItem(tb, "secret system", 20, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned(), with("secret system"), at(0)),
		newItem(tb, "secret question", 12, cupel.WithKind(cupel.KindMessage), at(1), with(7), cupel.WithPriority(7), cupel.WithTags("secret tag")),
		question, question,
		newItem(tb, "secret call", 15, cupel.WithKind(cupel.KindMessage), at(3), group),
		newItem(tb, "secret result", 90, cupel.WithKind(cupel.KindToolOutput), at(4), group, cupel.WithFutureRelevanceHint(math.NaN()), cupel.WithGroupVariants(short)),
		newItem(tb, "secret report", 80, cupel.WithKind(cupel.KindDocument), at(5), cupel.WithSource("secret source"), cupel.WithVariants(short, made)),
		newItem(tb, "secret file", 30, cupel.WithKind(cupel.KindMemory), at(6), cupel.WithVersionOf("secret path")),
		newItem(tb, "secret file, again", 30, cupel.WithKind(cupel.KindMemory), at(7), cupel.WithVersionOf("secret path")),
		newItem(tb, "secret future", 1, cupel.WithTimestamp(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))),
		newItem(tb, "secret debt", -3),
	}
	foreign := new(cupel.ContextItem)
	require.NoError(tb, foreign.UnmarshalJSON([]byte(`{"content": "secret", "tokens": 9, "custom": "secret", "variants": [{"content": "secret", "tokens": 3, "worth": 0.5, "custom": "secret"}]}`)))
	return append(items, foreign)
}

// chat is the preset, at a fixed time.
func chat(tb testing.TB) *pipeline.Pipeline {
	tb.Helper()
	preset, err := policy.NewRegistry().Lookup("chat")
	require.NoError(tb, err)
	clock := func() time.Time { return start }
	p, err := preset.Pipeline(policy.Environment{Clock: clock})
	require.NoError(tb, err)
	config := p.Config()
	config.Clock = clock
	p, err = pipeline.New(config)
	require.NoError(tb, err)
	return p
}

// recorded runs the candidates, and returns their record, what of it is not compressed,
// and the report of the run.
func recorded(tb testing.TB, redaction observe.Redaction, items []*cupel.ContextItem) (*cupelrecord.Run, string, *cupel.SelectionReport) {
	tb.Helper()
	s := &store{room: -1}
	var told []error
	recorder := newRecorder(tb, cupelrecord.Config{Sink: s.sink, Redaction: redaction, OnError: func(err error) { told = append(told, err) }, Trace: func(context.Context) string { return "5e" }})
	budget, err := cupel.NewContextBudget(200, 150, cupel.WithOutputReserve(10), cupel.WithReservedSlots(map[cupel.ContextKind]int{"Memory": 5}))
	require.NoError(tb, err)
	report, err := chat(tb).DryRun(tb.Context(), items, budget, pipeline.WithTrace(recorder))
	require.NoError(tb, err)
	require.NoError(tb, recorder.Close(tb.Context()))
	require.Empty(tb, told)
	text, err := io.ReadAll(s2.NewReader(strings.NewReader(s.segments[0].String())))
	require.NoError(tb, err)
	runs, missing, open, errs := s.all()
	require.Empty(tb, errs)
	require.Empty(tb, open)
	require.Zero(tb, missing)
	require.Len(tb, runs, 1)
	run := runs[0]
	assert.Equal(tb, start, run.Clock)
	assert.Equal(tb, "5e", run.Trace)
	assert.True(tb, run.Budget.Equal(budget))
	for _, in := range report.Included {
		assert.EqualValues(tb, in.Form, run.Decisions[in.Candidate].Form)
	}
	window := make(map[int32]int)
	for i, d := range run.Decisions {
		if d.Place > 0 {
			window[d.Place] = i
		}
	}
	require.Len(tb, window, len(report.Included))
	for i, in := range report.Included {
		assert.Equal(tb, in.Candidate, window[int32(i+1)])
	}
	return run, string(text), report
}

// TestRedaction: what leaves is what the policy says, and no more.
func TestRedaction(t *testing.T) {
	const everything = observe.PartContent | observe.PartID | observe.PartSource | observe.PartTags | observe.PartMetadata | observe.PartGroup | observe.PartFields
	quoted := func(_ observe.Part, text string) string { return "«" + text + "»" }
	hidden := func(observe.Part, string) string { return "" }
	for _, row := range []struct {
		name      string
		redaction observe.Redaction
		want      string // of candidates 1 and 6
		shows     []string
	}{
		{"nothing", observe.Redaction{ID: "id", Metadata: []string{"note"}},
			`{"content":"candidate 1","tokens":12,"kind":"Message","source":"Chat"} {"content":"candidate 6","tokens":80,"kind":"Document","source":"Chat"}`, nil},
		{"fields", observe.Redaction{Show: observe.PartFields},
			`{"content":"candidate 1","tokens":12,"kind":"Message","source":"Chat","priority":7,"timestamp":"2026-01-02T03:01:00Z"} {"content":"candidate 6","tokens":80,"kind":"Document","source":"Chat","timestamp":"2026-01-02T03:05:00Z","variants":[{"content":"form 1","tokens":9,"worth":0.5},{"content":"form 2","tokens":5,"worth":0.25}]}`, nil},
		{"ids", observe.Redaction{Show: observe.PartID, ID: "id"},
			`{"content":"candidate 1","tokens":12,"kind":"Message","source":"Chat","metadata":{"id":7}} {"content":"candidate 6","tokens":80,"kind":"Document","source":"Chat"}`, []string{"secret system", "secret again"}},
		{"metadata", observe.Redaction{Show: observe.PartMetadata, ID: "id", Metadata: []string{"trust", "note", "deep", "bad"}},
			`{"content":"candidate 1","tokens":12,"kind":"Message","source":"Chat","metadata":{"note":"secret note","trust":0.5}} {"content":"candidate 6","tokens":80,"kind":"Document","source":"Chat"}`, []string{"secret note"}},
		{"tags, through a function", observe.Redaction{Show: observe.PartTags, Rewrite: quoted},
			`{"content":"candidate 1","tokens":12,"kind":"«Message»","source":"Chat","tags":["«secret tag»"]} {"content":"candidate 6","tokens":80,"kind":"«Document»","source":"Chat"}`, []string{"«secret tag»"}},
		{"sources", observe.Redaction{Show: observe.PartSource},
			`{"content":"candidate 1","tokens":12,"kind":"Message","source":"Chat"} {"content":"candidate 6","tokens":80,"kind":"Document","source":"secret source"}`, []string{"secret source"}},
		{"contents", observe.Redaction{Show: observe.PartContent},
			`{"content":"secret question","tokens":12,"kind":"Message","source":"Chat"} {"content":"secret report","tokens":80,"kind":"Document","source":"Chat"}`,
			[]string{"secret system", "secret question", "secret call", "secret result", "secret report", "secret file", "secret file, again", "secret future", "secret debt", "secret"}},
		{"groups alone are not fields", observe.Redaction{Show: observe.PartGroup},
			`{"content":"candidate 1","tokens":12,"kind":"Message","source":"Chat"} {"content":"candidate 6","tokens":80,"kind":"Document","source":"Chat"}`, nil},
		{"everything, through a function that hides it", observe.Redaction{Show: everything, Rewrite: hidden},
			`{"content":"candidate 1","tokens":12,"kind":"kind 1","source":"Chat","priority":7,"tags":[""],"timestamp":"2026-01-02T03:01:00Z"} {"content":"candidate 6","tokens":80,"kind":"kind 3","source":"Chat","timestamp":"2026-01-02T03:05:00Z","variants":[{"content":"form 1","tokens":9,"worth":0.5},{"content":"form 2","tokens":5,"worth":0.25}]}`, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			items := candidates(t)
			run, text, _ := recorded(t, row.redaction, items)
			first, err := json.Marshal(run.Items[1])
			require.NoError(t, err)
			second, err := json.Marshal(run.Items[6])
			require.NoError(t, err)
			assert.Equal(t, row.want, fmt.Sprintf("%s %s", first, second))
			for i, item := range items {
				assert.Equal(t, item.Tokens(), run.Items[i].Tokens())
			}
			assert.Equal(t, row.redaction.Show, run.Shows)
			if row.name != "contents" {
				for _, shown := range row.shows {
					assert.Contains(t, text, shown)
					text = strings.ReplaceAll(text, shown, "")
				}
				assert.NotContains(t, text, "secret")
			} else {
				assert.NotContains(t, text, "note")
				assert.NotContains(t, text, "custom")
				assert.NotContains(t, text, "exchange")
			}
		})
	}
}

// TestRecordsCanBeTried: with the fields, and no text, the policy that was recorded
// decides the same again.
func TestRecordsCanBeTried(t *testing.T) {
	for _, parts := range []observe.Part{observe.PartFields, observe.PartFields | observe.PartContent | observe.PartGroup} {
		items := slices.Delete(candidates(t), 9, 10) // its time is not recorded
		run, _, report := recorded(t, observe.Redaction{Show: parts}, items)
		assert.Equal(t, run.Items[1].Content(), run.Items[2].Content(), "copies have the same content")
		assert.NotEqual(t, run.Items[0].Content(), run.Items[1].Content())
		assert.Equal(t, run.Items[4].Group(), run.Items[5].Group())
		assert.Equal(t, run.Items[7].VersionOf(), run.Items[8].VersionOf())
		assert.True(t, run.Items[0].Pinned())
		hint, ok := run.Items[5].FutureRelevanceHint()
		assert.True(t, ok && math.IsNaN(hint))
		again, err := chat(t).DryRun(t.Context(), run.Items, run.Budget)
		require.NoError(t, err)
		require.Len(t, again.Included, len(report.Included))
		for i, in := range again.Included {
			assert.Equal(t, report.Included[i].Candidate, in.Candidate)
			assert.Equal(t, report.Included[i].Form, in.Form)
			if in.Item.Group() == "" {
				assert.InDelta(t, run.Decisions[in.Candidate].Score, in.Score, 0)
			}
		}
	}
}

// TestRecordedRuns: a run with decisions about all candidates is recorded, and a run of
// prepared stages has the time of the scores.
func TestRecordedRuns(t *testing.T) {
	s := &store{room: -1}
	recorder := newRecorder(t, cupelrecord.Config{Sink: s.sink})
	observed := pipeline.WithTrace(recorder)
	now := start
	config := chat(t).Config()
	config.Name, config.PolicyHash, config.Clock = "a name", "a hash", func() time.Time { return now }
	p, err := pipeline.New(config)
	require.NoError(t, err)
	budget, err := cupel.NewContextBudget(200, 150)
	require.NoError(t, err)
	prepared, err := p.Prepare(t.Context(), candidates(t), observed)
	require.NoError(t, err)
	now = now.Add(time.Hour)
	_, err = prepared.Run(t.Context(), budget, observed)
	require.NoError(t, err)
	_, err = p.Run(t.Context(), candidates(t), budget, observed)
	require.NoError(t, err)
	_, err = p.Run(t.Context(), nil, budget, observed)
	require.NoError(t, err)
	source := iter.Seq2[*cupel.ContextItem, error](func(yield func(*cupel.ContextItem, error) bool) { yield(newItem(t, "a", 1), nil) })
	_, err = p.RunStream(t.Context(), source, budget, observed)
	require.NoError(t, err)
	small, err := cupel.NewContextBudget(10, 10)
	require.NoError(t, err)
	_, err = p.Run(t.Context(), candidates(t), small, observed)
	require.Error(t, err)
	require.NoError(t, recorder.Close(t.Context()))
	assert.Equal(t, cupelrecord.Stats{Written: 3}, recorder.Stats())
	runs, _, _, errs := s.all()
	require.Empty(t, errs)
	require.Len(t, runs, 3)
	assert.Equal(t, []time.Time{start, now, now}, []time.Time{runs[0].Clock, runs[1].Clock, runs[2].Clock})
	assert.Equal(t, "a name", runs[0].Pipeline)
	assert.Equal(t, "a hash", runs[0].PolicyHash)
	assert.Empty(t, runs[2].Items)
	for _, err := range new(cupelrecord.Reader).Read(s.segments[0]) {
		require.NoError(t, err)
		break // a caller may stop at any run
	}
}

// TestWrongRecords: the reader refuses what no recorder writes.
func TestWrongRecords(t *testing.T) {
	// A claim of 4 GiB, which compresses well.
	mebibyte, err := io.ReadAll(compressed(t, strings.Repeat("x", 1<<20)))
	require.NoError(t, err)
	_, _, _, errs := readAll(io.MultiReader(compressed(t, "\xfb\x01\x00\x00\x00\x00"), bytes.NewReader(bytes.Repeat(mebibyte, 65))))
	require.ErrorIs(t, errors.Join(errs...), cupelrecord.ErrTooLarge)
	for _, text := range []string{"x", strings.Repeat("x", 5000)} {
		_, _, _, errs := readAll(strings.NewReader(text))
		require.Len(t, errs, 1)
		assert.ErrorContains(t, errs[0], "cupelrecord: the segment is cut or damaged: ")
	}
	for _, row := range []struct {
		inputs string
		rows   []uint64
		want   string // "" if it is read
		why    string
	}{
		{`{"Items":[null]}`, []uint64{0, 1, 1, 0, 0}, "", "an item that is null is one that is not shown"},
		{`{"Decisions":[{"Place":9}]}`, []uint64{0, 1, 1, 0, 0}, "", "decisions are those of rows"},
		{`{"Items":[null]}`, []uint64{0, 1, 1, 0}, "a candidate has no valid decision", "a part of a row"},
		{`{"Items":[{"content":"a"}]}`, []uint64{0, 1, 1, 0, 0}, "cupel: ", "no item"},
		{`{}`, []uint64{1, 1, 1, 0, 0, 0, 1, 2, 0, 0}, "cupel: ", "an empty kind, of the first of two"},
		{`{}`, []uint64{2, 1, 1, 0, 0}, "a candidate has no valid decision", "a kind that is not there"},
		{`{}`, []uint64{0, 1, 1 << 31, 0, 0}, "a candidate has no valid decision", "a place that would be negative"},
		{`{}`, []uint64{0, 1, 1, 1<<64 - 1, 0}, "a candidate has no valid decision", "a form that would be negative"},
		{``, nil, "unexpected end of JSON input", "no inputs"},
	} {
		runs, _, _, errs := readAll(segmentOf(t, row.inputs, row.rows))
		if row.want == "" {
			require.Empty(t, errs, row.why)
			assert.Equal(t, "candidate 0", runs[0].Items[0].Content())
			assert.Equal(t, []observe.Decision{{Place: 1}}, runs[0].Decisions)
			continue
		}
		require.Len(t, errs, 1, row.why)
		assert.ErrorContains(t, errs[0], "cupelrecord: the segment is cut or damaged: "+row.want, row.why)
		assert.Empty(t, runs)
	}
}

// segmentOf returns a segment with one record, as anyone may write it.
func segmentOf(tb testing.TB, inputs string, rows []uint64) io.Reader {
	tb.Helper()
	var text strings.Builder
	require.NoError(tb, gob.NewEncoder(&text).Encode(struct {
		Process string
		Inputs  []byte
		Kinds   []cupel.ContextKind
		Rows    []uint64
	}{"p", []byte(inputs), []cupel.ContextKind{cupel.KindMessage, ""}, rows}))
	return compressed(tb, text.String())
}

// compressed returns a segment with a text in place of records.
func compressed(tb testing.TB, text string) io.Reader {
	tb.Helper()
	var segment bytes.Buffer
	out := s2.NewWriter(&segment)
	_, err := io.WriteString(out, text)
	require.NoError(tb, err)
	require.NoError(tb, out.Close())
	return &segment
}

// FuzzReader checks that the runs read from any record have an item and a decision for
// each candidate, so that a policy can be tried on them.
func FuzzReader(f *testing.F) {
	f.Add(`{"Budget":{"maxTokens":9,"targetTokens":9},"Items":[{"content":"a","tokens":1},null]}`, []byte{0, 1, 1, 0, 0, 0, 2, 2, 1, 0})
	f.Add(`{"Items":[]}`, []byte{255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, inputs string, numbers []byte) {
		var rows []uint64
		for _, n := range numbers {
			rows = append(rows, uint64(int8(n))) // -1 is the largest number
		}
		runs, _, open, errs := readAll(segmentOf(t, inputs, rows))
		require.Len(t, append(open, make([]string, len(errs))...), 1)
		for _, run := range runs {
			require.Len(t, run.Decisions, len(run.Items))
			for i, d := range run.Decisions {
				require.NotNil(t, run.Items[i])
				require.GreaterOrEqual(t, min(d.Place, d.Form), int32(0))
			}
			cupelrecord.Shadow(chat(t), func(d cupelrecord.Difference) { require.LessOrEqual(t, len(d.Candidates), len(run.Items)) })(run)
		}
		_, _, _, errs = readAll(compressed(t, inputs+string(numbers)))
		require.LessOrEqual(t, len(errs), 1)
	})
}
