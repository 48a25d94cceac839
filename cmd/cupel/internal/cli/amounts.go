package cli

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
)

// parseBudget reads a budget as people write it: 8000, 3,000, 8k, or the name
// of a model.
func parseBudget(text string) (tokens int, err error) {
	if model := findModel(text); model != "" {
		return contexts[model], nil
	}
	if tokens, err = parseNumber(text); err != nil {
		return 0, fmt.Errorf("%w, or a model such as gpt-4o", err)
	}
	if tokens == 0 { // which would be no flag
		return 0, errors.New("must be at least 1")
	}
	return tokens, nil
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
var number = regexp.MustCompile(`^([0-9]{1,18}|[0-9]{1,3}(?:[,_][0-9]{3}){1,5})(?:(\.[0-9]{1,18})?([kKmM]))?$`)

// parseNumber reads an integer.
func parseNumber(text string) (int, error) {
	parts := number.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, fmt.Errorf("%q is not an amount: write 8000, 3,000, 8k", text)
	}
	// A float64 has no 16.1.
	value, _ := new(big.Rat).SetString(strings.NewReplacer(",", "", "_", "").Replace(parts[1]) + parts[2])
	switch strings.ToLower(parts[3]) {
	case "k":
		value.Mul(value, big.NewRat(1_000, 1))
	case "m":
		value.Mul(value, big.NewRat(1_000_000, 1))
	}
	if !value.IsInt() || !value.Num().IsInt64() || int64(int(value.Num().Int64())) != value.Num().Int64() {
		return 0, fmt.Errorf("%s is not a whole number of tokens, or is too large", text)
	}
	return int(value.Num().Int64()), nil
}

// tokensFlag registers a flag that takes a number of tokens.
func tokensFlag(command *cobra.Command, p *int, name, usage string) {
	command.Flags().Func(name, usage, func(text string) (err error) {
		*p, err = parseNumber(text)
		return err
	})
}
