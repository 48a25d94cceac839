package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupeltiktoken"
	"github.com/wollax/cupel-go/internal/english"
)

// candidateFlags are the flags of every command that reads candidates.
type candidateFlags struct {
	items    string
	format   string
	encoding string
	noPin    bool
	rules    []string
	pins     []int
}

func (f *candidateFlags) register(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&f.items, "items", "i", "", "`file`, folder or - with the candidates")
	flags.StringVar(&f.format, "format", string(input.Auto), "`format` of the input; one of "+strings.Join(input.Formats(), ", "))
	encodingFlag(command, &f.encoding)
	flags.BoolVar(&f.noPin, "no-pin", false, "pin only the tool definitions of a transcript, not the system prompt or the user's messages")
	flags.StringArrayVar(&f.rules, "rule", nil, "a `rule` for messages, such as 'keep tool=read_*', 'latest=3 tool=bash' or 'never text=DEBUG'; may be repeated")
	flags.IntSliceVar(&f.pins, "pin", nil, "`message` to keep whole, or item, by its number from 1; may be repeated")
}

// read reads the candidates.
func (f *candidateFlags) read(ctx context.Context, env *Environment, counter cupel.TokenCounter) (*input.Candidates, error) {
	options := input.Options{Format: input.Format(f.format), Counter: counter, NoPin: f.noPin}
	candidates, err := readCandidates(ctx, env, f.items, options)
	if err != nil {
		return nil, err
	}
	note(env, candidates.Notes...)
	texts := f.rules
	if candidates.Conversation != nil {
		texts = slices.Concat(texts, env.pins)
	}
	rules, err := parseRules(texts)
	if err != nil {
		return nil, err
	}
	if candidates, err = withPins(candidates, f.pins...); err != nil {
		return nil, err
	}
	return withRules(candidates, rules)
}

// readCandidates reads a file or a folder.
func readCandidates(ctx context.Context, env *Environment, name string, options input.Options) (*input.Candidates, error) {
	if info, err := os.Stat(name); name != "-" && err == nil && info.IsDir() {
		if options.Format != input.Auto {
			return nil, usagef("--format does not apply to a folder: %s", name)
		}
		candidates, err := input.ReadFolder(ctx, name, options.Counter, env.mostInput(input.MaxFolderBytes))
		if err != nil {
			return nil, usagef("%s: %w", name, err)
		}
		return candidates, nil
	}
	r, done, err := open(env, name)
	if err != nil {
		return nil, err
	}
	defer done()
	candidates, err := input.Read(r, options)
	if err != nil {
		return nil, usagef("%s: %w", shown(name), err)
	}
	return candidates, nil
}

// budgetFlags are the flags that make a budget.
type budgetFlags struct {
	budget  int
	reserve int
	margin  float64
	prefix  string // of their names in errors, if they are not flags
}

func (f *budgetFlags) register(command *cobra.Command) {
	command.Flags().FuncP("budget", "b", "`tokens` for the window and the answer: 8000, 8k, or a model", func(text string) (err error) {
		f.budget, err = parseBudget(text)
		return err
	})
	f.registerReserves(command)
}

// registerReserves registers the flags for reserves of a budget.
func (f *budgetFlags) registerReserves(command *cobra.Command) {
	command.Flags().Func("reserve", "`tokens` to reserve for the answer", amount(&f.reserve, 0))
	command.Flags().Float64Var(&f.margin, "margin", 0, "safety margin for inexact token counts, in `percent`")
}

// make returns the budget.
func (f *budgetFlags) make() (cupel.ContextBudget, error) {
	budget, err := cupel.NewContextBudget(f.budget, max(f.budget-f.reserve, 0), cupel.WithOutputReserve(f.reserve), cupel.WithEstimationSafetyMargin(f.margin))
	if err != nil {
		return budget, codedError{budgetError{err, cmp.Or(f.prefix, "--")}, exitUsage}
	}
	return budget, nil
}

// budgetError is an error of a budget that names the flags, or the members of a file.
type budgetError struct {
	error
	prefix string
}

func (e budgetError) Error() string {
	names := strings.NewReplacer("cupel: invalid budget: ", "", "maxTokens", e.prefix+"budget", "outputReserve", e.prefix+"reserve", "estimationSafetyMarginPercent", e.prefix+"margin")
	return names.Replace(e.error.Error())
}

// selectionFlags are the flags of every command that makes one selection.
type selectionFlags struct {
	candidateFlags
	budgetFlags
	query  string
	policy string
}

func (f *selectionFlags) register(command *cobra.Command) {
	f.candidateFlags.register(command)
	f.budgetFlags.register(command)
	queryFlag(command, &f.query)
	policyFlag(command, &f.policy)
}

// requireFlag marks a flag that a command cannot do without.
func requireFlag(command *cobra.Command, name string) {
	must(command.MarkFlagRequired(name))
}

// selection is the input of a selection.
type selection struct {
	*input.Candidates
	chooser
	budget cupel.ContextBudget
}

// selection returns a selection from candidates, with the rules of the
// policy's file.
func (c chooser) selection(candidates *input.Candidates, budget cupel.ContextBudget) (*selection, error) {
	if c.file != nil {
		var err error
		if candidates, err = withRules(candidates, c.file.Rules); err != nil {
			return nil, err
		}
	}
	return &selection{candidates, c, budget}, nil
}

// read reads candidates, policy and budget.
func (f *selectionFlags) read(ctx context.Context, env *Environment) (*selection, error) {
	selections, err := f.readFor(ctx, env, f.policy)
	if err != nil {
		return nil, err
	}
	return selections[0], nil
}

