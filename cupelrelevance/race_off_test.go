//go:build !race

package cupelrelevance

const raceEnabled = false
