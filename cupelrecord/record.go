package cupelrecord

import (
	"bytes"
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
	Inputs []byte // the budget, and the items unless only kinds and tokens are shown, in JSON
	Kinds  []cupel.ContextKind
	// Rows has for each candidate in turn a position in Kinds, the tokens, the place,
	// the form, and the bits of the score.
	Rows []uint64
}

// columns is how many numbers of Rows a candidate has.
const columns = 5

// makeRecord makes the record of a run.
func (w *writer) makeRecord(n *run) (err error) {
	names := names{&w.config.Redaction, make(map[string]string)}
	r := &w.record
	*r = record{Rows: r.Rows[:0], Header: Header{
		Process: w.process, Number: n.number, Clock: n.Start.UTC(), Trace: n.trace, Shows: names.Show, ID: names.ID, Metadata: names.Metadata,
	}}
	r.Pipeline, _ = names.Text(observe.PartPipeline, n.Pipeline)
	r.PolicyHash, _ = names.Text(observe.PartPipeline, n.PolicyHash)
	var kinds []cupel.ContextKind
	for i, d := range n.decisions {
		item := n.Items[i]
		kind := item.Kind()
		at := slices.Index(kinds, kind)
		if at < 0 {
			at = len(kinds)
			kinds = append(kinds, kind)
			r.Kinds = append(r.Kinds, cupel.ContextKind(names.text(observe.PartKind, string(kind), "kind", at)))
		}
		r.Rows = append(r.Rows, uint64(at), uint64(item.Tokens()), uint64(d.Place), uint64(d.Form), math.Float64bits(d.Score))
	}
	shown := Run{Budget: n.Budget}
	if names.Show >= observe.PartContent {
		shown.Items = n.Items
	}
	for i, item := range shown.Items {
		if n.Items[i], err = names.redacted(item, i, r.Kinds[r.Rows[columns*i]]); err != nil {
			return err
		}
	}
	r.Inputs, err = json.Marshal(shown)
	return err
}

// names replace texts that do not leave, if it may leave that texts are equal.
type names struct {
	*observe.Redaction
	of map[string]string // by what a text is, and the text
}

// text returns the part of a text that leaves, or a name for it.
func (n *names) text(part observe.Part, text, what string, at int) string {
	if shown, _ := n.Text(part, text); shown != "" {
		return shown
	}
	key := what + text
	if n.of[key] == "" || n.Show&observe.PartFields == 0 {
		n.of[key] = fmt.Sprint(what, " ", at)
	}
	return n.of[key]
}

// redacted returns the parts that leave of the candidate at a position.
func (n *names) redacted(item *cupel.ContextItem, at int, kind cupel.ContextKind) (*cupel.ContextItem, error) {
	var tags []string
	for _, tag := range item.AllTags() {
		if text, ok := n.Text(observe.PartTags, tag); ok {
			tags = append(tags, text)
		}
	}
	opts := []cupel.ItemOption{cupel.WithKind(kind), cupel.WithMetadata(n.metadata(item)), cupel.WithTags(tags...)}
	if source, _ := n.Text(observe.PartSource, string(item.Source())); source != "" {
		opts = append(opts, cupel.WithSource(cupel.ContextSource(source)))
	}
	if n.Show&observe.PartFields != 0 {
		opts = append(opts, n.fields(item, at)...)
	}
	return cupel.NewContextItem(n.text(observe.PartContent, item.Content(), "candidate", at), item.Tokens(), opts...)
}

// metadata returns the id and the metadata that leave, if they are texts, numbers or
// booleans.
func (n *names) metadata(item *cupel.ContextItem) map[string]any {
	all := make(map[string]any)
	part := observe.PartID
	for _, key := range append([]string{n.ID}, n.Metadata...) {
		value, _ := item.MetadataValue(key)
		if text, ok := item.MetadataText(key); ok {
			value, _ = n.Text(part, text)
		}
		text, err := json.Marshal(value)
		if n.Show&part != 0 && err == nil && !bytes.ContainsAny(text[:1], "[{n") { // lists, objects, null
			all[key] = value
		}
		part = observe.PartMetadata
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
	if t, ok := item.Timestamp(); ok && uint(t.Year()) < 10_000 { // JSON has no other years
		opts = append(opts, cupel.WithTimestamp(t))
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
