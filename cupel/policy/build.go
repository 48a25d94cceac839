package policy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/ascii"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// builder builds the strategies of a policy, and collects what is wrong with
// them. What cannot be built is nil, and there is a problem that says so.
//
// The rules are those of the strategies' constructors. These stop at the first
// mistake, so that each setting is shown to them on its own first, beside
// settings that are right.
type builder struct {
	registry *Registry
	clock    func() time.Time // nil: there is none
	problems *problems
}

func (b *builder) config(p Policy) cupel.Config {
	if problem := checkSize(p); problem != nil {
		b.problems.add(problem.Path, problem.Reason, nil)
		return cupel.Config{}
	}
	config := cupel.Config{
		Scorer:         b.scorers(p.Scorers, "scorers", true),
		Slicer:         b.slicer(p.Slicer, "slicer"),
		Placer:         b.placer(p.Placer, "placer"),
		KeepDuplicates: p.KeepDuplicates,
		Overflow:       p.Overflow,
	}
	if p.Overflow > cupel.OverflowProceed {
		b.fail("overflow", "must be Throw, Truncate or Proceed, got "+p.Overflow.String())
	}
	return config
}

func (b *builder) fail(at, reason string) { b.problems.add(at, reason, nil) }

// check records the error of a constructor as a problem.
func (b *builder) check(at string, err error) bool {
	if err == nil {
		return true
	}
	reason := fmt.Sprint(err) // fmt survives an Error method that panics
	if invalid, ok := compat.AsType[*cupel.InvalidConfigError](err); ok {
		reason = invalid.Reason
		if invalid.Value != "" {
			reason += ", got " + shorten(invalid.Value)
		}
	}
	b.problems.add(at, reason, err)
	return false
}

// built returns what a constructor made as the interface I, and nil when it
// failed.
func built[I, T any](b *builder, at string, strategy T, err error) I {
	if !b.check(at, err) {
		var none I
		return none
	}
	return any(strategy).(I)
}

// missing reports a strategy that is not there, or not one of this package's.
func (b *builder) missing(at, role string, got any, example string) {
	if got == nil {
		b.fail(at, "a "+role+" is required here, for example "+example)
		return
	}
	b.fail(at, fmt.Sprintf("must be a %s of this package, as a value such as %s, got a %T", role, example, got))
}

// scorers builds the average of parts. At the top a single scorer is used as it
// is (R47).
func (b *builder) scorers(parts []Weighted, at string, top bool) cupel.Scorer {
	weights, weighted := make([]scorer.Weighted, len(parts)), make([]scorer.Weighted, len(parts))
	weightsOK, partsOK := true, true
	for i, part := range parts {
		path := index(at, i)
		inner := b.scorer(part.Scorer, path)
		weights[i] = scorer.Weighted{Scorer: scorer.Recency{}, Weight: part.Weight}
		weighted[i] = scorer.Weighted{Scorer: inner, Weight: part.Weight}
		_, err := scorer.NewComposite(weights[i])
		weightsOK = b.check(field(path, "weight"), err) && weightsOK
		partsOK = partsOK && inner != nil
	}
	if !weightsOK {
		return nil
	}
	if _, err := scorer.NewComposite(weights...); !b.check(at, err) || !partsOK {
		return nil
	}
	if top && len(weighted) == 1 {
		return weighted[0].Scorer
	}
	composite, err := scorer.NewComposite(weighted...)
	return built[cupel.Scorer](b, at, composite, err)
}

