package assertions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// arguments are the arguments of all assertions.
type arguments struct {
	Assert, Why     string
	Kind            cupel.ContextKind
	N               int
	Item            *item
	Reason          cupel.ExclusionCode
	ItemTokens      int `toml:"item_tokens"`
	AvailableTokens int `toml:"available_tokens"`
	Threshold       float64
	Contents        []string
	Fact            string
}

// item is a predicate on items. All of it must hold.
type item struct {
	Content     string
	ContentGlob string `toml:"content_glob"`
	Tag, Group  string
	VersionOf   string `toml:"version_of"`
	Kind        cupel.ContextKind
	Source      cupel.ContextSource
	Pinned      *bool
	Metadata    map[string]any

	glob func(content string) bool
}

// check reports mistakes.
func (a *arguments) check(r *reader) {
	if a.Item != nil {
		a.Item.check(r)
	}
	if a.Reason != "" && !slices.Contains(cupel.ExclusionCodes(), a.Reason) {
		r.wrong("reason", "%q is unknown; want one of %s", a.Reason, cupel.ExclusionCodes())
	}
	if slices.Contains(a.Contents, "") || a.Contents != nil && len(a.Contents) == 0 {
		r.wrong("contents", "must be texts that are not empty: every item has content")
	}
}

func (i *item) check(r *reader) {
	if i.ContentGlob != "" {
		i.glob = r.globs(i.ContentGlob)
	}
	for key, want := range i.Metadata {
		switch want.(type) {
		case string, bool, int64, float64:
		default:
			r.wrong("item.metadata."+key, "must be text, a number or a boolean")
		}
	}
	if i.empty() {
		r.wrong("item", "must not be empty: it would match every item")
	}
}

// empty reports whether nothing is asked of the item.
func (i *item) empty() bool {
	texts := i.Content + i.ContentGlob + i.Tag + i.Group + i.VersionOf + string(i.Kind) + string(i.Source)
	return texts == "" && i.Pinned == nil && len(i.Metadata) == 0
}

// matches reports whether all of it holds for an item.
func (i *item) matches(of *cupel.ContextItem) bool {
	content := of.Content()
	switch {
	case i.Content != "" && content != i.Content,
		i.glob != nil && !i.glob(content),
		i.Tag != "" && !slices.Contains(of.Tags(), i.Tag),
		i.Group != "" && of.Group() != i.Group,
		i.VersionOf != "" && of.VersionOf() != i.VersionOf,
		i.Kind != "" && of.Kind().Key() != i.Kind.Key(),
		i.Source != "" && !strings.EqualFold(string(of.Source()), string(i.Source)),
		i.Pinned != nil && of.Pinned() != *i.Pinned:
		return false
	}
	for key, want := range i.Metadata {
		if got, ok := of.MetadataValue(key); !ok || !equal(want, got) {
			return false
		}
	}
	return true
}

// entry reports whether all of it holds for an included item.
func (i *item) entry(of cupel.IncludedItem) bool { return i.matches(of.Item) }

// equal compares text with text, booleans with booleans, and numbers by value,
// regardless of their notation.
func equal(want, got any) bool {
	a, isNumber := number(want)
	b, too := number(got)
	if !isNumber || !too {
		return isNumber == too && want == got
	}
	// As floats, different long integers could compare equal.
	m, errM := strconv.ParseInt(a, 10, 64)
	n, errN := strconv.ParseInt(b, 10, 64)
	if errM == nil && errN == nil {
		return m == n
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// number returns a number as a text.
func number(v any) (text string, ok bool) {
	switch v.(type) {
	case int, int64, float64, json.Number:
		return fmt.Sprint(v), true
	}
	return "", false
}
