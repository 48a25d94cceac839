//go:build !race

package scorer_test

const raceEnabled = false
