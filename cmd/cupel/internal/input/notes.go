package input

import (
	"fmt"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// fields are the fields of an item.
var fields = []string{
	"content", "tokens", "kind", "source", "priority", "tags", "metadata", "timestamp", "futureRelevanceHint", "pinned",
	"originalTokens", "group", "versionOf", "variants", "groupVariants",
}

// mostLookedAt is how many items are checked for misspelt fields, since a mistake is
// usually in all items of a file.
const mostLookedAt = 100

// lookFor remembers the first field of an item whose name is almost that of another.
func (f *reading) lookFor(v rawjson.Value, i int) {
	if f.misspelt != "" || i >= mostLookedAt {
		return
	}
	o, _ := v.Fields() // reading the item reports a field that is given twice
	for _, m := range o.Members {
		for _, known := range fields {
			if almost(m.Name, known) && !o.Has(known) {
				f.misspelt = fmt.Sprintf("item %d: %.40q is unknown and has no effect; did you mean %q?", i+1, m.Name, known)
				return
			}
		}
	}
}

// marks stand between words.
var marks = strings.NewReplacer("_", "", "-", "")

// almost reports whether two names differ by case, by marks between words, or by one slip:
// a letter too many, too few, wrong, or swapped with its neighbor.
func almost(name, known string) bool {
	if name == known {
		return false
	}
	a, b := strings.ToLower(marks.Replace(name)), strings.ToLower(known)
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// itemNotes returns notes about likely mistakes in valid items.
func (f *reading) itemNotes(items []*cupel.ContextItem) []string {
	var notes []string
	if f.misspelt != "" {
		notes = append(notes, f.misspelt)
	}
	if len(items) == 0 {
		notes = append(notes, "the list is empty: there is nothing to choose from")
	}
	negative := 0
	for _, item := range items {
		if item.Tokens() < 0 {
			negative++
		}
	}
	if negative > 0 {
		notes = append(notes, "left out, with less than 0 tokens: "+english.Plural(negative, "item"))
	}
	return notes
}
