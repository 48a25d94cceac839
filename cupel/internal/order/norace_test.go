//go:build !race

package order

func raceEnabled() bool { return false }
