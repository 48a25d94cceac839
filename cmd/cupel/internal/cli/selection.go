package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
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
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	agentpreset "github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupeltiktoken"
	"github.com/wollax/cupel-go/cupeltoml"
	"github.com/wollax/cupel-go/internal/english"
)

// candidateFlags are the flags of every command that reads candidates.
type candidateFlags struct {
	transcriptFlags
	items       []string
	format      string
	encoding    string
	skipInvalid bool
}

func (f *candidateFlags) register(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVarP(&f.items, "items", "i", nil, "`file`, folder or - with the candidates; several lists are joined")
	flags.StringVar(&f.format, "format", string(input.Auto), "`format` of the input; one of "+strings.Join(input.Formats(), ", "))
	encodingFlag(command, &f.encoding, "count missing tokens")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "skip items that are not valid, and say how many")
	must(command.MarkFlagRequired("items"))
	must(command.MarkFlagFilename("items", "json", "jsonl"))
	complete(command, "format", input.Formats()...)
	f.transcriptFlags.register(command)
}

// read reads the candidates. Lists of several files are joined.
func (f *candidateFlags) read(ctx context.Context, env *Environment) (*input.Candidates, error) {
	counter, err := counterNamed(f.encoding)
	if err != nil {
		return nil, err
	}
	if f.format != "" && !slices.Contains(input.Formats(), f.format) {
		return nil, usagef("--format: %.40q is unknown%s; want one of %s", f.format, didYouMean(f.format, input.Formats()), strings.Join(input.Formats(), ", "))
	}
	options := input.Options{Format: input.Format(f.format), Counter: counter, SkipInvalid: f.skipInvalid}
	if err := f.apply(&options); err != nil {
		return nil, err
	}
	var all *input.Candidates
	for _, name := range f.items {
		candidates, err := readCandidates(ctx, env, name, options)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = candidates
			continue
		}
		if all.Conversation != nil || candidates.Conversation != nil {
			return nil, usagef("--items: several files are joined if they are lists of items or folders, and one of %s is a transcript: give it alone", f.source())
		}
		all.Items, all.Notes = append(all.Items, candidates.Items...), append(all.Notes, candidates.Notes...)
	}
	note(env.Stderr, all.Notes)
	return all, nil
}

// source names where the candidates are from.
func (f *candidateFlags) source() string {
	names := make([]string, len(f.items))
	for i, name := range f.items {
		names[i] = shown(name)
	}
	return strings.Join(names, ", ")
}

// readCandidates reads a file or a folder.
func readCandidates(ctx context.Context, env *Environment, name string, options input.Options) (*input.Candidates, error) {
	defer env.busy("reading " + shown(name))()
	candidates, err := func() (*input.Candidates, error) {
		if info, err := os.Stat(name); name != "-" && err == nil && info.IsDir() {
			if options.Format != input.Auto {
				return nil, usagef("--format does not apply to a folder: %s", name)
			}
			return input.ReadFolder(ctx, name, options.Counter)
		}
		r, done, err := open(env, name)
		if err != nil {
			return nil, err
		}
		defer done()
		return input.Read(r, options)
	}()
	if usage, ok := errors.AsType[usageError](err); ok { // it has the name
		return nil, usage
	}
	if err != nil {
		return nil, usagef("%s: %w", shown(name), advised(err))
	}
	return candidates, nil
}

// advised adds to an error of package input what helps.
func advised(err error) error {
	if _, ok := errors.AsType[*input.InvalidItemError](err); ok {
		return fmt.Errorf("%w; --skip-invalid leaves such items out", err)
	}
	return err
}

// budgetFlags are the flags that make a budget.
type budgetFlags struct {
	budget          amount
	target, reserve int
	slots           map[string]int
	margin          float64
}

func (f *budgetFlags) register(command *cobra.Command) {
	flags := command.Flags()
	amountFlag(command, &f.budget, "budget", "b", "`tokens` of window and answer: 8000, 8k, 50%, a model; a share is of all candidates")
	intFlag(flags, &f.target, "target", "", 0, "`tokens` to fill (default: the budget minus the reserve)")
	f.registerReserves(command)
	must(command.MarkFlagRequired("budget"))
}

// registerReserves registers what is taken off a budget.
func (f *budgetFlags) registerReserves(command *cobra.Command) {
	flags := command.Flags()
	intFlag(flags, &f.reserve, "reserve", "", 0, "`tokens` to reserve for the answer")
	flags.Var((*slotsValue)(&f.slots), "reserve-kind", "`kind=tokens` to reserve for later items; may be repeated")
	flags.Float64Var(&f.margin, "margin", 0, "safety margin for inexact token counts, in `percent`")
}

