package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// spans returns a turn of ten milliseconds whose slicer fails, children first.
func spans() []sdktrace.ReadOnlySpan {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	traceID := trace.TraceID{1}
	span := func(id, parent byte, name string, from, to time.Duration, failed string, attrs ...attribute.KeyValue) tracetest.SpanStub {
		stub := tracetest.SpanStub{
			Name:        name,
			SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: trace.SpanID{id}}),
			StartTime:   start.Add(from), EndTime: start.Add(to), Attributes: attrs,
		}
		if parent != 0 {
			stub.Parent = trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: trace.SpanID{parent}})
		}
		if failed != "" {
			stub.Status = sdktrace.Status{Code: codes.Error, Description: failed}
		}
		return stub
	}
	stage := func(name string, in, out int) []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.String("cupel.stage.name", name),
			attribute.Int("cupel.stage.item_count_in", in), attribute.Int("cupel.stage.item_count_out", out),
		}
	}
	left := func(reason string, n int) []sdktrace.Event {
		return slices.Repeat([]sdktrace.Event{{Name: "cupel.exclusion", Attributes: []attribute.KeyValue{attribute.String("cupel.exclusion.reason", reason)}}}, n)
	}
	const ms = time.Millisecond
	stubs := tracetest.SpanStubs{
		span(5, 2, "cupel.stage.slice", 6*ms, 10*ms, "cupel: slicer main.broken <panicked>", append(stage("slice", 1200, 0), attribute.String("error.type", "*cupel.PanicError"))...),
		span(4, 2, "cupel.stage.score", 5*ms, 5*ms+2*time.Microsecond, "", stage("score", 1234, 1234)...),
		span(3, 2, "cupel.stage.classify", 2*ms, 5*ms, "", stage("classify", 1300, 1234)...),
		span(2, 1, "cupel.pipeline", 1*ms, 10*ms, "cupel: slicer main.broken <panicked>"),
		span(1, 9, "agent.turn", 0, 10*ms, ""), // a child of somebody else's span
	}
	stubs[2].Events = append(left("NegativeTokens", 60), left("Odd", 6)...)
	return stubs.Snapshots()
}

