//go:build race

package cupeltiktoken_test

// The race detector makes everything slower by a factor that no bound on time
// allows for.
const raceEnabled = true
