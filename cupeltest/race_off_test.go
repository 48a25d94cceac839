//go:build !race

package cupeltest_test

const raceEnabled = false
