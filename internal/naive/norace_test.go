//go:build !race

package naive_test

// raceEnabled: the race detector makes a case ten times as expensive, and
// finds what it can find in far fewer of them.
const raceEnabled = false
