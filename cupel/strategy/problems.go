package strategy

import (
	"errors"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
)

// Problems collects what is wrong with the settings of a strategy, so that its
// constructor reports everything at once. The zero Problems is empty.
type Problems struct {
	Component string // the specification's name of the strategy
	list      []error
}

// Add records that a setting is wrong. The field may have a path within it:
// "entries[1].weight". value is the offending value, or "" when there is none
// to show.
func (p *Problems) Add(field, value, reason string) {
	p.list = append(p.list, &cupel.InvalidConfigError{Component: p.Component, Field: field, Value: value, Reason: reason})
}

// AddError records the error of a constructor that p's own calls, and nothing
// for nil.
func (p *Problems) AddError(err error) {
	if err != nil {
		p.list = append(p.list, All(err)...)
	}
}

// Repeated records that a setting gives a name that the earlier one gives
// already. The reason begins with what is named: "kind is given twice".
func (p *Problems) Repeated(field, value, reason, earlier string) {
	p.list = append(p.list, &cupel.InvalidConfigError{Component: p.Component, Field: field, Value: value, Reason: reason, Earlier: earlier})
}

// Len returns the number of problems.
func (p *Problems) Len() int { return len(p.list) }

// Err returns nil without problems, the one problem, or all of them joined:
// [cupel.InvalidConfigError] each.
func (p *Problems) Err() error {
	if len(p.list) == 1 {
		return p.list[0]
	}
	return errors.Join(p.list...)
}

// All returns the problems that [Problems.Err] joined to err, or err alone.
func All(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) == 0 {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		if _, ok := compat.AsType[*cupel.InvalidConfigError](e); !ok {
			return []error{err}
		}
	}
	return joined.Unwrap()
}

// Element returns the path of an element of a list: "entries[1]".
func Element(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// Key returns the path of a value whose name is data, such as a tag:
// `weights["a"]`. Long names are shortened.
func Key(object, name string) string { return object + "[" + strconv.Quote(Shorten(name)) + "]" }

// Shorten returns a name or a text as errors show it: at most its first 60
// bytes.
func Shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…" // the cut may split a character
}
