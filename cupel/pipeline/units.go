package pipeline

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/inside"
	"github.com/wollax/cupel-go/cupel/internal/value"
)

// data is what package cupel shares with this package.
var data = inside.Cupel.(interface {
	Columns(items []*cupel.ContextItem, to *engine.Columns, always bool) (invalid int)
	StandIn(first *cupel.ContextItem, kind cupel.ContextKind, tokens int, pinned bool, members []*cupel.ContextItem, forms, older []engine.Form) *cupel.ContextItem
	Smaller(whole *cupel.ContextItem, content string, tokens, full int) *cupel.ContextItem
	UnitField(it *cupel.ContextItem) string
	Reason(code cupel.ExclusionCode, tokens, available int, other *cupel.ContextItem) cupel.ExclusionReason
	AppendReason(b []byte, r *cupel.ExclusionReason) []byte
	AppendIncluded(b []byte, e *cupel.IncludedItem) []byte
})

// makeStandIns makes what strategies see of groups.
func (k *ranked) makeStandIns(items []*cupel.ContextItem) {
	k.standIns = resize(k.standIns, k.set.NumUnits())
	clear(k.standIns)
	for i := range k.standIns {
		u := engine.Unit(i)
		if !k.set.IsGroup(u) || k.set.IsOut(u) {
			continue
		}
		candidates := k.set.Members(u)
		members := make([]*cupel.ContextItem, len(candidates))
		for n, c := range candidates {
			members[n] = items[c]
		}
		k.standIns[i] = data.StandIn(members[0], kindOf(members), k.set.TokensOf(u), k.set.IsPinned(u), members, k.set.Forms(u), nil)
	}
}

// standIn returns what strategies see of a unit in full.
func (k *ranked) standIn(u engine.Unit, items []*cupel.ContextItem) *cupel.ContextItem {
	if k.set.IsGroup(u) {
		return k.standIns[u]
	}
	return items[k.set.Place(u)]
}

// seenAs returns what slicers see of a unit: with the older versions that may come
// back in its place.
func (k *ranked) seenAs(u engine.Unit, items []*cupel.ContextItem) *cupel.ContextItem {
	item := k.standIn(u, items)
	older := k.ranking.Older(u)
	if len(older) == 0 {
		return item
	}
	forms := make([]engine.Form, len(older))
	for i, c := range older {
		forms[i] = engine.Form{Tokens: items[c].Tokens(), Worth: k.ranking.ScoreOfCandidate(c)}
	}
	return data.StandIn(item, item.Kind(), item.Tokens(), item.Pinned(), nil, k.set.Forms(u), forms)
}

// kindOf returns the kind of most of the tokens, of equal ones the first.
func kindOf(members []*cupel.ContextItem) cupel.ContextKind {
	type share struct {
		kind   cupel.ContextKind
		tokens exact.Sum
	}
	var shares []share
	at := make(map[string]int)
	for _, m := range members {
		i, ok := at[m.Kind().Key()]
		if !ok {
			i = len(shares)
			at[m.Kind().Key()] = i
			shares = append(shares, share{kind: m.Kind()})
		}
		shares[i].tokens.Add(m.Tokens())
	}
	best := 0
	for i := range shares {
		if shares[i].tokens.Minus(shares[best].tokens).Greater(0) {
			best = i
		}
	}
	return shares[best].kind
}

// placed is a merged unit as it appears in the window.
type placed struct {
	items []*cupel.ContextItem // of the window
	made  *engine.Made         // nil where all are full
}

// makeWindowItems makes the items of the merged units, and what the placer sees of
// them.
func (r *run) makeWindowItems(ctx context.Context) error {
	n := len(r.choice.Merged)
	r.merged, r.placed = resize(r.merged, n), resize(r.placed, n)
	for i := range r.choice.Merged {
		m := &r.choice.Merged[i]
		item, err := r.materialise(ctx, m, &r.placed[i])
		if err != nil {
			return err
		}
		r.merged[i] = cupel.ScoredItem{Item: item, Score: m.Score}
	}
	return nil
}

