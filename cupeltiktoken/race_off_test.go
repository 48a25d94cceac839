//go:build !race

package cupeltiktoken_test

const raceEnabled = false