// readFor reads candidates, budget and several policies, and returns a selection for
// each policy.
func (f *selectionFlags) readFor(ctx context.Context, env *Environment, policies ...string) ([]*selection, error) {
	counter, err := counterNamed(f.encoding)
	if err != nil {
		return nil, err
	}
	candidates, err := f.candidateFlags.read(ctx, env, counter)
	if err != nil {
		return nil, err
	}
	if f.budget == 0 {
		if err := f.ofModel(env, candidates); err != nil {
			return nil, err
		}
	}
	budget, err := f.make()
	if err != nil {
		return nil, err
	}
	selections := make([]*selection, len(policies))
	for i, name := range policies {
		if name == "" {
			if name, err = f.usual(candidates); err != nil {
				return nil, err
			}
		}
		asked := asking(f.query)
		asked.ofMessages = candidates.Conversation != nil
		c, err := asked.chooser(env, name, counter)
		if err != nil {
			return nil, err
		}
		c.preset = c.preset.Remember() // for many choices
		if selections[i], err = c.selection(candidates, budget); err != nil {
			return nil, err
		}
	}
	if env.selected != nil || len(policies) > 1 {
		env.selected = &selection{budget: budget} // there is not one policy
	} else {
		env.selected = selections[0]
	}
	return selections, nil
}

// usual returns the policy for candidates if no flag names one.
func (f *selectionFlags) usual(candidates *input.Candidates) (string, error) {
	switch {
	case candidates.Conversation != nil:
		return agentPolicy, nil
	case f.query == "":
		return "", usagef("these are not messages (%s), and are chosen by their relevance: give a question with -q, or a --policy", candidates.Format)
	}
	return relevance, nil
}

// usualReserve is the reserve for the answer in the window of a model if the request does
// not set it.
const usualReserve = 4_096

// ofModel makes the budget from the window of the model that a request names.
func (f *budgetFlags) ofModel(env *Environment, candidates *input.Candidates) error {
	model := findModel(candidates.Model)
	window := contexts[model]
	switch {
	case candidates.Model == "":
		return usagef("give a --budget, such as -b 20k: the input names no model")
	case model == "":
		return usagef("give a --budget, such as -b 20k: the window of %.60q is not among those known in %s", candidates.Model, modelsAsOf)
	case f.reserve == 0:
		f.reserve = cmp.Or(candidates.Answer, usualReserve)
	}
	if f.reserve >= window {
		return usagef("%s tokens are for the answer, and the window of %s has %s: give a smaller --reserve, such as --reserve %d", english.Grouped(f.reserve), model, english.Grouped(window), usualReserve)
	}
	f.budget = window
	note(env, fmt.Sprintf("the window of %s has %s tokens (%s); %s are for the answer", model, english.Grouped(f.budget), modelsAsOf, english.Grouped(f.reserve)))
	return nil
}

// selecting marks the errors of a run.
func selecting(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, cupel.ErrInvalidConfig):
		return codedError{err, exitUsage}
	}
	return codedError{err, exitSelection}
}

// selecting marks the error of a run. If pinned items do not fit, it adds what to do.
// Forms depend on the budget, so it tries the one that it names.
func (s *selection) selecting(ctx context.Context, err error) error {
	if !errors.Is(err, pipeline.ErrPinnedExceedsBudget) {
		return selecting(err)
	}
	least, _ := s.smallest(ctx, func(*analysis.Ledger) bool { return true }) // an interrupt has no advice
	if !least.Found {
		return selecting(err)
	}
	if large, ok := errors.AsType[*cupelchat.TooLargeError](err); ok {
		large.Needed = least.Tokens - s.budget.OutputReserve()
	}
	advice := `or pin less: remove "pinned" from items. cupel explain lists them.`
	if s.Conversation != nil {
		advice = "or --no-pin, which pins the tool definitions alone."
	}
	return selecting(fmt.Errorf("%w\n\tGive a --budget of at least %s, %s", err, english.Grouped(least.Tokens), advice))
}

// encodings are the values of --encoding, apart from models.
var encodings = []string{"o200k_base", "cl100k_base", "p50k_base", "r50k_base", "heuristic"}

// encodingFlag registers the flag that sets how tokens are counted.
func encodingFlag(command *cobra.Command, encoding *string) {
	command.Flags().StringVar(encoding, "encoding", string(cupeltiktoken.EncodingO200kBase), "count tokens with this `encoding` or model; OpenAI's, or heuristic for an estimate")
}

// counterNamed returns the counter that --encoding names.
func counterNamed(name string) (cupel.TokenCounter, error) {
	if strings.EqualFold(name, "heuristic") {
		return cupel.HeuristicCounter{}, nil
	}
	if counter, err := cupeltiktoken.ForEncoding(cupeltiktoken.Encoding(name)); err == nil {
		return counter, nil
	}
	counter, err := cupeltiktoken.ForModel(name)
	if err != nil {
		return nil, usagef("--encoding: %.40q is unknown; want one of %s or a model of OpenAI's", name, strings.Join(encodings, ", "))
	}
	return counter, nil
}

// oneOf returns an error for a flag with a value that is unknown.
func oneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usagef("--%s: %q is not one of %s", flag, value, strings.Join(known, ", "))
}

// must panics on errors that only a mistake in this package can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// headline returns the line for an item in a table: the title of a message, or
// otherwise the content.
func headline(item *cupel.ContextItem) string {
	if title := textOf(item, "title"); title != "" && textOf(item, "role") != "" {
		return title
	}
	return item.Content()
}

// kindOf returns the kind of an item in tables: the role of a message, or the
// kind.
func kindOf(item *cupel.ContextItem) string {
	return cmp.Or(textOf(item, "role"), string(item.Kind()))
}

// textOf returns the role, the tool or the title of a message, or "" for any other item.
func textOf(item *cupel.ContextItem, key string) string {
	text, _ := item.MetadataText(key)
	return text
}