// materialise makes the items of a merged unit, and returns what the placer sees of
// it.
func (r *run) materialise(ctx context.Context, m *engine.Chosen, to *placed) (*cupel.ContextItem, error) {
	to.made = nil
	group := m.Unit != engine.None && r.set.IsGroup(m.Unit)
	if !group && m.Form == 0 { // the usual case
		to.items = r.items[m.Candidate : m.Candidate+1 : m.Candidate+1]
		return to.items[0], nil
	}
	made := r.set.Make(m.Unit, m.Form)
	to.made = &made
	candidates := r.set.Members(m.Unit)
	if to.made.Group > 0 {
		var full exact.Sum
		for _, c := range candidates {
			full.Add(r.items[c].Tokens())
		}
		variants := r.items[to.made.From].GroupVariants()
		item, err := r.smaller(ctx, candidates[0], &variants[to.made.Group-1], full.Int(), "groupVariants", to.made.Group)
		if err != nil {
			return nil, err
		}
		to.items = []*cupel.ContextItem{item}
	} else {
		to.items = make([]*cupel.ContextItem, len(candidates))
		for i, c := range candidates {
			to.items[i] = r.items[c]
			if n := to.made.FormOf(i); n > 0 {
				item, err := r.smaller(ctx, c, &r.items[c].Variants()[n-1], r.items[c].Tokens(), "variants", n)
				if err != nil {
					return nil, err
				}
				to.items[i] = item
			}
		}
	}
	if !group {
		return to.items[0], nil
	}
	whole := r.standIns[m.Unit]
	if to.made.Forms == nil {
		return whole, nil
	}
	return data.StandIn(to.items[0], whole.Kind(), m.Tokens, whole.Pinned(), whole.Members(), r.set.Forms(m.Unit), nil), nil
}

// smaller makes a smaller form of a candidate. full is the tokens of what the form
// stands for.
func (r *run) smaller(ctx context.Context, c engine.Candidate, v *cupel.Variant, full int, field string, n int32) (*cupel.ContextItem, error) {
	content := v.Content
	if v.Make != nil {
		var err error
		if content, err = makeContent(ctx, v.Make); err != nil || content == "" {
			return nil, &ContentError{Index: int(c), Field: fmt.Sprintf("%s[%d]", field, n-1), Err: err}
		}
	}
	return data.Smaller(r.items[c], content, v.Tokens, full), nil
}

// makeContent calls a Make function of the caller.
func makeContent(ctx context.Context, produce func(context.Context) (string, error)) (content string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &cupel.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	content, err = produce(ctx)
	if err != nil && value.IsNil(err) {
		err = fmt.Errorf("failed with a nil %T", err)
	}
	return content, err
}

// listIncluded lists what is in the window, in placed order.
func (r *run) listIncluded() []cupel.IncludedItem {
	list := make([]cupel.IncludedItem, 0, len(r.order))
	for _, at := range r.order {
		list = r.include(list, &r.choice.Merged[at], &r.placed[at])
	}
	return list
}

// include lists the members of a merged unit, each with its own entry.
func (r *run) include(list []cupel.IncludedItem, m *engine.Chosen, p *placed) []cupel.IncludedItem {
	var empty *cupel.ContextItem // the group form without tokens
	for i, c := range r.choice.CandidatesOf(m) {
		full := r.items[c]
		e := cupel.IncludedItem{
			Item: full, Score: m.Score, Reason: cupel.IncludeScored,
			Candidate: r.position(c), Form: int(p.made.FormOf(i)), Stale: r.set.IsStale(c), Units: r.columns.Links != nil,
		}
		switch {
		case r.set.IsPinned(r.set.UnitOf(c)): // before the tokens are checked (R26)
			e.Reason = cupel.IncludePinned
		case full.Tokens() == 0:
			e.Reason = cupel.IncludeZeroToken
		}
		switch {
		case p.made == nil || p.made.Group == 0:
			e.Item = p.items[i]
		case i == 0:
			e.Item, e.Form = p.items[0], len(full.Variants())+int(p.made.Group)
		default:
			if empty == nil {
				empty = data.Smaller(p.items[0], p.items[0].Content(), 0, 0)
			}
			e.Item, e.Form, e.Shared = empty, len(full.Variants())+int(p.made.Group), true
		}
		list = append(list, e)
	}
	return list
}

// position returns the number of a candidate in the report.
func (r *run) position(c engine.Candidate) int {
	if r.arrivals != nil {
		return r.arrivals[c]
	}
	return int(c)
}

// candidatesOf returns the positions of what the merged units stand for.
func (r *run) candidatesOf(merged []engine.Chosen) []int {
	positions := make([]int, 0, len(merged))
	for i := range merged {
		for _, c := range r.choice.CandidatesOf(&merged[i]) {
			positions = append(positions, int(c))
		}
	}
	return positions
}
