package strategy

import (
	"errors"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
)

// Problems collects the mistakes in the settings of a strategy, so that its
// constructor reports all of them at once. The zero Problems is empty.
type Problems struct {
	Component string // the specification's name of the strategy
	list      []error
}

// Add records that a setting is wrong. The field may be a path, such as
// "entries[1].weight". value is the offending value, or "" if there is none to
// show.
func (p *Problems) Add(field, value, reason string) {
	p.Repeated(field, value, reason, "")
}

// AddError records the error of another constructor. It ignores nil.
func (p *Problems) AddError(err error) {
	if err != nil {
		p.list = append(p.list, All(err)...)
	}
}

// Repeated records that a setting repeats the name that the setting earlier
// gives. The reason begins with what the name is for: "kind is given twice".
func (p *Problems) Repeated(field, value, reason, earlier string) {
	p.list = append(p.list, &cupel.InvalidConfigError{Component: p.Component, Field: field, Value: value, Reason: reason, Earlier: earlier})
}

// Len returns the number of problems.
func (p *Problems) Len() int { return len(p.list) }

// Err returns nil if there are no problems, the problem if there is one, and
// all of them joined otherwise. Each is a [cupel.InvalidConfigError].
func (p *Problems) Err() error {
	if len(p.list) == 1 {
		return p.list[0]
	}
	return errors.Join(p.list...)
}

// All returns the problems that [Problems.Err] joined in err, or err itself.
func All(err error) []error {
	if problems := joined(err); problems != nil {
		return problems
	}
	return []error{err}
}

// joined returns the problems that err joins, or nil if it does not join problems.
func joined(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range list.Unwrap() {
		if _, ok := compat.AsType[*cupel.InvalidConfigError](e); !ok {
			return nil
		}
	}
	return list.Unwrap()
}

// Element returns the path of an element of a list: "entries[1]".
func Element(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// Key returns the path of a map entry, such as the weight of a tag:
// `weights["a"]`. It shortens long names.
func Key(object, name string) string { return object + "[" + strconv.Quote(Shorten(name)) + "]" }

// Shorten cuts a name or a text to the 60 bytes that errors show.
func Shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…" // the cut may split a character
}
