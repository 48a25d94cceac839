// Package strategy describes types of strategies as data: their names, their
// settings with bounds and defaults, and how to build one.
//
// The packages scorer, slicer and placer have one [Descriptor] beside each of
// their strategies. Everything that lists, reads, writes, checks or shows
// strategies reads the descriptors: policies and their JSON Schema, conformance
// vectors, the command and the inspector.
package strategy
