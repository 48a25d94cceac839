package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

const (
	mostNamed   = 10 // candidates that a list of an answer names
	longestName = 40 // runes of a content
)

// String returns the answer as several lines for people. They hold the beginning
// of the contents of items.
func (a *WhyNotAnswer) String() string {
	if a == nil || a.Ledger == nil {
		return "no answer"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is ", a.name(a.Candidate))
	if a.Place > 0 {
		form := ""
		if a.Form() > 0 {
			form = ", " + formText(&a.Entry)
		}
		fmt.Fprintf(&b, "included, in place %d of %d%s: %s\n", a.Place, len(a.Ledger.Window), form, a.Why())
	} else {
		fmt.Fprintf(&b, "not included: %s\n", a.Why())
	}
	if a.Rule != "" {
		b.WriteString(a.Rule + "\n")
		a.list(&b, "Chosen instead:", a.DisplacedBy)
	}
	if x := a.IfPinned; x != nil {
		switch {
		case x.Err != nil:
			fmt.Fprintf(&b, "If it were pinned, the selection would fail: %s\n", strings.TrimPrefix(x.Err.Error(), "cupel: "))
		case len(x.Went) == 0:
			b.WriteString("If it were pinned, nothing would go.\n")
		}
		a.list(&b, "If it were pinned, these would go:", x.Went)
	}
	b.WriteString(a.Smallest.String())
	return b.String()
}

// String returns a sentence, such as "The smallest budget that includes it is 80
// tokens.".
func (s SmallestBudget) String() string {
	switch {
	case s.Found && s.Exact:
		return fmt.Sprintf("The smallest budget that includes it is %d tokens.", s.Tokens)
	case s.Found:
		return fmt.Sprintf("A budget of %d tokens includes it; a smaller one may.", s.Tokens)
	case s.Err != nil:
		return "The smallest budget that includes it is not known: " + strings.TrimPrefix(s.Err.Error(), "cupel: ")
	case s.Exact && s.SearchedTo == math.MaxInt:
		return "No budget includes it."
	case s.Exact:
		return fmt.Sprintf("No budget up to %d tokens includes it.", s.SearchedTo)
	}
	return fmt.Sprintf("No budget up to %d tokens includes it; not all larger ones were looked at.", s.SearchedTo)
}

func (a *WhyNotAnswer) list(b *strings.Builder, head string, candidates []int) {
	if len(candidates) == 0 {
		return
	}
	b.WriteString(head + "\n")
	for _, i := range candidates[:min(len(candidates), mostNamed)] {
		b.WriteString("  " + a.name(i) + "\n")
	}
	if more := len(candidates) - mostNamed; more > 0 {
		fmt.Fprintf(b, "  and %d more\n", more)
	}
}

// name says which candidate it is.
func (a *WhyNotAnswer) name(candidate int) string {
	e := &a.Ledger.Entries[candidate]
	text := fmt.Sprintf("%s (%s, %d tokens", excerpt(e.Item), e.Item.Kind(), e.Item.Tokens())
	if e.Item.Group() != "" {
		text += ", group " + shortened(e.Item.Group())
	}
	if e.Rank > 0 {
		text += fmt.Sprintf(", score %s, rank %d of %d", strconv.FormatFloat(e.Score(), 'g', 4, 64), e.Rank, a.Ledger.Ranked)
	}
	return text + ")"
}

// excerpt returns the beginning of the content of an item, in quotes.
func excerpt(item *cupel.ContextItem) string { return shortened(item.Content()) }

// shortened returns the beginning of a content, in quotes.
func shortened(content string) string {
	runes := 0
	for at := range content {
		if runes++; runes > longestName {
			return strconv.Quote(content[:at]) + "…"
		}
	}
	return strconv.Quote(content)
}
