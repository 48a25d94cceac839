package cupel

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// shownContent is how many characters of the content "%+v" shows.
const shownContent = 40

// String returns the kind, the source and the size of the item, such as
// "ToolOutput from Tool, 120 tokens". It leaves out the content.
func (it ContextItem) String() string {
	text := fmt.Sprintf("%s from %s, %s", it.kind, it.source, plural(it.tokens, "token"))
	if it.pinned {
		text += ", pinned"
	}
	return text
}

// Format implements [fmt.Formatter]. Every verb prints what [ContextItem.String]
// returns; "%+v" adds the first 40 characters of the content, quoted and
// escaped.
func (it ContextItem) Format(f fmt.State, verb rune) { format(f, verb, it.String(), it.content) }

func format(f fmt.State, verb rune, text, content string) {
	if verb == 'v' && f.Flag('+') {
		text += ": " + quoteContent(content)
	}
	_, _ = io.WriteString(f, text) // as fmt itself does, which reports the error
}

// Format implements [fmt.Formatter]. Every verb prints the size and the worth
// of the form; "%+v" adds the first 40 characters of the content, quoted and
// escaped.
func (v Variant) Format(f fmt.State, verb rune) {
	format(f, verb, fmt.Sprintf("%s, worth %v", plural(v.Tokens, "token"), v.Worth), v.Content)
}

// LogValue implements [slog.LogValuer]: a group of the size and the worth of the
// form, without its content.
func (v Variant) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("tokens", v.Tokens), floatAttr("worth", v.Worth))
}

// Format implements [fmt.Formatter]. Every verb prints the data that are not
// zero, as "name=value", without the content of any item.
func (d ReasonData) Format(f fmt.State, _ rune) {
	r := NewExclusionReason("", d)
	_, _ = io.WriteString(f, r.othersText(nil, "", ""))
}

// LogValue implements [slog.LogValuer]: a group of the data that are not zero,
// without the content of any item.
func (d ReasonData) LogValue() slog.Value {
	return slog.GroupValue(NewExclusionReason("", d).LogValue().Group()[1:]...)
}

// Format implements [fmt.Formatter]. Every verb prints the field as
// "name=value", or only the name if the value is a content.
func (d ReasonField) Format(f fmt.State, _ rune) {
	text := d.Name
	if !d.Content {
		text = fmt.Sprintf("%s=%v", d.Name, d.Value)
	}
	_, _ = io.WriteString(f, text)
}

// LogValue implements [slog.LogValuer]: what Format prints.
func (d ReasonField) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(d)) }

func quoteContent(content string) string {
	shown := 0
	for end := range content {
		if shown == shownContent {
			return strconv.QuoteToGraphic(content[:end]) + "…"
		}
		shown++
	}
	return strconv.QuoteToGraphic(content)
}

// LogValue implements [slog.LogValuer]: a group of the kind, the source and the
// size of the item, without its content.
//
// slog does not call LogValue for items inside a slice or a struct: its text
// handler prints them as "%+v" does, and its JSON handler writes them as JSON,
// contents included. A [SelectionReport] is safe to log, and so are its entries,
// a [ScoredItem], an [OverflowEvent] and a [StreamResult].
func (it ContextItem) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("kind", string(it.kind)), slog.String("source", string(it.source)), slog.Int("tokens", it.tokens)}
	if it.pinned {
		attrs = append(attrs, slog.Bool("pinned", true))
	}
	return slog.GroupValue(attrs...)
}

// LogValue implements [slog.LogValuer]: a group of the code and its data,
// without the content of any item.
func (r ExclusionReason) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("reason", string(r.Code))}
	for f := range r.Fields() {
		switch v := f.Value.(type) {
		case float64:
			attrs = append(attrs, floatAttr(f.Name, v))
		case ContextKind:
			attrs = append(attrs, slog.String(f.Name, string(v)))
		default:
			if !f.Content {
				attrs = append(attrs, slog.Any(f.Name, v))
			}
		}
	}
	return slog.GroupValue(attrs...)
}

