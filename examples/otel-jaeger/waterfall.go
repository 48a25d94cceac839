package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupelotel"
)

const (
	stageKey  = cupelotel.StageNameKey
	reasonKey = cupelotel.ExclusionReasonKey
)

// waterfall is a trace, ready to be drawn.
type waterfall struct {
	title  string
	facts  string // in one line
	total  time.Duration
	rows   []row // a span each, parents before their children
	failed bool
}

// row is a span of a waterfall.
type row struct {
	name       string
	depth      int
	flow       string        // items in and out; empty for spans that have none
	start, end time.Duration // since the start of the trace
	failed     bool
	notes      []string
}

// newWaterfall draws the spans of one trace.
func newWaterfall(title, facts string, spans []sdktrace.ReadOnlySpan) waterfall {
	w := waterfall{title: title, facts: facts}
	byParent := make(map[trace.SpanID][]sdktrace.ReadOnlySpan)
	known := make(map[trace.SpanID]bool)
	for _, span := range spans {
		known[span.SpanContext().SpanID()] = true
	}
	var first, last time.Time
	for _, span := range spans {
		parent := span.Parent().SpanID()
		if !known[parent] { // a root, or the child of a span elsewhere
			parent = trace.SpanID{}
		}
		byParent[parent] = append(byParent[parent], span)
		if first.IsZero() || span.StartTime().Before(first) {
			first = span.StartTime()
		}
		if span.EndTime().After(last) {
			last = span.EndTime()
		}
	}
	w.total = last.Sub(first)
	var add func(parent trace.SpanID, depth int)
	add = func(parent trace.SpanID, depth int) {
		children := byParent[parent]
		slices.SortStableFunc(children, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
		for _, span := range children {
			r := newRow(span, depth)
			r.start, r.end = span.StartTime().Sub(first), span.EndTime().Sub(first)
			if took := r.end - r.start; took*20 >= w.total { // else nothing is to be gained
				if text := shares(span.Attributes(), took); text != "" {
					r.notes = append([]string{text}, r.notes...)
				}
			}
			w.failed = w.failed || r.failed
			at := len(w.rows)
			w.rows = append(w.rows, r)
			add(span.SpanContext().SpanID(), depth+1)
			if n := len(r.notes); r.failed && n > 0 && slices.ContainsFunc(w.rows[at+1:], func(below row) bool { return slices.Contains(below.notes, r.notes[n-1]) }) {
				w.rows[at].notes = r.notes[:n-1] // once is enough, where it happened
			}
		}
	}
	add(trace.SpanID{}, 0)
	return w
}

func newRow(span sdktrace.ReadOnlySpan, depth int) row {
	r := row{name: span.Name(), depth: depth, failed: span.Status().Code == codes.Error}
	attrs := attribute.NewSet(slices.Clone(span.Attributes())...) // which sorts its argument
	if stage, ok := attrs.Value(stageKey); ok {
		r.name = stage.AsString()
		in, _ := attrs.Value(cupelotel.StageItemCountInKey)
		out, _ := attrs.Value(cupelotel.StageItemCountOutKey)
		r.flow = thousands(int(in.AsInt64())) + " → " + thousands(int(out.AsInt64()))
		r.notes = append(r.notes, leftOut(span.Events())...)
	}
	if name, ok := strings.CutPrefix(r.name, "cupel.session."); ok {
		r.name = "session." + name
	}
	if _, ok := attrs.Value(cupelotel.SessionCommittedKey); ok {
		r.notes = append(r.notes, sessionNotes(attrs)...)
	}
	if r.failed {
		text := "failed: " + span.Status().Description
		if kind, ok := attrs.Value(cupelotel.ErrorTypeKey); ok {
			text = "failed with " + kind.AsString() + ": " + span.Status().Description
		}
		r.notes = append(r.notes, text)
	}
	return r
}

// shares says what part of a stage's time each strategy took, and in parentheses the
// strategies that it calls.
func shares(attrs []attribute.KeyValue, stage time.Duration) string {
	var b strings.Builder
	var open []string          // the paths of the strategy before, and of those around it
	for _, kv := range attrs { // each after the strategy that calls it
		path, ok := strings.CutPrefix(string(kv.Key), cupelotel.StrategyTimePrefix)
		if !ok {
			continue
		}
		closed := 0
		for len(open) > 0 && !calls(open[len(open)-1], path) {
			open = open[:len(open)-1]
			closed++
		}
		name := path
		switch {
		case len(open) > 0:
			name = strings.TrimPrefix(path, open[len(open)-1]+".")
			fallthrough
		case b.Len() > 0:
			if closed == 0 {
				b.WriteString(" (")
			} else {
				b.WriteString(strings.Repeat(")", closed-1) + ", ")
			}
		}
		open = append(open, path)
		fmt.Fprintf(&b, "%s %.0f %%", name, 100*kv.Value.AsFloat64()/stage.Seconds())
	}
	if b.Len() == 0 {
		return ""
	}
	return "time: " + b.String() + strings.Repeat(")", len(open)-1)
}

// calls reports whether a path is below another one. Tag.2 is a second Tag, not below
// the first.
func calls(outer, path string) bool {
	rest, ok := strings.CutPrefix(path, outer+".")
	return ok && (rest[0] < '0' || rest[0] > '9')
}

// leftOut says how many items were left out for which reason, most first, as far as
// the span has events.
func leftOut(events []sdktrace.Event) []string {
	reasons := make(map[string]int)
	for _, e := range events {
		set := attribute.NewSet(e.Attributes...)
		if reason, ok := set.Value(cupelotel.ExclusionReasonKey); ok {
			reasons[reason.AsString()]++
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = name + " " + thousands(reasons[name])
	}
	return []string{"left out: " + strings.Join(names, ", ")}
}

// sessionNotes says what a session kept and broke, and what that costs.
func sessionNotes(attrs attribute.Set) []string {
	number := func(key attribute.Key) string {
		v, _ := attrs.Value(key)
		if v.Type() == attribute.FLOAT64 {
			return thousands(int(v.AsFloat64() + 0.5))
		}
		return thousands(int(v.AsInt64()))
	}
	if committed, _ := attrs.Value(cupelotel.SessionCommittedKey); committed.AsBool() {
		return []string{fmt.Sprintf("the provider read %s tokens from its cache, %s were predicted",
			number(cupelotel.SessionReadReportedKey), number(cupelotel.SessionReadPredictedKey))}
	}
	notes := []string{fmt.Sprintf("kept %s of %s tokens; costs as much as %s tokens of plain input, everything would %s",
		number(cupelotel.SessionKeptTokensKey), number(cupelotel.SessionTokensKey), number(cupelotel.SessionCostKey), number(cupelotel.SessionCostWithoutKey))}
	if reason, ok := attrs.Value(cupelotel.SessionBreakReasonKey); ok {
		notes = append(notes, fmt.Sprintf("break (%s) at item %s: %s items of %s tokens left, a summary stands for %s",
			reason.AsString(), number(cupelotel.SessionBreakPositionKey),
			number(cupelotel.SessionDroppedItemsKey), number(cupelotel.SessionDroppedTokensKey), number(cupelotel.SessionSummarizedItemsKey)))
	}
	return notes
}

// palette says how the parts of a waterfall look on a terminal.
type palette struct{ title, fact, bar, failed, faint, reset string }

var colors = palette{title: "\x1b[1m", fact: "\x1b[2m", bar: "\x1b[36m", failed: "\x1b[31m", faint: "\x1b[2m", reset: "\x1b[0m"}

// The columns of a waterfall, in characters.
const (
	nameColumn     = 20
	flowColumn     = 15
	durationColumn = 9
	minBar         = 10
	minWidth       = nameColumn + flowColumn + durationColumn + minBar + 6
)

// text draws a waterfall in lines of width characters, with a palette of empty
// strings for output that is not a terminal.
func (w waterfall) text(width int, p palette) string {
	paint := func(color, s string) string {
		if color == "" || s == "" {
			return s
		}
		return color + s + p.reset
	}
	bar := max(width, minWidth) - nameColumn - flowColumn - durationColumn - 6
	var b strings.Builder
	for _, line := range wrap(w.title, max(width, minWidth)) {
		fmt.Fprintf(&b, "%s\n", paint(p.title, line))
	}
	for _, line := range wrap(w.facts, max(width, minWidth)) {
		fmt.Fprintf(&b, "%s\n", paint(p.fact, line))
	}
	for _, r := range w.rows {
		color := p.bar
		if r.failed {
			color = p.failed
		}
		from, to := cells(r.start, r.end, w.total, bar)
		shape := strings.Repeat("█", to-from)
		if to == from { // less than half a cell
			shape, to = "▏", from+1
		}
		mark := "  "
		if r.failed {
			mark = "✗ "
		}
		fmt.Fprintf(&b, "%s%s %s %s%s%s %s\n",
			paint(p.failed, mark), left(strings.Repeat("  ", r.depth)+r.name, nameColumn), right(r.flow, flowColumn),
			paint(p.faint, strings.Repeat("·", from)), paint(color, shape), paint(p.faint, strings.Repeat("·", bar-to)),
			right(duration(r.end-r.start), durationColumn))
		indent := strings.Repeat(" ", 2+2*r.depth+2)
		for _, note := range r.notes {
			noteColor := p.faint
			if r.failed && strings.HasPrefix(note, "failed") {
				noteColor = p.failed
			}
			for _, line := range wrap(note, max(width, minWidth)-len(indent)) {
				fmt.Fprintf(&b, "%s%s\n", indent, paint(noteColor, line))
			}
		}
	}
	return b.String()
}

// cells returns which of width cells a span covers, each to the nearest edge of
// a cell. from is always a cell.
func cells(start, end, total time.Duration, width int) (from, to int) {
	if total <= 0 {
		return 0, width
	}
	edge := func(d time.Duration) int { return int(float64(d)/float64(total)*float64(width) + 0.5) }
	from, to = edge(start), edge(end)
	if from >= width {
		from = width - 1
	}
	return from, max(to, from)
}

// duration shows three digits.
func duration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"s", time.Second}, {"ms", time.Millisecond}, {"µs", time.Microsecond}} {
		if d < unit.size {
			continue
		}
		value := float64(d) / float64(unit.size)
		switch {
		case value < 10:
			return fmt.Sprintf("%.2f %s", value, unit.name)
		case value < 100:
			return fmt.Sprintf("%.1f %s", value, unit.name)
		default:
			return fmt.Sprintf("%.0f %s", value, unit.name)
		}
	}
	return fmt.Sprintf("%d ns", d)
}

// thousands writes a number with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// left fills or cuts a text to width characters.
func left(s string, width int) string {
	r := []rune(s)
	if len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s + strings.Repeat(" ", width-len(r))
}

// right aligns a text to the right of width characters, never cutting numbers.
func right(s string, width int) string {
	return strings.Repeat(" ", max(0, width-len([]rune(s)))) + s
}

// wrap breaks a text at spaces into lines of at most width characters, as far
// as its words allow.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
