package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// intValue is the value of a flag that takes an integer in decimal. pflag's own
// reads 010 as 8.
type intValue int

func intFlag(flags *pflag.FlagSet, p *int, name, shorthand string, value int, usage string) {
	*p = value
	flags.VarP((*intValue)(p), name, shorthand, usage)
}

func (v *intValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err == nil {
		*v = intValue(n)
	}
	return err
}

func (v *intValue) String() string { return strconv.Itoa(int(*v)) }
func (v *intValue) Type() string   { return "int" }

// flagError says in plain words that the value of a flag is not a number.
func flagError(err error) error {
	flag, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	number, ok := errors.AsType[*strconv.NumError](err)
	if !ok {
		return err
	}
	name := "--" + flag.GetFlag().Name
	switch {
	case errors.Is(number, strconv.ErrRange):
		return usagef("%s: %s is out of range", name, number.Num)
	case number.Func == "ParseFloat":
		return usagef("%s: must be a number, got %q", name, number.Num)
	case number.Func == "ParseBool":
		return usagef("%s: must be true or false, got %q", name, number.Num)
	}
	return usagef("%s: must be an integer in decimal, such as 8000, got %q", name, number.Num)
}