func (b *builder) scorer(s Scorer, at string) cupel.Scorer {
	switch s := s.(type) {
	case unreadable:
		return nil
	case Recency:
		return scorer.Recency{}
	case Priority:
		return scorer.Priority{}
	case Frequency:
		return scorer.Frequency{}
	case Reflexive:
		return scorer.Reflexive{}
	case Kind:
		return b.kind(s, at)
	case Tag:
		return b.tag(s, at)
	case Composite:
		return b.scorers(s.Scorers, field(at, "scorers"), false)
	case Scaled:
		inner := b.scorer(s.Inner, field(at, "inner"))
		if inner == nil {
			return nil
		}
		scaled, err := scorer.NewScaled(inner)
		return built[cupel.Scorer](b, at, scaled, err)
	case MetadataTrust:
		trust, err := scorer.NewMetadataTrust(s.DefaultScore)
		return built[cupel.Scorer](b, field(at, "defaultScore"), trust, err)
	case MetadataKey:
		metadataKey, err := scorer.NewMetadataKey(s.Key, s.Value, s.Boost)
		return built[cupel.Scorer](b, field(at, "boost"), metadataKey, err)
	case Decay:
		return b.decay(s, at)
	case CustomScorer:
		return custom(b, at, customParts[Scorer, cupel.Scorer]{
			role: "scorer", name: s.Type, settings: s.Settings, children: s.Children,
			types: b.registry.scorerTypes(), child: b.scorer, validate: cupel.ValidateScorer,
		})
	}
	b.missing(at, "scorer", s, "policy.Recency{}")
	return nil
}

func (b *builder) kind(s Kind, at string) cupel.Scorer {
	at = field(at, "weights")
	ok := true
	var names []named
	for _, kind := range slices.Sorted(maps.Keys(s.Weights)) {
		path := key(at, string(kind))
		_, err := scorer.NewKind(map[cupel.ContextKind]float64{kind: s.Weights[kind]})
		ok = b.check(path, err) && ok
		names = append(names, named{string(kind), path, kind.Key()})
	}
	if !b.unique("kind", names) || !ok {
		return nil
	}
	kind, err := scorer.NewKind(s.Weights)
	return built[cupel.Scorer](b, at, kind, err)
}

func (b *builder) tag(s Tag, at string) cupel.Scorer {
	at = field(at, "weights")
	ok := true
	var names []named
	for _, tag := range slices.Sorted(maps.Keys(s.Weights)) {
		path := key(at, tag)
		_, err := scorer.NewTag(map[string]float64{tag: s.Weights[tag]})
		ok = b.check(path, err) && ok
		names = append(names, named{tag, path, ascii.Lower(tag)})
	}
	var opts []scorer.TagOption
	if s.CaseInsensitive {
		ok = b.unique("tag", names) && ok
		opts = append(opts, scorer.WithCaseInsensitiveTags())
	}
	if !ok {
		return nil
	}
	tag, err := scorer.NewTag(s.Weights, opts...)
	return built[cupel.Scorer](b, at, tag, err)
}

func (b *builder) decay(s Decay, at string) cupel.Scorer {
	curve := b.curve(s.Curve, field(at, "curve"))
	ok := curve != nil
	var opts []scorer.DecayOption
	if s.NullTimestampScore != nil {
		opts = append(opts, scorer.WithNullTimestampScore(*s.NullTimestampScore))
		anyCurve, _ := scorer.Window(time.Hour) // which is right
		_, err := scorer.NewDecay(stillClock, anyCurve, opts...)
		ok = b.check(field(at, "nullTimestampScore"), err) && ok
	}
	if b.clock == nil {
		b.problems.add(at, "needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests",
			&cupel.InvalidConfigError{Component: "DecayScorer", Field: "clock", Reason: "clock must not be nil"})
		return nil
	}
	if !ok {
		return nil
	}
	decay, err := scorer.NewDecay(b.clock, curve, opts...)
	return built[cupel.Scorer](b, at, decay, err)
}

func (b *builder) curve(c Curve, at string) scorer.Curve {
	switch c := c.(type) {
	case unreadable:
		return nil
	case Exponential:
		curve, err := scorer.Exponential(c.HalfLife)
		return built[scorer.Curve](b, field(at, "halfLife"), curve, err)
	case Window:
		curve, err := scorer.Window(c.MaxAge)
		return built[scorer.Curve](b, field(at, "maxAge"), curve, err)
	case Step:
		return b.step(c.Windows, field(at, "windows"))
	}
	b.missing(at, "curve", c, "policy.Window{MaxAge: 24 * time.Hour}")
	return nil
}

