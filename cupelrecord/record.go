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

// itemParts are those that a record has only where the redaction shows them.
const itemParts = observe.PartContent | observe.PartID | observe.PartSource | observe.PartTags | observe.PartMetadata | observe.PartGroup | observe.PartFields

// record is what a segment has of a run.
type record struct {
	Header
	End    bool   // there is no run, and Number is that of the next one
	Budget []byte // in JSON
	Kinds  []cupel.ContextKind
	Items  []byte // as redactedItems returns them

	// Of each candidate in turn: a position in Kinds, the tokens, the place and the form
	// as varints, and the score in 8 bytes, in little-endian order.
	KindOf, Tokens, Places, Forms, Scores []byte
}

// encodeRun makes the frame of a run.
func (w *writer) encodeRun(n *run) (err error) {
	defer func() {
		if v := recover(); v != nil { // of the function that rewrites; not the value, which may quote an item
			err = fmt.Errorf("the redaction panicked with a %T", v)
		}
	}()
	redaction := &w.config.Redaction
	r := &w.record
	*r = record{KindOf: r.KindOf[:0], Tokens: r.Tokens[:0], Places: r.Places[:0], Forms: r.Forms[:0], Scores: r.Scores[:0], Header: Header{
		Process: w.process, Number: n.number, Clock: n.info.Start.UTC(), Trace: n.trace,
		Shows: redaction.Show & itemParts, ID: redaction.ID, Metadata: redaction.Metadata,
	}}
	r.Pipeline, _ = redaction.Text(observe.PartPipeline, n.info.Pipeline)
	r.PolicyHash, _ = redaction.Text(observe.PartPipeline, n.info.PolicyHash)
	if r.Budget, err = json.Marshal(n.info.Budget); err != nil {
		return err
	}
	if r.Items, err = redactedItems(redaction, n.items); err != nil {
		return err
	}
	for i, d := range n.decisions {
		item := n.items[i]
		at := slices.Index(r.Kinds, item.Kind())
		if at < 0 {
			at = len(r.Kinds)
			r.Kinds = append(r.Kinds, item.Kind())
		}
		r.KindOf = binary.AppendUvarint(r.KindOf, uint64(at))
		r.Tokens = binary.AppendUvarint(r.Tokens, uint64(item.Tokens()))
		r.Places = binary.AppendUvarint(r.Places, uint64(d.Place))
		r.Forms = binary.AppendUvarint(r.Forms, uint64(d.Form))
		r.Scores = binary.LittleEndian.AppendUint64(r.Scores, math.Float64bits(d.Score))
	}
	for i, kind := range r.Kinds {
		r.Kinds[i] = redactedKind(redaction, kind)
	}
	return w.encode(r)
}

// redactedKind returns what leaves of a kind. An item must have one.
func redactedKind(redaction *observe.Redaction, kind cupel.ContextKind) cupel.ContextKind {
	text, _ := redaction.Text(observe.PartKind, string(kind))
	if kind = cupel.ContextKind(text); kind.IsBlank() {
		return "redacted"
	}
	return kind
}

// redactedItems returns the candidates with what leaves of them, as a list in JSON: an
// item that is there again is the position of the first one. They are nothing if no more of
// an item is shown than of each.
func redactedItems(redaction *observe.Redaction, items []*cupel.ContextItem) ([]byte, error) {
	if redaction.Show&itemParts == 0 {
		return nil, nil
	}
	first := make(map[*cupel.ContextItem]int, len(items))
	names := names{redaction, make(map[name]string)}
	list := make([]any, len(items))
	for i, item := range items {
		if at, again := first[item]; again && redaction.Show&observe.PartFields != 0 {
			list[i] = at
			continue
		}
		first[item] = i
		redacted, err := names.redacted(item, i)
		if err != nil {
			return nil, err
		}
		list[i] = redacted
	}
	return json.Marshal(list)
}

// names stand for texts that do not leave, where it does that texts are alike.
type names struct {
	*observe.Redaction
	of map[name]string
}

type name struct {
	part observe.Part
	text string
}

// text returns what leaves of a text, or a name for it.
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

// redacted returns what leaves of the candidate at a position.
func (n *names) redacted(item *cupel.ContextItem, at int) (*cupel.ContextItem, error) {
	opts := []cupel.ItemOption{cupel.WithKind(redactedKind(n.Redaction, item.Kind())), cupel.WithMetadata(n.metadata(item))}
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
	add := func(part observe.Part, key string) {
		value, ok := item.MetadataValue(key)
		if !ok || n.Show&part == 0 {
			return
		}
		if text, ok := item.MetadataText(key); ok {
			value, _ = n.Text(part, text)
		}
		if text, err := json.Marshal(value); err == nil && text[0] != '[' && text[0] != '{' {
			all[key] = value
		}
	}
	for _, key := range n.Metadata {
		add(observe.PartMetadata, key)
	}
	if n.ID != "" {
		add(observe.PartID, n.ID)
	}
	return all
}

// fields returns what strategies read of an item but texts.
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
	if forms := item.Variants(); len(forms) > 0 {
		opts = append(opts, cupel.WithVariants(n.forms(forms)...))
	}
	if forms := item.GroupVariants(); len(forms) > 0 {
		opts = append(opts, cupel.WithGroupVariants(n.forms(forms)...))
	}
	return opts
}

// forms returns smaller forms with what leaves of their contents.
func (n *names) forms(forms []cupel.Variant) []cupel.Variant {
	for i, f := range forms { // without fields that Cupel does not know
		forms[i] = cupel.Variant{Content: n.text(observe.PartContent, f.Content, "form", i+1), Tokens: f.Tokens, Worth: f.Worth}
	}
	return forms
}
