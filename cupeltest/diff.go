package cupeltest

import (
	"fmt"
	"strings"
)

const (
	diffContext = 2       // equal lines shown around a change
	diffLines   = 60      // lines shown at most
	diffCells   = 4 << 20 // of the table; longer texts are compared by their ends alone
)

// diff returns the lines that differ, with - for those of want alone and + for
// those of got alone, and some equal lines around them.
func diff(want, got string) string {
	lines := diffText(strings.Split(strings.TrimSuffix(want, "\n"), "\n"), strings.Split(strings.TrimSuffix(got, "\n"), "\n"))
	shown := make([]bool, len(lines))
	for i, line := range lines {
		if line[0] == ' ' {
			continue
		}
		for j := max(0, i-diffContext); j <= min(len(lines)-1, i+diffContext); j++ {
			shown[j] = true
		}
	}
	var out []string
	for i, line := range lines {
		switch {
		case !shown[i]:
			continue
		case i > 0 && !shown[i-1]:
			out = append(out, "  …")
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	if len(shown) > 0 && !shown[len(shown)-1] {
		out = append(out, "  …")
	}
	if rest := len(out) - diffLines; rest > 0 {
		out = append(out[:diffLines], fmt.Sprintf("  … and %d lines more", rest))
	}
	return strings.Join(out, "\n")
}

// diffText returns all lines, each with its sign and a space before it. It
// keeps as many lines equal as possible: a longest common subsequence, found by
// the textbook's table over what is left between equal ends.
func diffText(want, got []string) []string {
	var lines, tail []string
	for len(want) > 0 && len(got) > 0 && want[0] == got[0] {
		lines = append(lines, "  "+want[0])
		want, got = want[1:], got[1:]
	}
	for len(want) > 0 && len(got) > 0 && want[len(want)-1] == got[len(got)-1] {
		tail = append(tail, "  "+want[len(want)-1])
		want, got = want[:len(want)-1], got[:len(got)-1]
	}

	// common[i][j] is the length for want[i:] and got[j:].
	common := make([][]int, len(want)+1)
	if len(want)*len(got) <= diffCells {
		for i := range common {
			common[i] = make([]int, len(got)+1)
		}
		for i := len(want) - 1; i >= 0; i-- {
			for j := len(got) - 1; j >= 0; j-- {
				if want[i] == got[j] {
					common[i][j] = common[i+1][j+1] + 1
				} else {
					common[i][j] = max(common[i+1][j], common[i][j+1])
				}
			}
		}
	}
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && common[i] != nil && want[i] == got[j]:
			lines = append(lines, "  "+want[i])
			i, j = i+1, j+1
		case j == len(got) || i < len(want) && (common[i] == nil || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, "- "+want[i])
			i++
		default:
			lines = append(lines, "+ "+got[j])
			j++
		}
	}
	for k := len(tail) - 1; k >= 0; k-- {
		lines = append(lines, tail[k])
	}
	return lines
}