func (b *builder) step(windows []scorer.StepWindow, at string) scorer.Curve {
	ok := true
	for i, w := range windows {
		path := index(at, i)
		_, err := scorer.Step(scorer.StepWindow{MaxAge: w.MaxAge})
		ageOK := b.check(field(path, "maxAge"), err)
		_, err = scorer.Step(scorer.StepWindow{MaxAge: 1, Score: w.Score})
		ok = b.check(field(path, "score"), err) && ageOK && ok
		if i > 0 && ageOK && windows[i-1].MaxAge > 0 {
			_, err = scorer.Step(scorer.StepWindow{MaxAge: windows[i-1].MaxAge}, scorer.StepWindow{MaxAge: w.MaxAge})
			ok = b.check(field(path, "maxAge"), err) && ok
		}
	}
	if !ok {
		return nil
	}
	curve, err := scorer.Step(windows...)
	return built[scorer.Curve](b, at, curve, err)
}

func (b *builder) slicer(s Slicer, at string) cupel.Slicer {
	switch s := s.(type) {
	case unreadable:
		return nil
	case Greedy:
		return slicer.Greedy{}
	case ScoreGreedy:
		return slicer.ScoreGreedy{}
	case Knapsack:
		if knapsack := b.knapsack(s, at); knapsack != nil {
			return knapsack
		}
		return nil
	case Quota:
		return b.quota(s, at)
	case CountQuota:
		return b.countQuota(s, at)
	case CountConstrainedKnapsack:
		knapsack := b.knapsack(s.Knapsack, at)
		entries, ok := b.counts(s.Entries, s.Scarcity, at)
		if knapsack == nil || !ok {
			return nil
		}
		constrained, err := slicer.NewCountConstrainedKnapsack(knapsack, entries, slicer.WithScarcity(s.Scarcity))
		return built[cupel.Slicer](b, at, constrained, err)
	case CustomSlicer:
		return custom(b, at, customParts[Slicer, cupel.Slicer]{
			role: "slicer", name: s.Type, settings: s.Settings, children: s.Children,
			types: b.registry.slicerTypes(), child: b.slicer, validate: cupel.ValidateSlicer,
		})
	}
	b.missing(at, "slicer", s, "policy.Greedy{}")
	return nil
}

func (b *builder) knapsack(s Knapsack, at string) *slicer.Knapsack {
	var opts []slicer.KnapsackOption
	ok := true
	setting := func(name string, opt slicer.KnapsackOption) {
		opts = append(opts, opt)
		_, err := slicer.NewKnapsack(opt)
		ok = b.check(field(at, name), err) && ok
	}
	if s.BucketSize != nil {
		setting("bucketSize", slicer.WithBucketSize(*s.BucketSize))
	}
	if s.AutoBucket {
		opts = append(opts, slicer.WithAutoBucket())
		if s.BucketSize != nil {
			b.fail(field(at, "autoBucket"), "chooses the bucket size, and bucketSize gives one; give one of the two")
			ok = false
		}
	}
	if s.TopUp {
		opts = append(opts, slicer.WithTopUp())
	}
	if s.MemoryLimit != nil {
		setting("memoryLimit", slicer.WithMemoryLimit(int64(*s.MemoryLimit)))
	}
	if !ok {
		return nil
	}
	knapsack, err := slicer.NewKnapsack(opts...)
	return built[*slicer.Knapsack](b, at, knapsack, err)
}

// someKind is a kind that is right, for entries of which only another field is
// looked at.
const someKind = cupel.KindMessage

func (b *builder) quota(s Quota, at string) cupel.Slicer {
	inner := b.slicer(s.Inner, field(at, "inner"))
	at = field(at, "entries")
	ok := true
	entries := make([]slicer.QuotaEntry, len(s.Entries))
	for i, e := range s.Entries {
		path, limit := index(at, i), 100.0
		if e.Cap != nil {
			limit = *e.Cap
		}
		entry := func(name string, entry slicer.QuotaEntry) bool {
			_, err := slicer.NewQuota(slicer.Greedy{}, entry)
			return b.check(field(path, name), err)
		}
		kindOK := entry("kind", slicer.Require(e.Kind, 0))
		requireOK := entry("require", slicer.Require(someKind, e.Require))
		capOK := entry("cap", slicer.Cap(someKind, limit))
		ok = kindOK && requireOK && capOK && entry("require", slicer.Between(someKind, e.Require, limit)) && ok
		entries[i] = slicer.Between(e.Kind, e.Require, limit)
	}
	if !uniqueKinds(b, at, s.Entries, func(e QuotaEntry) cupel.ContextKind { return e.Kind }) || !ok {
		return nil
	}
	if _, err := slicer.NewQuota(slicer.Greedy{}, entries...); !b.check(at, err) || inner == nil {
		return nil
	}
	quota, err := slicer.NewQuota(inner, entries...)
	return built[cupel.Slicer](b, at, quota, err)
}

