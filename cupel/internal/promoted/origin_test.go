package promoted_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

type Both interface {
	Score()
	ScoreAll()
}

type (
	ownOptional  struct{ plain }
	onPointer    struct{ plain }
	byPointer    struct{}
	scoreOnly    struct{}
	scoreAllOnly struct{}
	fielded      struct{ _ int }
	function     func()

	embeds        struct{ plain }
	embedsTwice   struct{ embeds }
	embedsThrice  struct{ embedsTwice }
	embedsPointer struct{ *plain }
	embedsMethods struct{ byPointer }
	half          struct {
		scoreOnly
		scoreAllOnly
	}
	deepHalf struct {
		scoreAllOnly
		embedsTwice
	}
	deepOverridden   struct{ embedsOverridden }
	embedsOverridden struct{ overridden }
	deepFirst        struct {
		embedsTwice
		overridden
	}
	deepLast struct {
		overridden
		embedsTwice
	}
	shallowFirst struct {
		embeds
		deepOverridden
	}
	shallowLast struct {
		deepOverridden
		embeds
	}
	named struct {
		_ overridden
		embedsThrice
	}
	withOthers struct {
		*fielded
		error
		function2
		embedsTwice
	}
	function2 func()

	recursive struct {
		*recursive
		embeds
	}
	exported struct{ Both }
	holder   struct{ *exported }
)

func (ownOptional) ScoreAll()  {}
func (*onPointer) Score()      {}
func (*byPointer) Score()      {}
func (*byPointer) ScoreAll()   {}
func (scoreOnly) Score()       {}
func (scoreAllOnly) ScoreAll() {}
func (function) Score()        {}
func (function) ScoreAll()     {}

// TestOrigins has each way in which a type comes by its two methods.
func TestOrigins(t *testing.T) {
	loop := &exported{}
	loop.Both = loop
	for _, tt := range []struct {
		value any
		want  bool
		why   string
	}{
		{function(nil), true, "a type that cannot embed declares both"},
		{embeds{}, true, "both from the embedded type"},
		{&embeds{}, true, "the same of a pointer"},
		{embedsTwice{}, true, "both from two levels down"},
		{embedsPointer{}, true, "both from an embedded pointer"},
		{&embedsMethods{}, true, "both from the pointer to the embedded value"},
		{ownOptional{}, true, "its own ScoreAll knows the Score of the embedded type"},
		{&onPointer{}, false, "the pointer has its own Score"},
		{half{}, false, "from two types that know nothing of each other"},
		{&half{}, false, "the same of a pointer"},
		{deepHalf{}, false, "the same at different depths"},
		{scoreOnly{}, true, "what embeds nothing is not looked at"},
		{struct{ scoreOnly }{}, false, "there is no ScoreAll to find"},
		{struct{ scoreAllOnly }{}, false, "there is no Score to find"},
		{deepFirst{}, false, "the shallower one counts, where it comes last"},
		{deepLast{}, false, "the shallower one counts, where it comes first"},
		{shallowFirst{}, true, "both from the shallower type, regardless of what is below the other"},
		{shallowLast{}, true, "the same in the other order"},
		{withOthers{}, true, "what has no such method promotes none"},
		{named{}, true, "a field that is not embedded promotes nothing"},
		{recursive{}, true, "a type inside itself has its methods from elsewhere"},
		{&recursive{}, true, "the same of a pointer"},

		{exported{plain{}}, true, "the value in the interface agrees"},
		{&exported{plain{}}, true, "the same of a pointer"},
		{exported{overridden{}}, false, "the value in the interface decides"},
		{exported{exported{plain{}}}, true, "one interface within the other"},
		{exported{&exported{overridden{}}}, false, "the same with a value that decides"},
		{exported{}, true, "there is nothing in the interface: the call says so"},
		{holder{}, true, "a nil pointer on the way: the call says so"},
		{holder{&exported{plain{}}}, true, "an interface behind a pointer"},
		{holder{&exported{overridden{}}}, false, "the same with a value that decides"},
		{loop, false, "a value inside itself"},
		{looped{plain{}}, true, "the type in an interface that cannot be looked at"},
		{looped{exported{plain{}}}, false, "what is further inside cannot be looked at"},
	} {
		for range 2 { // the second answer is the one that was kept
			if got := promoted.ScoreAll.Agree(tt.value); got != tt.want {
				t.Errorf("%T: got %v, want %v: %s", tt.value, got, tt.want, tt.why)
			}
		}
	}
}

type everything struct{}

func (everything) Score()        {}
func (everything) ScoreAll()     {}
func (everything) Place()        {}
func (everything) AppendPlace()  {}
func (everything) Slice()        {}
func (everything) Sweep()        {}
func (everything) ExplainSlice() {}
func (everything) LeftOver()     {}
func (everything) ForKind()      {}

type (
	inherits   struct{ everything }
	ownScore   struct{ everything }
	ownPlace   struct{ everything }
	ownSlice   struct{ everything }
	ownAnswers struct{ everything }
)

func (ownScore) Score()          {}
func (ownPlace) Place()          {}
func (ownSlice) Slice()          {}
func (ownAnswers) ScoreAll()     {}
func (ownAnswers) AppendPlace()  {}
func (ownAnswers) Sweep()        {}
func (ownAnswers) ExplainSlice() {}
func (ownAnswers) LeftOver()     {}
func (ownAnswers) ForKind()      {}

func TestPairs(t *testing.T) {
	for name, tt := range map[string]struct {
		pair *promoted.Pair
		own  any // a type with a required method of its own
	}{
		"ScoreAll":     {promoted.ScoreAll, ownScore{}},
		"AppendPlace":  {promoted.AppendPlace, ownPlace{}},
		"Sweep":        {promoted.Sweep, ownSlice{}},
		"ExplainSlice": {promoted.ExplainSlice, ownSlice{}},
		"LeftOver":     {promoted.LeftOver, ownSlice{}},
		"ForKind":      {promoted.ForKind, ownSlice{}},
	} {
		for _, v := range []any{ownScore{}, ownPlace{}, ownSlice{}, ownAnswers{}, inherits{}} {
			if got, want := tt.pair.Agree(v), v != tt.own; got != want {
				t.Errorf("%s of %T: got %v, want %v", name, v, got, want)
			}
		}
	}
}

func TestKeptAnswersDoNotAllocate(t *testing.T) {
	for _, v := range []any{plain{}, &overridden{}, deepFirst{}} {
		if n := testing.AllocsPerRun(100, func() { promoted.ScoreAll.Agree(v) }); n != 0 {
			t.Errorf("%T: asking again allocated %v times", v, n)
		}
	}
}
