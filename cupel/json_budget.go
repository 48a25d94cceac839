package cupel

import (
	"math"

	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the budget as an object with the field names of the
// ContextBudget chapter. It always writes maxTokens and targetTokens, and other
// fields if they are not 0 or empty. Reserved slots come in the order of their
// kinds under ASCII case folding.
func (b ContextBudget) MarshalJSON() ([]byte, error) { return marshal(b.wire) }

// UnmarshalJSON reads a budget that [ContextBudget.MarshalJSON] or another
// implementation wrote, and checks it as [NewContextBudget] does. It fails with
// a [DecodeError].
func (b *ContextBudget) UnmarshalJSON(data []byte) error {
	return unmarshal(data, b, (*ContextBudget).wire)
}

func (b *ContextBudget) wire(c *jsonwire.Codec) {
	c.Object(func() {
		c.Required("maxTokens").Int(&b.maxTokens)
		c.Required("targetTokens").Int(&b.targetTokens)
		c.Optional("outputReserve", b.outputReserve != 0).Int(&b.outputReserve)
		b.wireSlots(c.Optional("reservedSlots", len(b.slots) > 0))
		c.Optional("estimationSafetyMarginPercent", math.Float64bits(b.marginPercent) != 0).Float(&b.marginPercent) // -0.0 is written too
		wireExtra(c, &b.extra)
	})
	if c.R == nil {
		return
	}
	if c.R.Fault == nil {
		if invalid, ok := compat.AsType[*InvalidBudgetError](b.validate()); ok {
			c.R.Fail(invalid.Field, invalid.Reason)
		}
	}
	if fault := c.R.Fault; fault != nil && fault.Path != "" {
		fault.Err = &InvalidBudgetError{fault.Path, fault.Reason}
	}
}

// wireSlots leaves kinds that are given twice for the budget to find.
func (b *ContextBudget) wireSlots(c *jsonwire.Codec) {
	if c.R != nil {
		var slots []reservedSlot
		c.R.Map(func(kind string) { slots = append(slots, reservedSlot{ContextKind(kind).Canonical(), c.R.Int()}) })
		(*budgetDraft)(b).setSlots(slots)
	}
	if c.W == nil {
		return
	}
	c.W.Object(func() {
		for _, s := range b.slots {
			c.W.Key(string(s.kind)).Int(s.tokens)
		}
	})
}
