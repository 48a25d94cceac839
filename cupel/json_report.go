package cupel

import (
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the report in the wire format of the SelectionReport
// chapter. It writes shortfalls and the overflow event only if there are any.
// It fails with an [EncodeError].
//
// For large reports call it directly: [json.Marshal] and [json.Encoder] check
// each byte of its result again, which takes longer than writing it.
func (r SelectionReport) MarshalJSON() ([]byte, error) { return marshal(r.wire) }

// UnmarshalJSON replaces r with a report that [SelectionReport.MarshalJSON] or
// another implementation wrote. It makes a new item for each place in which an
// item occurs. It fails with a [DecodeError].
func (r *SelectionReport) UnmarshalJSON(data []byte) error {
	return unmarshal(data, r, (*SelectionReport).wire)
}

func (r *SelectionReport) wire(c *jsonwire.Codec) {
	c.Object(func() {
		jsonwire.List(c.Required("events"), &r.Events, (*TraceEvent).wire)
		jsonwire.List(c.Required("included"), &r.Included, (*IncludedItem).wire)
		jsonwire.List(c.Required("excluded"), &r.Excluded, (*ExcludedItem).wire)
		c.Required("total_candidates").Int(&r.TotalCandidates)
		c.Required("total_tokens_considered").Int(&r.TotalTokensConsidered)
		jsonwire.List(c.Optional("count_requirement_shortfalls", len(r.CountRequirementShortfalls) > 0), &r.CountRequirementShortfalls, (*CountRequirementShortfall).wire)
		overflow := c.Optional("overflow_event", r.Overflow != nil)
		if overflow.R != nil {
			r.Overflow = new(OverflowEvent)
		}
		r.Overflow.wire(overflow)
		wireExtra(c, &r.extra)
	})
	if c.R != nil {
		markShared(r.Included)
	}
}

// MarshalJSON returns the item, its score and its reason in the wire format of
// the SelectionReport chapter. It fails with an [EncodeError].
func (i IncludedItem) MarshalJSON() ([]byte, error) { return marshal(i.wire) }

// UnmarshalJSON reads an included item. It fails with a [DecodeError].
func (i *IncludedItem) UnmarshalJSON(data []byte) error {
	return unmarshal(data, i, (*IncludedItem).wire)
}

func (i *IncludedItem) wire(c *jsonwire.Codec) {
	if c.R != nil {
		i.Candidate = -1 // until it is read
	}
	c.Object(func() {
		wireItem(&i.Item, c.Required("item"))
		c.Required("score").Float(&i.Score)
		c.Required("reason").Object(func() {
			jsonwire.Text(&i.Reason, c.Required("reason"))
			wireExtra(c, &i.reasonExtra)
		})
		wirePlace(c, &i.Candidate, &i.Form, &i.Stale, &i.Units)
		wireExtra(c, &i.extra)
	})
}

// MarshalJSON returns the item, its score and its reason in the wire format of
// the SelectionReport chapter. It fails with an [EncodeError].
func (e ExcludedItem) MarshalJSON() ([]byte, error) { return marshal(e.wire) }

// UnmarshalJSON reads an excluded item. It fails with a [DecodeError].
func (e *ExcludedItem) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, (*ExcludedItem).wire)
}

func (e *ExcludedItem) wire(c *jsonwire.Codec) {
	if c.R != nil {
		e.Candidate = -1 // until it is read
	}
	c.Object(func() {
		wireItem(&e.Item, c.Required("item"))
		c.Required("score").Float(&e.Score)
		e.Reason.wire(c.Required("reason"))
		wirePlace(c, &e.Candidate, nil, &e.Stale, &e.Units)
		wireExtra(c, &e.extra)
	})
}

// MarshalJSON returns the event in the wire format of the Events chapter. It
// fails with an [EncodeError].
func (e TraceEvent) MarshalJSON() ([]byte, error) { return marshal(e.wire) }

// UnmarshalJSON reads an event of any stage. It fails with a [DecodeError].
func (e *TraceEvent) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, (*TraceEvent).wire)
}

func (e *TraceEvent) wire(c *jsonwire.Codec) {
	c.Object(func() {
		jsonwire.Text(&e.Stage, c.Required("stage"))
		c.Required("duration_ms").Float(&e.DurationMS)
		c.Required("item_count").Int(&e.ItemCount)
		message := c.Optional("message", e.Message != "" || e.extra.has("message"))
		jsonwire.Text(&e.Message, message)
		if message.R != nil && e.Message == "" {
			e.extra = &extraFields{{Name: "message"}} // to be written back; an event that was built here has none
		}
		wireExtra(c, &e.extra, "message")
	})
}

// MarshalJSON returns the event in the wire format of the Events chapter. It
// fails with an [EncodeError].
func (e OverflowEvent) MarshalJSON() ([]byte, error) { return marshal(e.wire) }

// UnmarshalJSON reads an overflow event. It fails with a [DecodeError].
func (e *OverflowEvent) UnmarshalJSON(data []byte) error {
	return unmarshal(data, e, (*OverflowEvent).wire)
}

func (e *OverflowEvent) wire(c *jsonwire.Codec) {
	c.Object(func() {
		c.Required("tokens_over_budget").Int(&e.TokensOverBudget)
		jsonwire.List(c.Required("overflowing_items"), &e.OverflowingItems, wireItem)
		e.Budget.wire(c.Required("budget"))
		wireExtra(c, &e.extra)
	})
}

// MarshalJSON returns the shortfall as an object with kind, required_count and
// satisfied_count. It fails with an [EncodeError].
func (s CountRequirementShortfall) MarshalJSON() ([]byte, error) { return marshal(s.wire) }

// UnmarshalJSON reads a shortfall. It fails with a [DecodeError].
func (s *CountRequirementShortfall) UnmarshalJSON(data []byte) error {
	return unmarshal(data, s, (*CountRequirementShortfall).wire)
}

func (s *CountRequirementShortfall) wire(c *jsonwire.Codec) {
	c.Object(func() {
		wireKind(&s.Kind, c.Required("kind"))
		c.Required("required_count").Int(&s.RequiredCount)
		c.Required("satisfied_count").Int(&s.SatisfiedCount)
		wireExtra(c, &s.extra)
	})
}

// wirePlace reads or writes what runs with units add to an entry. form is nil for
// an entry without one.
func wirePlace(c *jsonwire.Codec, candidate, form *int, stale, units *bool) {
	written := *units
	number := func(name, reason string, to *int) {
		field := c.Optional(name, written && *to >= 0) // a summary is no candidate
		if field.Int(to); field.R == nil {
			return
		}
		if *units = true; *to < 0 {
			c.R.Fail("", reason)
		}
	}
	number("candidate", "must be a position among the candidates, from 0", candidate)
	if form != nil {
		number("form", "must be the number of a form, from 0", form)
	}
	field := c.Optional("stale", written)
	if field.Bool(stale); field.R != nil {
		*units = true
	}
}

// markShared finds the entries of members that a group variant stands for, which
// JSON does not mark: the entry before has the same form of the same group.
func markShared(included []IncludedItem) {
	for i := 1; i < len(included); i++ {
		e, before := &included[i], &included[i-1]
		if e.Form == 0 || before.Form == 0 || e.Item == nil || before.Item == nil || e.Item.tokens != 0 {
			continue
		}
		first, item := before.Item, e.Item
		if first.Group() == "" || first.Group() != item.Group() || first.content != item.content {
			continue
		}
		full, ok := first.OriginalTokens()
		if own, has := item.OriginalTokens(); ok == has && full == own {
			e.Shared = true
		}
	}
}
