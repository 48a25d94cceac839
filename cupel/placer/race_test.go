//go:build race

package placer_test

// raceEnabled: the race detector empties pools at random, so that counts of
// allocations say nothing.
const raceEnabled = true
