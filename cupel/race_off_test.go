//go:build !race

package cupel_test

const raceEnabled = false
