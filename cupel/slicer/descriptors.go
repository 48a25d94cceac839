package slicer

import (
	"slices"

	"github.com/wollax/cupel-go/cupel/strategy"
)

var descriptors = []strategy.Descriptor{
	greedyDescriptor, scoreGreedyDescriptor, knapsackDescriptor, multipleChoiceDescriptor, diverseDescriptor,
	quotaDescriptor, countQuotaDescriptor, countConstrainedKnapsackDescriptor,
}

// Descriptors returns a description of each type of slicer in this package.
func Descriptors() []strategy.Descriptor { return slices.Clone(descriptors) }
