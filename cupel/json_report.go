package cupel

import (
	"encoding/json"

	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the report in the wire format of the SelectionReport
// chapter. It writes shortfalls and the overflow event only if there are any.
// It fails with an [EncodeError].
//
// For large reports call it directly: [json.Marshal] and [json.Encoder] check
// each byte of its result again, which takes longer than writing it.
func (r SelectionReport) MarshalJSON() ([]byte, error) {
	return marshalSized(r.wireSize(), r.write)
}

// wireSize estimates how many bytes the report takes in JSON, rather too many
// than too few.
func (r SelectionReport) wireSize() int {
	const (
		field = 24 // bytes for a name and a short value
		entry = 10 * field
	)
	size := field * field
	item := func(it *ContextItem) {
		if it != nil {
			size += entry + len(it.content) + len(it.content)/16 + field*(len(it.tags)+2*len(it.metadata))
		}
	}
	for _, e := range r.Events {
		size += 3*field + len(e.Message)
	}
	for _, i := range r.Included {
		item(i.Item)
	}
	for _, e := range r.Excluded {
		item(e.Item)
		if e.Reason.other != nil { // its content is part of the reason
			size += len(e.Reason.other.content)
		}
	}
	return size
}

func (r SelectionReport) write(w *jsonwire.Writer) {
	w.Object(func() {
		w.Field("events").Array(len(r.Events), func(i int) { r.Events[i].write(w) })
		w.Field("included").Array(len(r.Included), func(i int) { r.Included[i].write(w) })
		w.Field("excluded").Array(len(r.Excluded), func(i int) { r.Excluded[i].write(w) })
		w.Field("total_candidates").Int(r.TotalCandidates)
		w.Field("total_tokens_considered").Int(r.TotalTokensConsidered)
		if len(r.CountRequirementShortfalls) > 0 {
			w.Field("count_requirement_shortfalls").Array(len(r.CountRequirementShortfalls), func(i int) {
				r.CountRequirementShortfalls[i].write(w)
			})
		}
		if r.Overflow != nil {
			w.Field("overflow_event")
			r.Overflow.write(w)
		}
		r.extra.write(w)
	})
}

// UnmarshalJSON replaces r with a report that [SelectionReport.MarshalJSON] or
// another implementation wrote. It makes a new item for each place in which an
// item occurs. It fails with a [DecodeError].
func (r *SelectionReport) UnmarshalJSON(data []byte) error {
	return unmarshal(data, r, readReport)
}

var reportShape = jsonwire.NewShape(5, "events", "included", "excluded", "total_candidates", "total_tokens_considered",
	"count_requirement_shortfalls", "overflow_event")

func readReport(r *jsonwire.Reader, to *SelectionReport) {
	o := r.Object(reportShape)
	for o.Next() {
		switch o.Field {
		case 0:
			to.Events = readList(r, readEvent)
		case 1:
			to.Included = readList(r, readIncluded)
			markShared(to.Included)
		case 2:
			to.Excluded = readList(r, readExcluded)
		case 3:
			to.TotalCandidates = r.Int()
		case 4:
			to.TotalTokensConsidered = r.Int()
		case 5:
			to.CountRequirementShortfalls = readList(r, readShortfall)
		case 6:
			to.Overflow = new(OverflowEvent)
			readOverflow(r, to.Overflow)
		}
	}
	to.extra = extraOf(&o)
}

// MarshalJSON returns the item, its score and its reason in the wire format of
// the SelectionReport chapter. It fails with an [EncodeError].
func (i IncludedItem) MarshalJSON() ([]byte, error) {
	return marshal(i.write)
}

func (i IncludedItem) write(w *jsonwire.Writer) {
	var extra includedExtra
	if i.extra != nil {
		extra = *i.extra
	}
	w.Object(func() {
		w.Field("item")
		i.Item.write(w)
		w.Field("score").Float(i.Score)
		w.Field("reason")
		inclusion{i.Reason, extra.reason}.write(w)
		i.at.write(w)
		extra.item.write(w)
	})
}

// UnmarshalJSON reads an included item. It fails with a [DecodeError].
func (i *IncludedItem) UnmarshalJSON(data []byte) error {
	return unmarshal(data, i, readIncluded)
}

// The shapes of included and of excluded items.
var (
	includedShape = jsonwire.NewShape(3, "item", "score", "reason", "candidate", "stale", "form")
	excludedShape = jsonwire.NewShape(3, "item", "score", "reason", "candidate", "stale")
)

// write writes the fields that runs with units add to entries.
func (o origin) write(w *jsonwire.Writer) {
	if o&originHasAt != 0 {
		w.Field("candidate").Int(o.candidate())
	}
	if o&originHasForm != 0 {
		w.Field("form").Int(o.form())
	}
	if o&originHasStale != 0 {
		w.Field("stale").Bool(o&originStale != 0)
	}
}

// read reads one of the fields that runs with units add.
func (o *origin) read(r *jsonwire.Reader, field int) {
	const candidate, stale = 3, 4
	switch field {
	case candidate:
		n := r.Int()
		if n < 0 || uint64(n) >= 1<<originForm-1 {
			r.Fail("", "must be a position among the candidates, from 0", nil)
			return
		}
		*o = o.in(n) | originHasAt
	case stale:
		*o = o.withStale(r.Bool())
	default:
		n := r.Int()
		if n < 0 || n > maxForm {
			r.Fail("", "must be the number of a form, from 0", nil)
			return
		}
		*o = o.withForm(n)
	}
}

// markShared finds the entries of members that a group variant stands for, which
// JSON does not mark: the entry before has the same form of the same group.
func markShared(included []IncludedItem) {
	for i := 1; i < len(included); i++ {
		e, before := &included[i], &included[i-1]
		if e.Form() == 0 || before.Form() == 0 || e.Item == nil || before.Item == nil || e.Item.tokens != 0 {
			continue
		}
		first, item := before.Item, e.Item
		if first.Group() == "" || first.Group() != item.Group() || first.content != item.content {
			continue
		}
		full, ok := first.OriginalTokens()
		if own, has := item.OriginalTokens(); ok == has && full == own {
			e.at |= originShared
		}
	}
}

func readIncluded(r *jsonwire.Reader, to *IncludedItem) {
	var reason inclusion
	o := r.Object(includedShape)
	for o.Next() {
		switch o.Field {
		case 0:
			readItemPointer(r, &to.Item)
		case 1:
			to.Score = r.Float()
		case 2:
			readInclusion(r, &reason)
		default:
			to.at.read(r, o.Field)
		}
	}
	to.Reason = reason.reason
	if extra := extraOf(&o); extra != nil || reason.extra != nil {
		to.extra = &includedExtra{item: extra, reason: reason.extra}
	}
}

// MarshalJSON returns the item, its score and its reason in the wire format of
// the SelectionReport chapter. It fails with an [EncodeError].
func (e ExcludedItem) MarshalJSON() ([]byte, error) {
	return marshal(e.write)
}

func (e ExcludedItem) write(w *jsonwire.Writer) {
	w.Object(func() {
		w.Field("item")
		e.Item.write(w)
		w.Field("score").Float(e.Score)
		w.Field("reason")
		e.Reason.write(w)
		e.at.write(w)
		e.extra.write(w)
	})
}

// UnmarshalJSON reads an excluded item. It fails with a [DecodeError].
func (e *ExcludedItem) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, readExcluded)
}

