package cupelinspect

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// maxDescription bounds the description of a strategy or an error, in bytes.
// maxLabel bounds kinds, sources, tags and the like, which a page may repeat
// for every candidate. maxTags bounds the number of tags and of metadata keys
// of an item.
const (
	maxDescription = 2 << 10
	maxLabel       = 200
	maxTags        = 100
)

// explainer is a scorer that reports the scores of its parts, as
// [scorer.Composite] does.
type explainer interface {
	ScoreParts(ctx context.Context, all []*cupel.ContextItem) ([]scorer.Part, error)
}

// explainerIn returns the composite that a scorer is or wraps. It does not look
// into wrappers with more than one scorer inside.
func explainerIn(s strategy.Scorer) explainer {
	for range 100 { // a wrapper may return a new one each time
		if e, ok := s.(explainer); ok {
			return e
		}
		inner := strategy.FactsOf(s).Scorers
		if len(inner) != 1 {
			return nil
		}
		s = inner[0]
	}
	return nil
}

// scoreParts returns the parts of e that have a score for each item. A panic is
// ignored: if it matters, the run itself has failed with it.
func scoreParts(ctx context.Context, e explainer, all []*cupel.ContextItem) (parts []scorer.Part) {
	defer func() { _ = recover() }()
	parts, err := e.ScoreParts(ctx, all)
	if err != nil {
		return nil
	}
	for _, part := range parts {
		if len(part.Scores) != len(all) {
			return nil
		}
	}
	return parts
}

// describer writes the structure of a strategy: "Scaled(Composite(Recency 0.75,
// Kind 0.25))".
type describer struct {
	ctx context.Context
	strings.Builder
}

func describeScorer(ctx context.Context, s strategy.Scorer) string {
	d := &describer{ctx: ctx}
	d.scorer(s)
	return shorten(d.String(), maxDescription)
}

func describeSlicer(s strategy.Slicer) string {
	d := &describer{}
	d.slicer(s)
	return shorten(d.String(), maxDescription)
}

func (d *describer) full() bool { return d.Len() > maxDescription }

func (d *describer) scorer(s strategy.Scorer) {
	d.WriteString(typeName(s))
	d.settings(scorer.Descriptors(), s)
	if e, ok := s.(explainer); ok {
		if parts := scoreParts(d.ctx, e, nil); len(parts) > 0 {
			list(d, parts, func(part scorer.Part) {
				d.scorer(part.Scorer)
				d.WriteString(" " + strconv.FormatFloat(part.Weight, 'g', 4, 64))
			})
			return
		}
	}
	list(d, strategy.FactsOf(s).Scorers, d.scorer)
}

func (d *describer) slicer(s strategy.Slicer) {
	d.WriteString(typeName(s))
	d.settings(slicer.Descriptors(), s)
	list(d, strategy.FactsOf(s).Slicers, d.slicer)
}

// settings writes the settings of a strategy that differ from their defaults
// and are single values: "{bucketSize 50, memoryLimit 1048576}".
func (d *describer) settings(types []strategy.Descriptor, s any) {
	found, settings, _ := strategy.Describe(types, s)
	begin, end := "{", ""
	for _, f := range found.Fields {
		value, given := settings[f.Name]
		if !given || f.Type != strategy.Variant && !isSingle(f.Type) || value == f.Default {
			continue
		}
		d.WriteString(begin + f.Name + " ")
		begin, end = ", ", "}"
		switch f.Type {
		case strategy.Variant:
			if variant, _, ok := strategy.Describe(f.Variants, value); ok {
				d.WriteString(variant.Name)
			}
			d.settings(f.Variants, value)
		case strategy.Text, strategy.Kind:
			d.WriteString(strconv.Quote(shorten(fmt.Sprint(value), maxLabel)))
		default:
			_, _ = fmt.Fprint(d, value)
		}
	}
	d.WriteString(end)
}

// isSingle reports whether a setting is one value, which a line has room for.
func isSingle(t strategy.Type) bool {
	return slices.Contains([]strategy.Type{
		strategy.Number, strategy.Int, strategy.Bool, strategy.Duration, strategy.Enum, strategy.Text, strategy.Kind,
	}, t)
}

func list[T any](d *describer, inner []T, describe func(T)) {
	for i, s := range inner {
		if d.full() {
			return
		}
		if i == 0 {
			d.WriteByte('(')
		} else {
			d.WriteString(", ")
		}
		describe(s)
	}
	if len(inner) > 0 {
		d.WriteByte(')')
	}
}

// typeName returns the name of a strategy's type, without its package.
func typeName(strategy any) string {
	t := reflect.TypeOf(strategy)
	if t == nil {
		return "nil"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := t.Name()
	if name == "" {
		name = t.String() // a struct without a name
	}
	name, _, _ = strings.Cut(name, "[") // type arguments have whole import paths
	return shorten(name, maxLabel)
}

// shorten returns text in valid UTF-8 with at most limit bytes, plus an
// ellipsis if it was cut.
func shorten(text string, limit int) string {
	kept, cut := prefix(text, limit)
	if cut > 0 {
		return kept + "…"
	}
	return kept
}

// prefix returns the first limit bytes of text, or a few fewer to avoid
// splitting a character, in valid UTF-8, and the number of bytes it left out.
func prefix(text string, limit int) (kept string, cut int) {
	if len(text) > limit {
		end := limit
		for end > 0 && limit-end < utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text, cut = text[:end], len(text)-end
	}
	return strings.ToValidUTF8(text, "\uFFFD"), cut
}

// safely runs caller code that may panic.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panicked: %v", p)
		}
	}()
	return f()
}
