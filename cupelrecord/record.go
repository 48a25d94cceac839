package cupelrecord

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// record is a run in a segment.
type record struct {
	Header
	End    bool   // there is no run, and Number is the next run's
	Inputs []byte // an inputs in JSON
	Kinds  []cupel.ContextKind
	// Rows has varints for each candidate in turn: a position in Kinds, the tokens, the
	// place, the form, and the bits of the score.
	Rows []byte
}

// inputs are the inputs of a run.
type inputs struct {
	Budget cupel.ContextBudget
	Items  []*cupel.ContextItem // nil if only kinds and tokens are shown
}

// makeRecord makes the record of a run.
func (w *writer) makeRecord(n *run) (err error) {
	defer func() {
		if v := recover(); v != nil { // of the function that rewrites; not the value, which may quote an item
			err = fmt.Errorf("the redaction panicked with a %T", v)
		}
	}()
	names := names{&w.config.Redaction, make(map[name]string)}
	r := &w.record
	*r = record{Header: n.Header, Rows: r.Rows[:0]}
	r.Pipeline, _ = names.Text(observe.PartPipeline, n.Pipeline)
	r.PolicyHash, _ = names.Text(observe.PartPipeline, n.PolicyHash)
	for i, d := range n.decisions {
		item := n.items[i]
		at := slices.Index(r.Kinds, item.Kind())
		if at < 0 {
			at = len(r.Kinds)
			r.Kinds = append(r.Kinds, item.Kind())
		}
		for _, number := range [...]uint64{uint64(at), uint64(item.Tokens()), uint64(d.Place), uint64(d.Form), math.Float64bits(d.Score)} {
			r.Rows = binary.AppendUvarint(r.Rows, number)
		}
	}
	for i, kind := range r.Kinds {
		r.Kinds[i] = names.kind(kind, i)
	}
	shown := inputs{Budget: n.budget}
	if n.Shows >= observe.PartContent {
		shown.Items = n.items
	}
	for i, item := range shown.Items {
		if n.items[i], err = names.redacted(item, i); err != nil {
			return err
		}
	}
	r.Inputs, err = json.Marshal(shown)
	return err
}

// names replace texts that do not leave, if it may leave that texts are equal.
type names struct {
	*observe.Redaction
	of map[name]string
}

type name struct {
	part observe.Part
	text string
}

// text returns the part of a text that leaves, or a name for it.
func (n *names) text(part observe.Part, text, what string, at int) string {
	if shown, ok := n.Text(part, text); ok && shown != "" {
		return shown
	}
	made := fmt.Sprint(what, " ", at)
	if n.Show&observe.PartFields == 0 {
		return made
	}
	if before, ok := n.of[name{part, text}]; ok {
		return before
	}
	n.of[name{part, text}] = made
	return made
}

func (n *names) kind(kind cupel.ContextKind, at int) cupel.ContextKind {
	return cupel.ContextKind(n.text(observe.PartKind, string(kind), "kind", at))
}

// redacted returns the parts that leave of the candidate at a position.
func (n *names) redacted(item *cupel.ContextItem, at int) (*cupel.ContextItem, error) {
	opts := []cupel.ItemOption{cupel.WithKind(n.kind(item.Kind(), at)), cupel.WithMetadata(n.metadata(item))}
	if source, ok := n.Text(observe.PartSource, string(item.Source())); ok && source != "" {
		opts = append(opts, cupel.WithSource(cupel.ContextSource(source)))
	}
	var tags []string
	for _, tag := range item.AllTags() {
		if text, ok := n.Text(observe.PartTags, tag); ok {
			tags = append(tags, text)
		}
	}
	opts = append(opts, cupel.WithTags(tags...))
	if n.Show&observe.PartFields != 0 {
		opts = append(opts, n.fields(item, at)...)
	}
	return cupel.NewContextItem(n.text(observe.PartContent, item.Content(), "candidate", at), item.Tokens(), opts...)
}

// metadata returns the id and the metadata that leave, if they are texts, numbers or
// booleans.
func (n *names) metadata(item *cupel.ContextItem) map[string]any {
	all := make(map[string]any)
	for i, key := range append([]string{n.ID}, n.Metadata...) {
		part := observe.PartMetadata
		if i == 0 {
			part = observe.PartID
		}
		value, ok := item.MetadataValue(key)
		if !ok || n.Show&part == 0 {
			continue
		}
		if text, ok := item.MetadataText(key); ok {
			value, _ = n.Text(part, text)
		}
		if text, err := json.Marshal(value); err == nil && text[0] != '[' && text[0] != '{' {
			all[key] = value
		}
	}
	return all
}

// fields returns the fields of an item that strategies read, except texts.
func (n *names) fields(item *cupel.ContextItem, at int) (opts []cupel.ItemOption) {
	if item.Pinned() {
		opts = append(opts, cupel.WithPinned())
	}
	if priority, ok := item.Priority(); ok {
		opts = append(opts, cupel.WithPriority(priority))
	}
	if t, ok := item.Timestamp(); ok {
		if _, err := t.MarshalJSON(); err == nil { // JSON has no year 10000
			opts = append(opts, cupel.WithTimestamp(t))
		}
	}
	if hint, ok := item.FutureRelevanceHint(); ok {
		opts = append(opts, cupel.WithFutureRelevanceHint(hint))
	}
	if group := item.Group(); group != "" {
		opts = append(opts, cupel.WithGroup(n.text(observe.PartGroup, group, "group", at)))
	}
	if key := item.VersionOf(); key != "" {
		opts = append(opts, cupel.WithVersionOf(n.text(observe.PartGroup, key, "version of", at)))
	}
	return append(opts, cupel.WithVariants(n.forms(item.Variants())...), cupel.WithGroupVariants(n.forms(item.GroupVariants())...))
}

// forms returns smaller forms with the parts of their contents that leave.
func (n *names) forms(forms []cupel.Variant) []cupel.Variant {
	for i, f := range forms { // without fields that Cupel does not know
		forms[i] = cupel.Variant{Content: n.text(observe.PartContent, f.Content, "form", i+1), Tokens: f.Tokens, Worth: f.Worth}
	}
	return forms
}
