package slicer

import (
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Must returns s, and panics when err is not nil. It is for slicers that are
// built from constants, in variable declarations and composite literals.
func Must[S strategy.Slicer](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
