//go:build race

package pipeline_test

// The race detector makes sync.Pool drop objects at random, so allocation
// counts mean nothing under it.
const raceEnabled = true
