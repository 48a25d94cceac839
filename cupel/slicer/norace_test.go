//go:build !race

package slicer_test

const raceEnabled = false
