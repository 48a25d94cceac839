package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wollax/cupel-go/cupel"
)

// amount is a budget as people say it: 8000, 3,000, 8k, 50% of the candidates, or
// the name of a model.
type amount struct {
	tokens  int
	percent float64 // of the tokens of all candidates; 0 for a number
	model   string  // whose context the tokens are, or ""
}

// amountExamples are what errors show.
const (
	numberExamples = "write 8000, 3,000 or 8k"
	amountExamples = "write 8000, 3,000, 8k, 50% (of the candidates) or a model such as gpt-4o"
)

// parseAmount reads a budget.
func parseAmount(text string) (amount, error) {
	if number, ok := strings.CutSuffix(strings.TrimSpace(text), "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent > 0) || math.IsInf(percent, 0) {
			return amount{}, fmt.Errorf("%q is not a share of the candidates above 0%%: %s", text, amountExamples)
		}
		return amount{percent: percent}, nil
	}
	if m, ok := findModel(text); ok {
		return amount{tokens: m.context, model: text}, nil
	}
	tokens, err := parseNumber(text)
	if number, ok := errors.AsType[*numberError](err); ok && number.isName() {
		names := make([]string, len(models))
		for i, m := range models {
			names[i] = m.name
		}
		err = fmt.Errorf("%q is neither a number nor a model of the table%s", text, didYouMean(text, names))
	}
	if err != nil {
		return amount{}, fmt.Errorf("%w: %s", err, amountExamples)
	}
	return amount{tokens: tokens}, nil
}

// of returns the tokens of the amount, given the candidates.
func (a amount) of(items []*cupel.ContextItem) int {
	if a.percent == 0 {
		return a.tokens
	}
	all := 0
	for _, item := range items {
		all = addTokens(all, max(item.Tokens(), 0))
	}
	share := float64(all) / 100 * a.percent
	if share >= math.MaxInt {
		return math.MaxInt
	}
	return int(share)
}

// Set implements [pflag.Value].
func (a *amount) Set(text string) error {
	parsed, err := parseAmount(text)
	if err == nil {
		*a = parsed
	}
	return err
}

// String implements [pflag.Value].
func (a amount) String() string {
	if a.percent > 0 {
		return strconv.FormatFloat(a.percent, 'g', -1, 64) + "%"
	}
	return strconv.Itoa(a.tokens)
}

// Type implements [pflag.Value].
func (a amount) Type() string { return "tokens" }

// amountFlag registers a flag that takes a budget.
func amountFlag(command *cobra.Command, p *amount, name, shorthand, usage string) {
	command.Flags().VarP(p, name, shorthand, usage)
	command.Flags().Lookup(name).DefValue = "0" // print no default
	must(command.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(modelCompletions(), cobra.ShellCompDirectiveNoFileComp)))
}

// numberError says what of a number was understood.
type numberError struct{ text, understood, rest string }

func (e *numberError) Error() string {
	if e.understood == "" || e.rest == "" {
		return fmt.Sprintf("%q is not a number", e.text)
	}
	return fmt.Sprintf("%q is not a number: %s was understood, %q after it was not", e.text, e.understood, e.rest)
}

// isName reports whether the text begins as the name of a model does.
func (e *numberError) isName() bool {
	return e.text != "" && unicode.IsLetter([]rune(e.text)[0])
}

