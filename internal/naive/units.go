package naive

import (
	"context"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// unit is a group, or an item without one.
type unit struct {
	members    []*item // in the order of the candidates
	grouped    bool
	pinned     bool // the caller pinned a member
	score      float64
	chain      []form // form 0 first
	form       int    // the position in chain that was chosen
	superseded bool
	older      []*unit
}

// form is a form of a unit.
type form struct {
	tokens       int
	worth        float64
	at           []int         // the variant of each member, from 1; 0 is full
	groupVariant *groupVariant // the form that replaces all members; nil for none
}

// groupVariant is a group variant with its position, from 1.
type groupVariant struct {
	cupel.Variant
	number int
}

// unitsOf returns the units of a list by place.
func unitsOf(items []*item) []*unit {
	var units []*unit
	for _, it := range items {
		group := it.ref.Group()
		i := slices.IndexFunc(units, func(u *unit) bool { return group != "" && u.members[0].ref.Group() == group })
		if i < 0 {
			units = append(units, &unit{grouped: group != ""})
			i = len(units) - 1
		}
		it.unit = units[i]
		it.unit.members = append(it.unit.members, it)
		it.unit.pinned = it.unit.pinned || it.ref.Pinned()
		if !it.ref.Pinned() {
			it.variants = withContent(it.ref.Variants())
		}
	}
	return units
}

// withContent leaves out the variants that were read without their content.
func withContent(variants []cupel.Variant) []cupel.Variant {
	return slices.DeleteFunc(slices.Clone(variants), func(v cupel.Variant) bool { return v.Content == "" && v.Make == nil })
}

func (u *unit) place() int  { return u.members[0].position }
func (u *unit) tokens() int { return u.chain[u.form].tokens }

func countMembers(units []*unit) int {
	n := 0
	for _, u := range units {
		n += len(u.members)
	}
	return n
}

// sumTokens is the sum of the units' tokens in their forms.
func sumTokens(units []*unit) sum {
	var total sum
	for _, u := range units {
		total.add(u.tokens())
	}
	return total
}

// kind is the kind of most of the tokens of the members in full.
func (u *unit) kind() cupel.ContextKind {
	var best cupel.ContextKind
	var most sum
	for i, it := range u.members {
		var tokens sum
		for _, other := range u.members {
			if equalFold(other.kind, it.kind) {
				tokens.add(other.tokens)
			}
		}
		if i == 0 || tokens.minus(most).exceeds(0) {
			best, most = it.ref.Kind(), tokens
		}
	}
	return best
}

// groupVariants are those of the first member that has any.
func (u *unit) groupVariants() []cupel.Variant {
	if !u.grouped || u.pinned {
		return nil
	}
	for _, it := range u.members {
		if variants := it.ref.GroupVariants(); len(variants) > 0 {
			return variants
		}
	}
	return nil
}

// shrink makes a stale member its smallest variant, which is its only possible
// form.
func (it *item) shrink() {
	if n := len(it.variants); n > 0 {
		it.start, it.size = n, it.variants[n-1].Tokens
	}
}

// variantTokens are the tokens of a member as its variant of a position.
func (it *item) variantTokens(at int) int {
	if at == it.start {
		return it.size
	}
	return it.variants[at-1].Tokens
}

// variantWorth is the worth of a member as its variant of a position.
func (it *item) variantWorth(at int) float64 {
	if at == it.start {
		return 1
	}
	return it.variants[at-1].Worth
}

// setChain is CHAIN, with form 0 before it.
func (u *unit) setChain() {
	at := make([]int, len(u.members))
	for i, it := range u.members {
		at[i] = it.start
	}
	u.chain = []form{{tokens: u.tokensAt(at), worth: 1, at: at}}
	var forms []form
	worth := 1.0
	for {
		m, loss := u.nextToShrink(at)
		if m < 0 {
			break
		}
		at = slices.Clone(at)
		at[m]++
		worth = max(0, worth-loss)
		if !u.grouped {
			worth = u.members[0].variantWorth(at[0])
		}
		forms = append(forms, form{tokens: u.tokensAt(at), worth: worth, at: at})
	}
	for i, v := range u.groupVariants() {
		if v.Content != "" || v.Make != nil {
			forms = append(forms, form{tokens: v.Tokens, worth: v.Worth, groupVariant: &groupVariant{v, i + 1}})
		}
	}
	forms = useful(slices.DeleteFunc(forms, func(g form) bool { return g.tokens >= u.chain[0].tokens }))
	slices.SortStableFunc(forms, func(a, b form) int { return b.tokens - a.tokens })
	u.chain = append(u.chain, forms...)
}

// tokensAt is the sum of the members' tokens, each as one of its variants.
func (u *unit) tokensAt(at []int) int {
	var total sum
	for i, it := range u.members {
		total.add(it.variantTokens(at[i]))
	}
	return total.tokens()
}

// nextToShrink returns the member that loses the least worth per token in its
// next variant, on a tie the later, and its loss; -1 for none.
func (u *unit) nextToShrink(at []int) (next int, itsLoss float64) {
	sizes := 0.0
	for _, it := range u.members {
		sizes += float64(it.size)
	}
	next = -1
	leastRate := 0.0
	for i, it := range u.members {
		if at[i] == len(it.variants) {
			continue
		}
		share := float64(it.size) / sizes
		if sizes == 0 {
			share = 1 / float64(len(u.members))
		}
		loss := float64(share * (it.variantWorth(at[i]) - it.variantWorth(at[i]+1)))
		rate := loss / float64(it.variantTokens(at[i])-it.variantTokens(at[i]+1))
		if next < 0 || rate <= leastRate {
			next, leastRate, itsLoss = i, rate, loss
		}
	}
	return next, itsLoss
}

// useful is USEFUL.
func useful(forms []form) []form {
	var list []form
	for i, g := range forms {
		useless := false
		for j, other := range forms {
			equal := other.tokens == g.tokens && other.worth == g.worth
			if other.tokens <= g.tokens && other.worth >= g.worth && (!equal || j < i) {
				useless = true
			}
		}
		if !useless {
			list = append(list, g)
		}
	}
	return list
}

// standIn is the item by which slicers and placers see a unit.
func (u *unit) standIn() *cupel.ContextItem {
	first := u.members[0]
	if !u.grouped && u.form == 0 && first.start == 0 {
		return first.ref
	}
	it, err := smaller(first.ref, first.ref.Content(), u.tokens(), cupel.WithKind(u.kind()))
	if err != nil {
		panic(err) // the fields are those of an item
	}
	return it
}

// smaller returns an item with another content and no forms.
func smaller(it *cupel.ContextItem, content string, tokens int, opt cupel.ItemOption) (*cupel.ContextItem, error) {
	return it.With(cupel.WithContent(content, tokens), cupel.WithVariants(), cupel.WithGroupVariants(), opt)
}

// window returns the unit's items, each in its form.
func (u *unit) window() ([]*cupel.ContextItem, error) {
	g := u.chain[u.form]
	if g.groupVariant != nil {
		var full sum
		for _, it := range u.members {
			full.add(it.tokens)
		}
		it, err := inForm(u.members[0].ref, g.groupVariant.Variant, full.tokens())
		return []*cupel.ContextItem{it}, err
	}
	items := make([]*cupel.ContextItem, len(u.members))
	for i, it := range u.members {
		items[i] = it.ref
		if n := g.at[i]; n > 0 {
			var err error
			if items[i], err = inForm(it.ref, it.variants[n-1], it.tokens); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// inForm returns an item in a smaller form.
func inForm(it *cupel.ContextItem, v cupel.Variant, full int) (*cupel.ContextItem, error) {
	content := v.Content
	if v.Make != nil {
		made, err := v.Make(context.Background())
		if err == nil && made == "" {
			err = errors.New("the text is empty")
		}
		if err != nil {
			return nil, &Error{pipeline.ErrContent, err.Error()}
		}
		content = made
	}
	if own, ok := it.OriginalTokens(); ok {
		full = own
	}
	return smaller(it, content, v.Tokens, cupel.WithOriginalTokens(full))
}
