package placer

import (
	"slices"

	"github.com/wollax/cupel-go/cupel/strategy"
)

var descriptors = []strategy.Descriptor{chronologicalDescriptor, uShapedDescriptor}

// Descriptors returns a description of each type of placer in this package.
func Descriptors() []strategy.Descriptor { return slices.Clone(descriptors) }
