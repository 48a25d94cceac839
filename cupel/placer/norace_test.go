//go:build !race

package placer_test

const raceEnabled = false
