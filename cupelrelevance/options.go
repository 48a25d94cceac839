package cupelrelevance

import "github.com/wollax/cupel-go/cupel"

// invalid returns the error of an invalid setting.
func invalid(component, field, value, reason string) error {
	return &cupel.InvalidConfigError{Component: component, Field: field, Value: value, Reason: reason}
}

// notBuilt returns the error of a scorer that its constructor did not make.
func notBuilt(component, constructor string) error {
	return &cupel.InvalidConfigError{Component: component, Reason: "scorer has no settings; build it with cupelrelevance." + constructor}
}