// Explain returns what String does, with words where numbers would confuse: a
// slicer that exceeds its budget leaves a negative number of tokens, and one that
// shares them between kinds may leave more than the item requests.
func (r ExclusionReason) Explain() string {
	d := r.Data()
	switch {
	case r.Code != ExcludeBudgetExceeded:
		return r.String()
	case max(d.ItemTokens, d.GroupTokens) <= d.AvailableTokens:
		return r.String() + ", but the slicer did not choose it"
	case d.AvailableTokens >= 0:
		return r.String()
	}
	return fmt.Sprintf("%s: %d tokens requested, but the slicer had already exceeded its budget by %s",
		r.Code, d.ItemTokens, plural(-max(d.AvailableTokens, -math.MaxInt), "token"))
}

// LogValue implements [slog.LogValuer]: the item, the score and the reason,
// without the content.
func (i IncludedItem) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("item", logItem(i.Item)), floatAttr("score", i.Score), slog.String("reason", string(i.Reason)))
}

// LogValue implements [slog.LogValuer]: the item, the score and the reason,
// without the content of any item.
func (e ExcludedItem) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("item", logItem(e.Item)), floatAttr("score", e.Score), slog.Any("reason", e.Reason))
}

func logItem(it *ContextItem) slog.Value {
	if it == nil {
		return slog.Value{}
	}
	return it.LogValue()
}

// String returns the item, the score and the reason as one line, without the
// content of any item.
func (e ExcludedItem) String() string {
	item := "no item"
	if e.Item != nil {
		item = e.Item.String()
	}
	return fmt.Sprintf("%.3f  %s: %s", e.Score, item, e.Reason.Explain())
}

// maxReported is how many excluded items [SelectionReport.String] lists.
const maxReported = 20

// String returns the report as text for a person: totals, items and tokens by
// reason, and the first 20 excluded items, highest score first, each with its
// reason. It leaves out contents, which [ExcludedItem] and JSON contain.
func (r SelectionReport) String() string {
	var b strings.Builder
	var out exact.Sum
	var inReasons, outReasons tally
	for _, i := range r.Included {
		inReasons.add(string(i.Reason), i.Item.Tokens())
	}
	for _, e := range r.Excluded {
		out.Add(e.Item.Tokens())
		outReasons.add(string(e.Reason.Code), e.Item.Tokens())
	}
	fmt.Fprintf(&b, "%s: %d included (%s), %d excluded (%s)\n", plural(r.TotalCandidates, "candidate"),
		len(r.Included), plural(tokensOf(r.Included), "token"), len(r.Excluded), plural(out.Int(), "token"))
	inReasons.write(&b, "included")
	outReasons.write(&b, "excluded")
	if r.Overflow != nil {
		fmt.Fprintf(&b, "the selection exceeds the target by %s\n", plural(r.Overflow.TokensOverBudget, "token"))
	}
	for _, s := range r.CountRequirementShortfalls {
		fmt.Fprintln(&b, s)
	}
	if len(r.Excluded) == 0 {
		return b.String()
	}
	b.WriteString("excluded, highest score first:\n")
	for i, e := range r.Excluded {
		if i == maxReported {
			fmt.Fprintf(&b, "  and %d more\n", len(r.Excluded)-i)
			break
		}
		fmt.Fprintf(&b, "  %s\n", e)
	}
	return b.String()
}

// tally counts items and tokens by reason, in the order in which the reasons
// first occur.
type tally []tallied

type tallied struct {
	reason string
	items  int
	tokens exact.Sum
}

func (t *tally) add(reason string, tokens int) {
	at := 0
	for at < len(*t) && (*t)[at].reason != reason {
		at++
	}
	if at == len(*t) {
		*t = append(*t, tallied{reason: reason})
	}
	(*t)[at].items++
	(*t)[at].tokens.Add(tokens)
}

func (t tally) write(b *strings.Builder, what string) {
	for _, of := range t {
		fmt.Fprintf(b, "  %s %s: %s, %s\n", what, of.reason, plural(of.items, "item"), plural(of.tokens.Int(), "token"))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
