package cli

import (
	"strings"
	"unicode/utf8"
)

// didYouMean returns a question about the known word that is nearest to one that
// is not known, to follow it in an error, or "" if none is near.
func didYouMean(word string, known []string, prefix ...string) string {
	word = strings.ToLower(word)
	best, least := "", utf8.RuneCountInString(word)/3+2
	for _, name := range known {
		switch d := distance(word, strings.ToLower(name)); {
		case d < min(least, utf8.RuneCountInString(name)): // something of it stays
			best, least = name, d
		case best == "" && len(word) > 2 && strings.HasPrefix(name, word):
			best = name
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + strings.Join(prefix, "") + best + "?)"
}

// distance returns how many letters must be added, removed or replaced to make
// one word of the other.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, letter := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, other := range to {
			cost := diagonal
			if letter != other {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