func (b *builder) countQuota(s CountQuota, at string) cupel.Slicer {
	inner := b.slicer(s.Inner, field(at, "inner"))
	entries, ok := b.counts(s.Entries, s.Scarcity, at)
	if inner == nil {
		return nil
	}
	// No knapsack may be inside (R21), whatever the entries are.
	if _, err := slicer.NewCountQuota(inner, nil); !b.check(field(at, "inner"), err) || !ok {
		return nil
	}
	quota, err := slicer.NewCountQuota(inner, entries, slicer.WithScarcity(s.Scarcity))
	return built[cupel.Slicer](b, at, quota, err)
}

func (b *builder) counts(given []CountEntry, scarcity slicer.ScarcityBehavior, at string) ([]slicer.CountQuotaEntry, bool) {
	_, err := slicer.NewCountQuota(slicer.Greedy{}, nil, slicer.WithScarcity(scarcity))
	ok := b.check(field(at, "scarcity"), err)
	at = field(at, "entries")
	entries := make([]slicer.CountQuotaEntry, len(given))
	for i, e := range given {
		path, limit := index(at, i), math.MaxInt
		if e.CapCount != nil {
			limit = *e.CapCount
		}
		entry := func(name string, entry slicer.CountQuotaEntry) bool {
			_, err := slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{entry})
			return b.check(field(path, name), err)
		}
		kindOK := entry("kind", slicer.CountQuotaEntry{Kind: e.Kind})
		requireOK := entry("requireCount", slicer.CountQuotaEntry{Kind: someKind, RequireCount: e.RequireCount, CapCount: math.MaxInt})
		capOK := entry("capCount", slicer.CountQuotaEntry{Kind: someKind, CapCount: limit})
		both := slicer.CountQuotaEntry{Kind: someKind, RequireCount: e.RequireCount, CapCount: limit}
		ok = kindOK && requireOK && capOK && entry("requireCount", both) && ok
		entries[i] = slicer.CountQuotaEntry{Kind: e.Kind, RequireCount: e.RequireCount, CapCount: limit}
	}
	return entries, uniqueKinds(b, at, given, func(e CountEntry) cupel.ContextKind { return e.Kind }) && ok
}

func (b *builder) placer(p Placer, at string) cupel.Placer {
	switch p := p.(type) {
	case unreadable:
		return nil
	case Chronological:
		return placer.Chronological{}
	case UShaped:
		return placer.UShaped{}
	case CustomPlacer:
		return custom(b, at, customParts[Placer, cupel.Placer]{
			role: "placer", name: p.Type, settings: p.Settings, children: p.Children,
			types: b.registry.placerTypes(), child: b.placer, validate: validatePlacer,
		})
	}
	b.missing(at, "placer", p, "policy.Chronological{}")
	return nil
}

// validatePlacer has the engine look at a placer, as [cupel.New] does.
func validatePlacer(p cupel.Placer) error {
	_, err := cupel.New(cupel.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: p})
	return err
}

// named is a name in a policy, its path, and what names that are the same share.
type named struct{ name, path, folded string }

// unique reports names that are the same as one before them.
func (b *builder) unique(what string, list []named) bool {
	ok := true
	first := make(map[string]string, len(list)) // path by folded name
	for _, n := range list {
		if earlier, twice := first[n.folded]; twice {
			b.fail(n.path, fmt.Sprintf("%s %q is given already at %s; casing does not tell %ss apart here", what, shorten(n.name), earlier, what))
			ok = false
			continue
		}
		first[n.folded] = n.path
	}
	return ok
}

// uniqueKinds reports entries whose kind has one already.
func uniqueKinds[E any](b *builder, at string, entries []E, kindOf func(E) cupel.ContextKind) bool {
	list := make([]named, len(entries))
	for i, e := range entries {
		kind := kindOf(e)
		list[i] = named{string(kind), field(index(at, i), "kind"), kind.Key()}
	}
	return b.unique("kind", list)
}
