//go:build race

package analysis_test

// The race detector makes everything slow, some things more than others.
const raceEnabled = true