func TestShares(t *testing.T) {
	times := func(pairs ...any) (attrs []attribute.KeyValue) {
		for i := 0; i < len(pairs); i += 2 {
			attrs = append(attrs, attribute.Float64("cupel.strategy.time."+pairs[i].(string), pairs[i+1].(float64)))
		}
		return append(attrs, attribute.Int("cupel.stage.item_count_out", 3))
	}
	for _, tt := range []struct {
		why   string
		attrs []attribute.KeyValue
		want  string
	}{
		{"no strategy was called", times(), ""},
		{"one without parts", times("Greedy", 0.5), "time: Greedy 50 %"},
		{"parts, and the second of a name", times("Composite", 0.9, "Composite.Tag", 0.3, "Composite.Tag.2", 0.2, "Composite.Recency", 0.1),
			"time: Composite 90 % (Tag 30 %, Tag.2 20 %, Recency 10 %)"},
		{"parts of parts", times("A", 1.0, "A.B", 0.6, "A.B.C", 0.5, "A.B.C.D", 0.4, "A.E", 0.3), "time: A 100 % (B 60 % (C 50 % (D 40 %)), E 30 %)"},
		{"two of the pipeline's own", times("A", 0.5, "A.B", 0.4, "A.2", 0.2), "time: A 50 % (B 40 %), A.2 20 %"},
	} {
		if got := shares(tt.attrs, time.Second); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestSessionNotes: a turn says what it kept and broke, a commit what the cache had.
func TestSessionNotes(t *testing.T) {
	number := attribute.Int
	turn := []attribute.KeyValue{
		attribute.Bool("cupel.session.committed", false), number("cupel.session.kept_tokens", 1200), number("cupel.session.tokens", 3000),
		attribute.Float64("cupel.session.cost", 1919.6), attribute.Float64("cupel.session.cost_without", 4000),
	}
	kept := "kept 1,200 of 3,000 tokens; costs as much as 1,920 tokens of plain input, everything would 4,000"
	tests := []struct {
		attrs []attribute.KeyValue
		want  []string
		why   string
	}{
		{turn, []string{kept}, "no break"},
		{append(slices.Clip(turn), attribute.String("cupel.session.break_reason", "worth it"), number("cupel.session.break_position", 7), number("cupel.session.dropped_items", 5),
			number("cupel.session.dropped_tokens", 1500), number("cupel.session.summarized_items", 9)),
			[]string{kept, "break (worth it) at item 7: 5 items of 1,500 tokens left, a summary stands for 9"}, "a break"},
		{[]attribute.KeyValue{attribute.Bool("cupel.session.committed", true), number("cupel.session.read_reported", 1100), number("cupel.session.read_predicted", 1152)},
			[]string{"the provider read 1,100 tokens from its cache, 1,152 were predicted"}, "a commit"},
	}
	for _, tt := range tests {
		if got := sessionNotes(attribute.NewSet(tt.attrs...)); !slices.Equal(got, tt.want) {
			t.Errorf("got %q, want %q: %s", got, tt.want, tt.why)
		}
	}
}

func TestText(t *testing.T) {
	const want = `Turn 1
facts
  agent.turn                           ████████████████████   10.0 ms
✗   cupel.pipeline                     ··██████████████████   9.00 ms
      failed: cupel: slicer main.broken <panicked>
      classify           1,300 → 1,234 ····██████··········   3.00 ms
        left out: NegativeTokens 60, Odd 6
      score              1,234 → 1,234 ··········▏·········   2.00 µs
✗     slice                  1,200 → 0 ············████████   4.00 ms
        failed with *cupel.PanicError: cupel: slicer main.broken
        <panicked>
`
	w := newWaterfall("Turn 1", "facts", spans())
	if got := w.text(70, palette{}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if w.total != 10*time.Millisecond || !w.failed {
		t.Errorf("total %s, failed %t", w.total, w.failed)
	}
	colored := w.text(70, colors)
	for _, code := range []string{colors.title, colors.fact, colors.bar, colors.failed, colors.faint, colors.reset} {
		colored = strings.ReplaceAll(colored, code, "")
	}
	if colored != want {
		t.Errorf("with colors, which are left out here:\n%s\nwant:\n%s", colored, want)
	}
}

func TestPicture(t *testing.T) {
	picture := svg("make <trace>", []waterfall{newWaterfall("Turn 1", "facts", spans())})
	var texts, bars []string
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				texts = append(texts, text)
			}
		case xml.StartElement:
			var at, width, fill string
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "x":
					at = a.Value
				case "width":
					width = a.Value
				case "fill":
					fill = a.Value
				}
			}
			if token.Name.Local == "rect" && at != "" && fill != svgTrack {
				bars = append(bars, at+"+"+width)
			}
		}
	}
	wantTexts := []string{
		"Waterfalls of the example otel-jaeger", "$ make <trace>", "Turn 1", "facts",
		"agent.turn", "10.0 ms",
		"cupel.pipeline", "9.00 ms", "failed: cupel: slicer main.broken <panicked>",
		"classify", "1,300 → 1,234", "3.00 ms", "left out: NegativeTokens 60, Odd 6",
		"score", "1,234 → 1,234", "2.00 µs",
		"slice", "1,200 → 0", "4.00 ms", "failed with *cupel.PanicError: cupel: slicer main.broken <panicked>",
	}
	if !slices.Equal(texts, wantTexts) {
		t.Errorf("texts:\n%q\nwant:\n%q", texts, wantTexts)
	}
	// The track begins at 18 + (20+15+2)·7.8 + 2·7.8 = 322.2 and ends at
	// 960 - 18 - (9+1)·7.8 = 864: 541.8 for ten milliseconds.
	wantBars := []string{"322.2+541.8", "376.4+487.6", "430.6+162.5", "593.1+1.0", "647.3+216.7"}
	if !slices.Equal(bars, wantBars) {
		t.Errorf("bars %q, want %q", bars, wantBars)
	}
}

func TestCells(t *testing.T) {
	tests := []struct {
		name              string
		start, end, total time.Duration
		from, to          int
		why               string
	}{
		{"whole", 0, 100, 100, 0, 10, "all cells"},
		{"nearest edges", 14, 26, 100, 1, 3, "1.4 and 2.6"},
		{"less than half a cell", 50, 51, 100, 5, 5, "drawn as a line in the cell 5"},
		{"at the end", 100, 100, 100, 9, 10, "there is no cell 10"},
		{"no time at all", 0, 0, 0, 0, 10, "a clock that stands still"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if from, to := cells(tt.start, tt.end, tt.total, 10); from != tt.from || to != tt.to {
				t.Errorf("%d to %d, want %d to %d: %s", from, to, tt.from, tt.to, tt.why)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct{ name, got, want, why string }{
		{"nanoseconds", duration(999), "999 ns", "below a microsecond"},
		{"microseconds", duration(1234), "1.23 µs", "three digits"},
		{"milliseconds", duration(56_789_000), "56.8 ms", "three digits"},
		{"seconds", duration(123_456 * time.Millisecond), "123 s", "three digits"},
		{"small", thousands(999), "999", "no comma"},
		{"large", thousands(1_234_567), "1,234,567", "two commas"},
		{"negative", thousands(-123_456), "-123,456", "no comma after the sign"},
		{"filled", left("ab", 4), "ab  ", "to the left"},
		{"cut", left("abcde", 4), "abc…", "says that it is cut"},
		{"aligned", right("ab", 4), "  ab", "to the right"},
		{"too long", right("12345", 4), "12345", "numbers are not cut"},
		{"wrapped", strings.Join(wrap("aa bb cc", 5), "|"), "aa bb|cc", "at spaces"},
		{"long word", strings.Join(wrap("a bbbbbb c", 4), "|"), "a|bbbbbb|c", "words stay whole"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("%q, want %q: %s", tt.got, tt.want, tt.why)
			}
		})
	}
}
