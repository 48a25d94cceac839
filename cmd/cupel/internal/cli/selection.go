package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	agentpreset "github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupeltiktoken"
	"github.com/wollax/cupel-go/cupeltoml"
)

// candidateFlags are the flags of every command that reads candidates.
type candidateFlags struct {
	transcriptFlags
	items    string
	format   string
	encoding string
}

func (f *candidateFlags) register(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&f.items, "items", "i", "", "`file` with the candidates, a folder to split into candidates, or - for standard input")
	flags.StringVar(&f.format, "format", string(input.Auto), "input format: "+strings.Join(input.Formats(), ", "))
	flags.StringVar(&f.encoding, "encoding", string(cupeltiktoken.EncodingO200kBase), "count missing tokens with this OpenAI encoding or model, or heuristic for an estimate")
	must(command.MarkFlagRequired("items"))
	must(command.MarkFlagFilename("items", "json", "jsonl"))
	complete(command, "format", input.Formats()...)
	complete(command, "encoding", "o200k_base", "cl100k_base", "p50k_base", "r50k_base", "heuristic")
	f.transcriptFlags.register(command)
}

// read reads the candidates.
func (f *candidateFlags) read(ctx context.Context, env *Environment) (*input.Candidates, error) {
	counter, err := counterNamed(f.encoding)
	if err != nil {
		return nil, err
	}
	options := input.Options{Format: input.Format(f.format), Counter: counter}
	if err := f.apply(&options); err != nil {
		return nil, err
	}
	var candidates *input.Candidates
	if info, statErr := os.Stat(f.items); f.items != "-" && statErr == nil && info.IsDir() {
		if options.Format != input.Auto {
			return nil, usagef("--format does not apply to a folder: %s", f.items)
		}
		candidates, err = input.ReadFolder(ctx, f.items, counter)
	} else {
		r, done, openErr := open(env, f.items)
		if openErr != nil {
			return nil, openErr
		}
		defer done()
		candidates, err = input.Read(r, options)
	}
	if err != nil {
		return nil, usagef("%s: %w", shown(f.items), err)
	}
	note(env.Stderr, candidates.Notes)
	return candidates, nil
}

// budgetFlags are the flags that make a budget.
type budgetFlags struct {
	budget, target, reserve int
	slots                   map[string]int
	margin                  float64
}

func (f *budgetFlags) register(command *cobra.Command) {
	flags := command.Flags()
	intFlag(flags, &f.budget, "budget", "b", 0, "maximum `tokens` of the window, including the answer")
	intFlag(flags, &f.target, "target", "", 0, "`tokens` that the selection should fill (default: the budget minus the reserve)")
	intFlag(flags, &f.reserve, "reserve", "", 0, "`tokens` to reserve for the answer")
	registerSlots(command, &f.slots)
	flags.Float64Var(&f.margin, "margin", 0, "safety margin for inexact token counts, in `percent`")
	must(command.MarkFlagRequired("budget"))
}

func registerSlots(command *cobra.Command, slots *map[string]int) {
	flags := command.Flags()
	flags.StringToIntVar(slots, "reserve-kind", nil, "`kind=tokens` to reserve for later items of a kind; may be repeated")
	flags.Lookup("reserve-kind").DefValue = "" // print no default
}

// make returns the budget. given says whether --target is set.
func (f *budgetFlags) make(targetGiven bool) (cupel.ContextBudget, error) {
	target := f.target
	if !targetGiven {
		target = max(f.budget-max(f.reserve, 0), 0)
	}
	opts := []cupel.BudgetOption{cupel.WithOutputReserve(f.reserve), cupel.WithEstimationSafetyMargin(f.margin)}
	if len(f.slots) > 0 {
		slots := make(map[cupel.ContextKind]int, len(f.slots))
		for _, kind := range slices.Sorted(maps.Keys(f.slots)) {
			slots[cupel.ContextKind(kind)] = f.slots[kind]
		}
		opts = append(opts, cupel.WithReservedSlots(slots))
	}
	budget, err := cupel.NewContextBudget(f.budget, target, opts...)
	if err != nil {
		return budget, usageError{err}
	}
	return budget, nil
}

// selectionFlags are the flags of every command that makes one selection.
type selectionFlags struct {
	candidateFlags
	budgetFlags
	queryFlags
	policy string
}

func (f *selectionFlags) register(command *cobra.Command) {
	f.candidateFlags.register(command)
	f.budgetFlags.register(command)
	f.queryFlags.register(command)
	command.Flags().StringVarP(&f.policy, "policy", "p", "", "`name` of a preset, or a policy file (.json, .toml)")
	must(command.MarkFlagRequired("policy"))
	completePolicy(command, "policy", agentPolicy)
}

// chooser is what a policy chooses with.
type chooser struct {
	policy   policy.Policy
	pipeline *cupel.Pipeline
	preset   *agentpreset.Preset // prepares items for the pipeline, or nil
}

// readChooser finds the policy that a flag or an argument names.
func (f *queryFlags) readChooser(env *Environment, name, encoding string) (chooser, error) {
	if name != agentPolicy {
		p, pipeline, err := f.readPolicy(env, name)
		return chooser{p, pipeline, nil}, err
	}
	asked, err := f.question(env)
	switch {
	case err != nil:
		return chooser{}, err
	case asked.given:
		return chooser{}, usagef("the policy agent takes no question: --query is for others")
	}
	counter, err := counterNamed(encoding)
	if err != nil {
		return chooser{}, err
	}
	preset := agentpreset.New(counter)
	described := policy.Policy{Name: agentPolicy, Description: "The newest exchanges whole, outlines of the others."}
	return chooser{described, preset.Pipeline(), preset}, nil
}

