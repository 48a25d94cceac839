package cupeltest

import (
	"fmt"
	"slices"
	"strings"
)

const (
	diffContext = 2       // equal lines shown around a change
	diffLines   = 60      // lines shown at most
	diffCells   = 4 << 20 // of the table; for longer texts only the ends are compared
)

// diff returns the lines that differ, with - for lines only in want and + for
// lines only in got, and some equal lines around them.
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
	if !shown[len(shown)-1] {
		out = append(out, "  …")
	}
	if rest := len(out) - diffLines; rest > 0 {
		out = append(out[:diffLines], fmt.Sprintf("  … and %d more lines", rest))
	}
	return strings.Join(out, "\n")
}

// diffText returns all lines, each prefixed with its sign and a space. It finds
// a longest common subsequence with the textbook table, after removing equal
// lines at both ends.
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

	if len(want)*len(got) <= diffCells {
		common := commonLines(want, got)
		for len(want) > 0 && len(got) > 0 {
			i, j := len(common)-len(want)-1, len(common[0])-len(got)-1
			switch {
			case want[0] == got[0]:
				lines = append(lines, "  "+want[0])
				want, got = want[1:], got[1:]
			case common[i+1][j] >= common[i][j+1]:
				lines = append(lines, "- "+want[0])
				want = want[1:]
			default:
				lines = append(lines, "+ "+got[0])
				got = got[1:]
			}
		}
	}
	for _, line := range want {
		lines = append(lines, "- "+line)
	}
	for _, line := range got {
		lines = append(lines, "+ "+line)
	}
	slices.Reverse(tail)
	return append(lines, tail...)
}

// commonLines returns, for each i and j, the length of the longest common
// subsequence of want[i:] and got[j:].
func commonLines(want, got []string) [][]int {
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i, line := range slices.Backward(want) {
		for j, other := range slices.Backward(got) {
			if line == other {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}
