// Package strategy describes types of strategies as data: their names, their
// settings with bounds and defaults, and how to build one.
//
// Packages scorer, slicer and placer declare a [Descriptor] for each of their
// strategies. All code that lists, reads, writes, checks or shows strategies
// uses the descriptors: policies and their JSON Schema, conformance vectors, the
// command and the inspector.
package strategy
