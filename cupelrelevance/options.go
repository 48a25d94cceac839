package cupelrelevance

import (
	"math"
	"reflect"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// invalid returns the error of an invalid setting.
func invalid(component, field, value, reason string) error {
	return &cupel.InvalidConfigError{Component: component, Field: field, Value: value, Reason: reason}
}

// isNil reports whether s is nil, or a nil pointer in an interface.
func isNil(s strategy.Scorer) bool {
	if s == nil {
		return true
	}
	v := reflect.ValueOf(s)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// notBuilt returns the error of a scorer that its constructor did not make.
func notBuilt(component string) error {
	constructor := "New" + component
	if component == "Relevance" {
		constructor = "New"
	}
	return &cupel.InvalidConfigError{Component: component, Reason: "scorer has no settings; build it with cupelrelevance." + constructor}
}