// make returns the budget for some candidates. targetGiven says whether --target
// is set.
func (f *budgetFlags) make(targetGiven bool, items []*cupel.ContextItem) (cupel.ContextBudget, error) {
	if f.budget.percent > 0 && len(items) == 0 {
		return cupel.ContextBudget{}, usagef("--budget: %s needs candidates to be a share of", f.budget)
	}
	total := f.budget.of(items)
	target := f.target
	if !targetGiven {
		target = max(total-max(f.reserve, 0), 0)
	}
	opts := []cupel.BudgetOption{cupel.WithOutputReserve(f.reserve), cupel.WithEstimationSafetyMargin(f.margin)}
	if len(f.slots) > 0 {
		slots := make(map[cupel.ContextKind]int, len(f.slots))
		for _, kind := range slices.Sorted(maps.Keys(f.slots)) {
			slots[cupel.ContextKind(kind)] = f.slots[kind]
		}
		opts = append(opts, cupel.WithReservedSlots(slots))
	}
	budget, err := cupel.NewContextBudget(total, target, opts...)
	if err != nil {
		return budget, usageError{budgetError{err}}
	}
	return budget, nil
}

// budgetError is an error of a budget that names the flags.
type budgetError struct{ err error }

func (e budgetError) Error() string { return flagsOfBudget.Replace(e.err.Error()) }
func (e budgetError) Unwrap() error { return e.err }

// flagsOfBudget replaces the fields of a budget in an error by their flags.
var flagsOfBudget = strings.NewReplacer("cupel: invalid budget: ", "", "maxTokens", "--budget", "targetTokens", "--target",
	"outputReserve", "--reserve", "reservedSlots", "--reserve-kind", "estimationSafetyMarginPercent", "--margin")

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
	policyFlag(command, &f.policy)
}

func policyFlag(command *cobra.Command, policy *string) {
	command.Flags().StringVarP(policy, "policy", "p", "", "`name` of a preset or of a policy file (.json, .toml); see cupel policies")
	must(command.MarkFlagRequired("policy"))
	completePolicy(command, "policy", agentPolicy)
}

// chooser is what a policy chooses with.
type chooser struct {
	policy   policy.Policy
	pipeline *pipeline.Pipeline
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
	described := policy.Policy{Name: agentPolicy, Description: agentDescription}
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
	c, err := f.readChooser(env, f.policy, f.encoding)
	if err != nil {
		return nil, err
	}
	candidates, err := f.candidateFlags.read(command.Context(), env)
	if err != nil {
		return nil, err
	}
	budget, err := f.make(command.Flags().Changed("target"), candidates.Items)
	if err != nil {
		return nil, err
	}
	if m := f.budget.model; m != "" {
		note(env.Stderr, []string{fmt.Sprintf("%s has a context of %s tokens, as of %s", m, english.Grouped(budget.MaxTokens()), modelsAsOf)})
	}
	return c.selection(command.Context(), candidates, budget)
}

// keeping returns a pipeline for candidates. Messages are never duplicates: a
// retry, or the same answer of a tool that is polled, says something of its own.
func keeping(candidates *input.Candidates, p *pipeline.Pipeline) *pipeline.Pipeline {
	config := p.Config()
	if candidates.Conversation == nil || config.KeepDuplicates {
		return p
	}
	config.KeepDuplicates = true
	kept, err := pipeline.New(config)
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
			return p, usagef("no policy is named %q%s; the presets are %s; a policy file ends in .json or .toml", name, didYouMean(name, names), strings.Join(names, ", "))
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

// encodings are what --encoding takes, apart from models.
var encodings = []string{"o200k_base", "cl100k_base", "p50k_base", "r50k_base", "heuristic"}

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
		known := slices.Clone(encodings)
		for _, m := range models {
			known = append(known, m.name)
		}
		return nil, usagef("--encoding: %.40q is unknown%s; want one of %s or a model of OpenAI's; heuristic gives an estimate for any model",
			name, didYouMean(name, known), strings.Join(encodings[:4], ", "))
	}
	return counter, nil
}

// open opens a file, or standard input for "-", which can be opened once. What
// gzip compressed is uncompressed.
func open(env *Environment, name string) (io.Reader, func(), error) {
	var r io.Reader
	done := func() {}
	if name == "-" {
		if env.stdinTaken {
			return nil, nil, usagef("standard input can be read once: give a file for the other input")
		}
		env.stdinTaken = true
		r = env.Stdin
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, usageError{err}
		}
		// The file was only read: an error from Close does not matter.
		r, done = file, func() { _ = file.Close() }
		if at := make([]byte, len(gzipMagic)); !strings.HasSuffix(name, ".gz") {
			// A file as it is tells readers its size.
			if n, err := file.ReadAt(at, 0); err == nil && string(at[:n]) != gzipMagic || errors.Is(err, io.EOF) {
				return r, done, nil
			}
		}
	}
	r, err := uncompressed(r)
	if err != nil {
		done()
		return nil, nil, usagef("%s: %w", shown(name), err)
	}
	return r, done, nil
}

// uncompressed returns a reader of what gzip compressed, or of the text as it is.
func uncompressed(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	if begins, _ := buffered.Peek(len(gzipMagic)); string(begins) != gzipMagic { // reading it reports an error
		return buffered, nil
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("what gzip compressed cannot be read: %w", err)
	}
	return gunzip{unzipped}, nil
}

// gunzip says of errors that gzip has them.
type gunzip struct{ *gzip.Reader }

func (g gunzip) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("what gzip compressed is cut or broken: %w", err)
	}
	return n, err
}

// gzipMagic is how each file of gzip begins.
const gzipMagic = "\x1f\x8b"

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