func readExcluded(r *jsonwire.Reader, to *ExcludedItem) {
	o := r.Object(excludedShape)
	for o.Next() {
		switch o.Field {
		case 0:
			readItemPointer(r, &to.Item)
		case 1:
			to.Score = r.Float()
		case 2:
			readReason(r, &to.Reason)
		default:
			to.at.read(r, o.Field)
		}
	}
	to.extra = extraOf(&o)
}

// MarshalJSON returns the event in the wire format of the Events chapter. It
// fails with an [EncodeError].
func (e TraceEvent) MarshalJSON() ([]byte, error) {
	return marshal(e.write)
}

func (e TraceEvent) write(w *jsonwire.Writer) {
	w.Object(func() {
		w.Field("stage").String(string(e.Stage))
		w.Field("duration_ms").Float(e.DurationMS)
		w.Field("item_count").Int(e.ItemCount)
		if e.Message != "" {
			w.Field("message").String(e.Message)
			e.extra.write(w, "message")
			return
		}
		e.extra.write(w)
	})
}

// UnmarshalJSON reads an event of any stage. It fails with a [DecodeError].
func (e *TraceEvent) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, readEvent)
}

var eventShape = jsonwire.NewShape(3, "stage", "duration_ms", "item_count", "message")

func readEvent(r *jsonwire.Reader, to *TraceEvent) {
	empty := false
	o := r.Object(eventShape)
	for o.Next() {
		switch o.Field {
		case 0:
			to.Stage = PipelineStage(r.Word())
		case 1:
			to.DurationMS = r.Float()
		case 2:
			to.ItemCount = r.Int()
		case 3:
			if to.Message = r.String(); to.Message == "" {
				empty = true
			}
		}
	}
	to.extra = extraOf(&o)
	if empty { // an event that was built here has no such field
		to.extra = to.extra.insert(0, extraField{"message", json.RawMessage(`""`)})
	}
}

