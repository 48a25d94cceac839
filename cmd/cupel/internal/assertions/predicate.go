package assertions

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// itemPredicate is a predicate on items, as cupeltest takes it.
type itemPredicate = func(*cupel.ContextItem) bool

// item reads a predicate on items: a table whose every entry must hold. It
// returns nil if there is a problem.
func (t *table) item() itemPredicate {
	t.need("item")
	inner := t.table("item")
	if inner == nil {
		return nil
	}
	all := inner.itemParts()
	inner.endPredicate(len(all))
	return func(item *cupel.ContextItem) bool { return every(all, item) }
}

// entry reads the item of an assertion as a predicate on included entries, which
// also have a score and a reason.
func (t *table) entry() func(cupel.IncludedItem) bool {
	t.need("item")
	inner := t.table("item")
	if inner == nil {
		return nil
	}
	all := inner.itemParts()
	var entries []func(cupel.IncludedItem) bool
	if reason := inner.text("reason"); reason != "" {
		switch code := cupel.InclusionReason(reason); code {
		case cupel.IncludeScored, cupel.IncludePinned, cupel.IncludeZeroToken:
			entries = append(entries, func(e cupel.IncludedItem) bool { return e.Reason == code })
		default:
			inner.fail("reason", "%q is unknown; want one of %s, %s, %s", reason, cupel.IncludeScored, cupel.IncludePinned, cupel.IncludeZeroToken)
		}
	}
	if least := inner.optionalFloat("min_score"); least != nil {
		entries = append(entries, func(e cupel.IncludedItem) bool { return e.Score >= *least })
	}
	if most := inner.optionalFloat("max_score"); most != nil {
		entries = append(entries, func(e cupel.IncludedItem) bool { return e.Score <= *most })
	}
	inner.endPredicate(len(all) + len(entries))
	return func(e cupel.IncludedItem) bool { return every(all, e.Item) && every(entries, e) }
}

// endPredicate rejects an empty predicate, which would match every item.
func (t *table) endPredicate(parts int) {
	if parts == 0 && len(t.values) == 0 {
		t.reader.fail(t.at, "must not be empty; known names are %s", strings.Join(t.read, ", "))
	}
	t.end()
}

func every[T any](questions []func(T) bool, about T) bool {
	for _, question := range questions {
		if !question(about) {
			return false
		}
	}
	return true
}

func (t *table) itemParts() []itemPredicate {
	var all []itemPredicate
	for _, part := range []struct {
		name string
		make func(text string) cupeltest.ItemPredicate
	}{
		{"content", cupeltest.ByContent},
		{"content_prefix", cupeltest.ByContentPrefix},
		{"content_contains", byContentContains},
		{"content_glob", nil}, // the pattern may be malformed
		{"tag", cupeltest.ByTag},
		{"group", cupeltest.ByGroup},
		{"version_of", cupeltest.ByVersionOf},
		{"kind", func(text string) cupeltest.ItemPredicate { return cupeltest.ByKind(cupel.ContextKind(text)) }},
		{"source", func(text string) cupeltest.ItemPredicate { return cupeltest.BySource(cupel.ContextSource(text)) }},
	} {
		read := t.asText
		if strings.HasPrefix(part.name, "content") {
			read = t.asContent
		}
		text, ok := read(part.name, t.get(part.name))
		switch {
		case ok && part.make != nil:
			all = append(all, part.make(text))
		case ok:
			matches, err := t.globs(text)
			if err != nil {
				t.fail(part.name, "%v", err)
				continue
			}
			all = append(all, func(item *cupel.ContextItem) bool { return matches(item.Content()) })
		}
	}
	switch pinned := t.get("pinned").(type) {
	case nil:
	case bool:
		all = append(all, func(item *cupel.ContextItem) bool { return item.Pinned() == pinned })
	default:
		t.mistyped("pinned", "a boolean", pinned)
	}
	if least := t.optionalInt("min_tokens"); least != nil {
		all = append(all, func(item *cupel.ContextItem) bool { return item.Tokens() >= *least })
	}
	if most := t.optionalInt("max_tokens"); most != nil {
		all = append(all, func(item *cupel.ContextItem) bool { return item.Tokens() <= *most })
	}
	if metadata := t.table("metadata"); metadata != nil {
		for _, key := range metadata.names() {
			want := metadata.get(key)
			switch want.(type) {
			case string, bool, int64, float64:
				all = append(all, byMetadata(key, want))
			default:
				metadata.mistyped(key, "text, a number or a boolean", want)
			}
		}
		if len(metadata.values) == 0 {
			t.fail("metadata", "must name at least one key")
		}
	}
	return all
}

func byContentContains(text string) cupeltest.ItemPredicate {
	return func(item *cupel.ContextItem) bool { return strings.Contains(item.Content(), text) }
}

// byMetadata compares text with text, booleans with booleans, and numbers by
// value, regardless of their notation.
func byMetadata(key string, want any) cupeltest.ItemPredicate {
	return func(item *cupel.ContextItem) bool {
		got, ok := item.MetadataValue(key)
		if !ok {
			return false
		}
		if a := number(want); a != nil {
			b := number(got)
			return b != nil && a.Cmp(b) == 0
		}
		return got == want // text, booleans, or different types
	}
}

// maxDigits is the length of the longest number that is compared, in characters,
// and maxExponent the largest power of ten: larger ones would take too long.
const (
	maxDigits   = 400
	maxExponent = 400
)

// number returns the exact value of a finite number, or nil.
// As floats, different long integers could compare equal.
func number(v any) *big.Rat {
	var text string
	switch v := v.(type) {
	case int:
		return new(big.Rat).SetInt64(int64(v))
	case int64:
		return new(big.Rat).SetInt64(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		text = strconv.FormatFloat(v, 'g', -1, 64) // the decimal as written, not the nearest binary value
	case json.Number:
		text = v.String()
	}
	if text == "" || len(text) > maxDigits {
		return nil
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		if exponent, err := strconv.Atoi(text[at+1:]); err != nil || exponent < -maxExponent || exponent > maxExponent {
			return nil
		}
	}
	if exact, ok := new(big.Rat).SetString(text); ok {
		return exact
	}
	return nil
}
