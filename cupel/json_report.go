package cupel

import "github.com/wollax/cupel-go/cupel/internal/jsonwire"

// MarshalJSON returns the report in the wire format of the SelectionReport
// chapter. Shortfalls and the overflow event are there when there are any. It
// fails with an [EncodeError].
func (r SelectionReport) MarshalJSON() ([]byte, error) {
	return marshal(r.write)
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

// UnmarshalJSON reads a report that [SelectionReport.MarshalJSON] or another
// implementation wrote, in place of what r held. Its items are new ones, one
// for each place in which an item occurs. It fails with a [DecodeError].
func (r *SelectionReport) UnmarshalJSON(data []byte) error {
	return unmarshal(data, r, readReport)
}

func readReport(raw []byte) (SelectionReport, error) {
	o := readObject(raw)
	r := SelectionReport{
		Events:                required(o, "events", listOf(readEvent)),
		Included:              required(o, "included", listOf(readIncluded)),
		Excluded:              required(o, "excluded", listOf(readExcluded)),
		TotalCandidates:       required(o, "total_candidates", jsonwire.Int),
		TotalTokensConsidered: required(o, "total_tokens_considered", jsonwire.Int),
	}
	r.CountRequirementShortfalls, _ = optional(o, "count_requirement_shortfalls", listOf(readShortfall))
	if e, ok := optional(o, "overflow_event", readOverflow); ok {
		r.Overflow = &e
	}
	r.extra = o.extra()
	return r, o.done()
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
		extra.item.write(w)
	})
}

// UnmarshalJSON reads an included item. It fails with a [DecodeError].
func (i *IncludedItem) UnmarshalJSON(data []byte) error {
	return unmarshal(data, i, readIncluded)
}

func readIncluded(raw []byte) (IncludedItem, error) {
	o := readObject(raw)
	i := IncludedItem{
		Item:  required(o, "item", readItem),
		Score: required(o, "score", jsonwire.Float),
	}
	reason := required(o, "reason", readInclusion)
	i.Reason = reason.reason
	if extra := o.extra(); extra != nil || reason.extra != nil {
		i.extra = &includedExtra{item: extra, reason: reason.extra}
	}
	return i, o.done()
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
		e.extra.write(w)
	})
}

// UnmarshalJSON reads an excluded item. It fails with a [DecodeError].
func (e *ExcludedItem) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, readExcluded)
}

func readExcluded(raw []byte) (ExcludedItem, error) {
	o := readObject(raw)
	e := ExcludedItem{
		Item:   required(o, "item", readItem),
		Score:  required(o, "score", jsonwire.Float),
		Reason: required(o, "reason", readReason),
	}
	e.extra = o.extra()
	return e, o.done()
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
		}
		e.extra.write(w)
	})
}

// UnmarshalJSON reads an event of any stage. It fails with a [DecodeError].
func (e *TraceEvent) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, readEvent)
}

func readEvent(raw []byte) (TraceEvent, error) {
	o := readObject(raw)
	e := TraceEvent{
		Stage:      required(o, "stage", readName[PipelineStage]),
		DurationMS: required(o, "duration_ms", jsonwire.Float),
		ItemCount:  required(o, "item_count", jsonwire.Int),
	}
	e.Message, _ = optional(o, "message", jsonwire.String)
	e.extra = o.extra()
	return e, o.done()
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

func readOverflow(raw []byte) (OverflowEvent, error) {
	o := readObject(raw)
	e := OverflowEvent{
		TokensOverBudget: required(o, "tokens_over_budget", jsonwire.Int),
		OverflowingItems: required(o, "overflowing_items", listOf(readItem)),
		Budget:           required(o, "budget", readBudget),
	}
	e.extra = o.extra()
	return e, o.done()
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

func readShortfall(raw []byte) (CountRequirementShortfall, error) {
	o := readObject(raw)
	s := CountRequirementShortfall{
		Kind:           required(o, "kind", readKind),
		RequiredCount:  required(o, "required_count", jsonwire.Int),
		SatisfiedCount: required(o, "satisfied_count", jsonwire.Int),
	}
	s.extra = o.extra()
	return s, o.done()
}