// MarshalJSON returns the event in the wire format of the Events chapter. It
// fails with an [EncodeError].
func (e OverflowEvent) MarshalJSON() ([]byte, error) {
	return marshal(e.write)
}

func (e OverflowEvent) write(w *jsonwire.Writer) {
	w.Object(func() {
		w.Field("tokens_over_budget").Int(e.TokensOverBudget)
		w.Field("overflowing_items").Array(len(e.OverflowingItems), func(i int) { e.OverflowingItems[i].write(w) })
		w.Field("budget")
		e.Budget.write(w)
		e.extra.write(w)
	})
}

// UnmarshalJSON reads an overflow event. It fails with a [DecodeError].
func (e *OverflowEvent) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, readOverflow)
}

var overflowShape = jsonwire.NewShape(3, "tokens_over_budget", "overflowing_items", "budget")

func readOverflow(r *jsonwire.Reader, to *OverflowEvent) {
	o := r.Object(overflowShape)
	for o.Next() {
		switch o.Field {
		case 0:
			to.TokensOverBudget = r.Int()
		case 1:
			to.OverflowingItems = readList(r, readItemPointer)
		case 2:
			readBudget(r, &to.Budget)
		}
	}
	to.extra = extraOf(&o)
}

// MarshalJSON returns the shortfall as an object with kind, required_count and
// satisfied_count. It fails with an [EncodeError].
func (s CountRequirementShortfall) MarshalJSON() ([]byte, error) {
	return marshal(s.write)
}

func (s CountRequirementShortfall) write(w *jsonwire.Writer) {
	w.Object(func() {
		w.Field("kind").String(string(s.Kind))
		w.Field("required_count").Int(s.RequiredCount)
		w.Field("satisfied_count").Int(s.SatisfiedCount)
		s.extra.write(w)
	})
}

// UnmarshalJSON reads a shortfall. It fails with a [DecodeError].
func (s *CountRequirementShortfall) UnmarshalJSON(data []byte) error {
	return unmarshal(data, s, readShortfall)
}

var shortfallShape = jsonwire.NewShape(3, "kind", "required_count", "satisfied_count")

func readShortfall(r *jsonwire.Reader, to *CountRequirementShortfall) {
	o := r.Object(shortfallShape)
	for o.Next() {
		switch o.Field {
		case 0:
			to.Kind = ContextKind(r.Word()).Canonical()
		case 1:
			to.RequiredCount = r.Int()
		case 2:
			to.SatisfiedCount = r.Int()
		}
	}
	to.extra = extraOf(&o)
}