// selection is the input of a selection.
type selection struct {
	*input.Candidates
	chooser
	budget cupel.ContextBudget
	items  []*cupel.ContextItem // what the pipeline selects from
	notes  []string             // what differs in items
}

// selection prepares the candidates for a budget. All commands select from the
// same items: those of a conversation have the pins that fit, and a task that is
// reduced if it does not.
func (c chooser) selection(ctx context.Context, candidates *input.Candidates, budget cupel.ContextBudget) (*selection, error) {
	s := &selection{Candidates: candidates, chooser: c, budget: budget, items: candidates.Items}
	s.pipeline = keeping(candidates, c.pipeline)
	var err error
	if candidates.Conversation != nil {
		if s.items, s.notes, err = candidates.Conversation.Candidates(budget); err != nil {
			return nil, selecting(err)
		}
	}
	if c.preset != nil {
		if s.items, err = c.preset.Prepare(ctx, s.items, budget); err != nil {
			return nil, selecting(err)
		}
	}
	return s, nil
}

// read reads candidates, policy and budget.
func (f *selectionFlags) read(env *Environment, command *cobra.Command) (*selection, error) {
	budget, err := f.make(command.Flags().Changed("target"))
	if err != nil {
		return nil, err
	}
	c, err := f.readChooser(env, f.policy, f.encoding)
	if err != nil {
		return nil, err
	}
	candidates, err := f.candidateFlags.read(command.Context(), env)
	if err != nil {
		return nil, err
	}
	return c.selection(command.Context(), candidates, budget)
}

// keeping returns a pipeline for candidates. Messages are never duplicates: a
// retry, or the same answer of a tool that is polled, says something of its own.
func keeping(candidates *input.Candidates, p *cupel.Pipeline) *cupel.Pipeline {
	config := p.Config()
	if candidates.Conversation == nil || config.KeepDuplicates {
		return p
	}
	config.KeepDuplicates = true
	kept, err := cupel.New(config)
	must(err) // the configuration is that of a pipeline
	return kept
}

func findPolicy(env *Environment, registry *policy.Registry, name string) (policy.Policy, error) {
	if !isPolicyFile(name) && name != "-" {
		p, err := registry.Lookup(name)
		if err != nil {
			var names []string
			for intent := range registry.All() {
				names = append(names, intent)
			}
			names = append(names, agentPolicy)
			return p, usagef("no policy is named %q; the presets are %s; a policy file ends in .json or .toml", name, strings.Join(names, ", "))
		}
		return p, nil
	}
	r, done, err := open(env, name)
	if err != nil {
		return policy.Policy{}, err
	}
	defer done()
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		p, err := cupeltoml.ReadPolicy(registry, r)
		if err != nil {
			return p, usagef("%s: %w", name, err)
		}
		return p, nil
	}
	var data bytes.Buffer
	if _, err := data.ReadFrom(io.LimitReader(r, policy.MaxBytes+1)); err != nil {
		return policy.Policy{}, usagef("%s: %w", shown(name), err)
	}
	p, err := policy.Decode(registry, data.Bytes())
	if err != nil {
		return p, usagef("%s: %w", shown(name), err)
	}
	return p, nil
}

// isPolicyFile reports whether a name is that of a file, not of a preset.
func isPolicyFile(name string) bool {
	extension := filepath.Ext(name)
	return strings.EqualFold(extension, ".json") || strings.EqualFold(extension, ".toml")
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
		return nil, usagef("--encoding: %w; heuristic gives an estimate for any model", err)
	}
	return counter, nil
}

// open opens a file, or standard input for "-", which can be opened once.
func open(env *Environment, name string) (io.Reader, func(), error) {
	if name == "-" {
		if env.stdinTaken {
			return nil, nil, usagef("standard input can be read once: give a file for the other input")
		}
		env.stdinTaken = true
		return env.Stdin, func() {}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, usageError{err}
	}
	// The file was only read: an error from Close does not matter.
	return file, func() { _ = file.Close() }, nil
}

func shown(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// selecting marks the errors of a run.
func selecting(err error) error {
	var config *cupel.InvalidConfigError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &config):
		return usageError{err}
	}
	return selectionError{err}
}

// completePolicy completes the names of presets and other names, and files.
func completePolicy(command *cobra.Command, flag string, others ...string) {
	must(command.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names := slices.Clone(others)
		for intent, p := range new(question).registry().All() {
			names = append(names, fmt.Sprintf("%s\t%s", intent, p.Description))
		}
		return names, cobra.ShellCompDirectiveDefault
	}))
}

func complete(command *cobra.Command, flag string, values ...string) {
	must(command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// optional takes back that flags are required.
func optional(command *cobra.Command, names ...string) {
	for _, name := range names {
		// The annotation, even with the value false, makes completion offer the flag first.
		delete(command.Flags().Lookup(name).Annotations, cobra.BashCompOneRequiredFlag)
	}
}

// must panics on errors that only a mistake in this package can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