// parseNumber reads an integer as people write it: 8000, 3,000, 8_000, 8k, 1.5M.
func parseNumber(text string) (int, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil || errors.Is(err, strconv.ErrRange) {
		if err != nil {
			return 0, fmt.Errorf("%s is out of range", text)
		}
		return n, nil
	}
	number := text[:len(text)-len(strings.TrimLeft(text, "0123456789,_."))]
	zeros, rest := 0, text[len(number):]
	switch strings.ToLower(rest) {
	case "k":
		zeros, rest = 3, ""
	case "m":
		zeros, rest = 6, ""
	}
	whole, fraction, decimal := strings.Cut(number, ".")
	plain, grouped := ungroup(whole)
	if rest != "" || !grouped || decimal && (zeros == 0 || fraction == "" || strings.Trim(fraction, "0123456789") != "") {
		return 0, &numberError{text, number, rest}
	}
	// A float64 has no 16.1.
	if fraction = strings.TrimRight(fraction, "0"); len(fraction) > zeros {
		return 0, fmt.Errorf("%s is not a whole number", text)
	}
	n, err := strconv.Atoi(plain + fraction + strings.Repeat("0", zeros-len(fraction)))
	if err != nil {
		return 0, fmt.Errorf("%s is out of range", text)
	}
	return n, nil
}

// ungroup removes the separators between groups of three digits, and reports
// whether they stand where they should.
func ungroup(text string) (plain string, ok bool) {
	groups := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '_' })
	for i, group := range groups {
		if i > 0 && len(group) != 3 || i == 0 && len(groups) > 1 && len(group) > 3 {
			return "", false
		}
	}
	plain = strings.Join(groups, "")
	return plain, plain != "" && len(plain)+len(groups)-1 == len(text)
}

// intValue is the value of a flag that takes an integer as parseNumber does.
type intValue int

func intFlag(flags *pflag.FlagSet, p *int, name, shorthand string, value int, usage string) {
	*p = value
	flags.VarP((*intValue)(p), name, shorthand, usage)
}

func (v *intValue) Set(text string) error {
	n, err := parseNumber(text)
	if err != nil {
		return fmt.Errorf("%w: %s", err, numberExamples)
	}
	*v = intValue(n)
	return nil
}

func (v *intValue) String() string { return strconv.Itoa(int(*v)) }
func (v *intValue) Type() string   { return "int" }

// numbersValue is the value of a flag that takes integers separated by commas.
type numbersValue struct {
	list    *[]int
	changed bool // the default is gone
}

func (v *numbersValue) Set(text string) error {
	var list []int
	for each := range strings.SplitSeq(text, ",") {
		n, err := parseNumber(each)
		if err != nil {
			return fmt.Errorf("%w: write numbers separated by commas, such as 500,2k,8k", err)
		}
		list = append(list, n)
	}
	if v.changed {
		list = append(*v.list, list...)
	}
	*v.list, v.changed = list, true
	return nil
}

func (v *numbersValue) String() string { return fmt.Sprint(*v.list) }
func (v *numbersValue) Type() string   { return "ints" }

// slotsValue is the value of a flag that takes tokens for a kind.
type slotsValue map[string]int

func (v *slotsValue) Set(text string) error {
	if *v == nil {
		*v = make(slotsValue)
	}
	for pair := range strings.SplitSeq(text, ",") {
		kind, number, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q is not of the form kind=tokens, such as ToolOutput=2k", pair)
		}
		n, err := parseNumber(number)
		if err != nil {
			return fmt.Errorf("%w: write kind=tokens, such as ToolOutput=2k", err)
		}
		(*v)[kind] = n
	}
	return nil
}

func (v *slotsValue) String() string { return "" }
func (v *slotsValue) Type() string   { return "kind=tokens" }

// flagError names the flag whose value is wrong, or one that was probably meant.
func flagError(command *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		command.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return usagef("%w%s", err, didYouMean(unknown.GetSpecifiedName(), names, "--"))
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	name := "--" + invalid.GetFlag().Name
	number, ok := errors.AsType[*strconv.NumError](err) // of pflag's own types
	switch {
	case !ok:
		return usagef("%s: %w", name, errors.Unwrap(invalid))
	case errors.Is(number, strconv.ErrRange):
		return usagef("%s: %s is out of range", name, number.Num)
	case number.Func == "ParseBool":
		return usagef("%s: must be true or false, got %q", name, number.Num)
	}
	return usagef("%s: must be a number, got %q", name, number.Num)
}
