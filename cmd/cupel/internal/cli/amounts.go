package cli

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// parseBudget reads a budget as people write it: 8000, 3,000, 8k, or the name
// of a model.
func parseBudget(text string) (tokens int, err error) {
	if model := findModel(text); model != "" {
		return contexts[model], nil
	}
	if err = amount(&tokens, 1)(text); err != nil {
		err = fmt.Errorf("%w, or a model such as gpt-4o", err)
	}
	return tokens, err
}

// addTokens adds token counts that are at least 0, up to the largest int.
func addTokens(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// tokensIn returns the tokens of the included items of a report.
func tokensIn(report *cupel.SelectionReport) int {
	all := 0
	for _, in := range report.Included {
		all = addTokens(all, max(in.Item.Tokens(), 0)) // a foreign report may have negative counts
	}
	return all
}

// number is an integer as people write it: 8000, 3,000, 8_000, 8k, 1.5M.
var number = regexp.MustCompile(`^([0-9]{1,18}|[0-9]{1,3}([,_][0-9]{3}){1,5})((\.[0-9]{1,18})?[kKmM])?$`)

// decimal replaces the marks of a number that are not those of decimals.
var decimal = strings.NewReplacer(",", "", "_", "", "k", "e3", "K", "e3", "m", "e6", "M", "e6")

// parseNumber reads an integer.
func parseNumber(text string) (int, error) {
	text = strings.TrimSpace(text)
	if !number.MatchString(text) {
		return 0, fmt.Errorf("%q is not an amount: write 8000, 3,000, 8k", text)
	}
	value, _ := new(big.Rat).SetString(decimal.Replace(text)) // a float64 has no 16.1
	tokens, err := strconv.Atoi(value.RatString())
	if err != nil { // it has a slash, or is too long
		return 0, fmt.Errorf("%s is not a whole number of tokens, or is too large", text)
	}
	return tokens, nil
}

// amount returns the function that sets a flag to a number that is at least so large.
func amount(p *int, least int) func(text string) error {
	return func(text string) (err error) {
		*p, err = parseNumber(text)
		if err == nil && *p < least {
			err = fmt.Errorf("must be at least %d", least)
		}
		return err
	}
}
