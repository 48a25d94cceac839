//go:build race

package slicer_test

// raceEnabled: the race detector empties pools at random, so that counts of
// allocations say nothing.
const raceEnabled = true
