package scorer

import (
	"slices"

	"github.com/wollax/cupel-go/cupel/strategy"
)

var descriptors = []strategy.Descriptor{
	recencyDescriptor, priorityDescriptor, frequencyDescriptor, reflexiveDescriptor,
	kindDescriptor, tagDescriptor, compositeDescriptor, scaledDescriptor,
	metadataTrustDescriptor, metadataKeyDescriptor, decayDescriptor,
}

// Descriptors returns a description of each type of scorer in this package.
func Descriptors() []strategy.Descriptor { return slices.Clone(descriptors) }
