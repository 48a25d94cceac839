//go:build race

package jsonwire

const raceEnabled = true
