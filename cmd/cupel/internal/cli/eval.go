package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// evalFlags are the flags of newEval.
type evalFlags struct {
	measureFlags
	policies []string
	budgets  []int
	against  string
}

// measureFlags are the flags of every command that measures policies on data.
type measureFlags struct {
	data    []string
	jobs    int
	json    bool
	svg     string
	force   bool
	part    string
	holdOut int
	corpusFlags
}

func (f *measureFlags) register(command *cobra.Command, data, plot string) {
	set := command.Flags()
	set.StringArrayVar(&f.data, "data", nil, "`file` with "+data+", or -; may be repeated")
	intFlag(set, &f.jobs, "jobs", "j", 0, "measure this `number` in parallel (default: the number of processors)")
	f.registerResult(command, plot)
	f.corpusFlags.register(set)
	set.StringVar(&f.part, "part", partAll, "`part` of the conversations to measure: all, tune or held-out")
	intFlag(set, &f.holdOut, "hold-out", "", 2, "hold out one conversation in `n`")
	must(command.MarkFlagRequired("data"))
	must(command.MarkFlagFilename("data", "json", "jsonl"))
	complete(command, "part", partAll, partTune, partHeldOut)
}

// registerResult adds the flags that say what becomes of a result.
func (f *measureFlags) registerResult(command *cobra.Command, plot string) {
	set := command.Flags()
	set.BoolVar(&f.json, "json", false, "print JSON")
	set.BoolVar(&f.force, "force", false, "overwrite files")
	if plot != "" {
		set.StringVar(&f.svg, "svg", "", "plot "+plot+" to this `file`; - is standard output in place of the table")
		must(command.MarkFlagFilename("svg", "svg"))
	}
}

// The parts of the data.
const (
	partAll     = "all"
	partTune    = "tune"
	partHeldOut = "held-out"
)

// withQuery at the end of a policy's name measures the policy as --query
// changes it.
const withQuery = "+query"

// newEval returns the command that measures policies.
func newEval(env *Environment) *cobra.Command {
	var flags evalFlags
	command := &cobra.Command{
		Use:   "eval",
		Short: "Measure how much labelled evidence policies select",
		Long: `eval reads conversations whose questions are labelled with the turns that
answer them. For each policy and budget it selects for every question, and
prints the share of the evidence that is selected (recall), the share of the
selection that is evidence (precision), and the share of the budget that is
used.

The data are JSON Lines, one conversation per line (shown here on several):

  {"id": "meeting-1",
   "items": [{"speaker": "Ada", "content": "Shall we start?", "session": "morning",
              "time": "2025-03-01T09:00:00Z"}],
   "questions": [{"query": "Who opened the meeting?", "evidence": [0]}]}

Speaker, session and time are optional. A time may also be Unix seconds, or a
date like 1:56 pm on 8 May, 2023. Evidence lists positions in items, from 0. A
turn counts one token per four characters, plus four.

A policy is one of recency, lexical, neighbours and relevance, a preset, or a
file. Relevance is measured against each question. NAME+query is the policy as
--query changes it: with relevance added to its scorers. NAME@0.6 is the policy in
a session, which keeps this share of the budget from question to question, and
gives the rest to each. The table then has the cost with a prompt cache, as a share
of writing the whole budget: 0.1 a token for the prefix that the question before had,
1.25 for the rest. Turns with equal content are all kept. Ages are measured from the latest time in the data.

After each recall comes half the width of its 95 % interval over conversations
like these. With --against, each policy is compared with one of them: the
difference in recall, its interval, and how likely a difference of this size is
between policies that are equally good (p). All go by conversation, since the
questions of one conversation depend on each other.

Settings measured on the data they were tuned on look better than they are: tune
with --part tune, and report --part held-out. Every second conversation of a
file is held out; --hold-out changes that.

With --shard i/n and --output, each of n processes measures its part, goes on where
it was interrupted, and cupel merge adds up the parts.`,
		Example: `  cupel eval --data meetings.jsonl
  cupel eval --data meetings.jsonl -p chat -p mine.toml -b 500,2000
  cupel eval --data meetings.jsonl -p relevance -p mine.toml --against relevance
  cupel eval --data meetings.jsonl --part held-out --svg recall.svg`,
		Args: takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(env, command)
		},
	}
	var known []string
	for _, p := range eval.Builtin() {
		known = append(known, p.Name)
	}
	flags.register(command, "labelled conversations", "the recall")
	set := command.Flags()
	set.StringArrayVarP(&flags.policies, "policy", "p", known, "`policy` to measure; may be repeated")
	flags.budgets = []int{500, 1000, 2000, 4000, 8000}
	set.VarP(&numbersValue{list: &flags.budgets}, "budgets", "b", "budgets in `tokens`, separated by commas")
	set.StringVar(&flags.against, "against", "", "compare the recall of each policy with this `policy`")
	complete(command, "against", known...)
	completePolicy(command, "policy", known...)
	return command
}

func (f *evalFlags) run(env *Environment, command *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	clock, questions, err := f.latest(env)
	if err != nil {
		return err
	}
	var policies []eval.Policy
	for i, name := range f.policies {
		if slices.Contains(f.policies[:i], name) {
			return usagef("--policy: %q is given twice", name)
		}
		base, low, err := marked(name)
		if err != nil {
			return err
		}
		p, err := measured(env, base, clock)
		if err != nil {
			return err
		}
		if low > 0 {
			p.Name, p.InTurn = name, askedInSession(low)
		}
		policies = append(policies, p)
	}
	progress := newProgress(env, "questions")
	m, err := eval.NewMeasure(policies, f.budgets, eval.WithWorkers(f.jobs), eval.WithProgress(func(done, _ int) { progress.update(done, questions) }), eval.WithAgainst(f.against))
	if err != nil {
		return err
	}
	h, err := f.headerOf(evalFormat, fingerprints(f.policies), m.Plan())
	if err != nil {
		return err
	}
	table := eval.NewTable(m.Plan())
	corpus := measuring[eval.Conversation, eval.Sample]{measureFlags: &f.measureFlags, header: h, scan: eval.Scan, measure: m.Samples, add: table.Add, err: (*eval.Sample).Err}
	err = corpus.run(command.Context(), env)
	progress.end()
	switch {
	case err != nil:
		return measuringError[*eval.ReadError](err)
	case f.count > 1:
		return nil
	}
	return f.printEval(env, table)
}

// measuringError marks the errors of a measurement. R is that of a line.
func measuringError[R error](err error) error {
	if _, ok := errors.AsType[usageError](err); ok {
		return err
	}
	if _, ok := errors.AsType[R](err); ok {
		return usageError{err}
	}
	return selecting(err)
}

func (f *measureFlags) printEval(env *Environment, table *eval.Table) error {
	if table.Questions == 0 {
		return f.nothing("questions", ", "+plural(table.Conversations, "conversation"), table.Failed)
	}
	result := table.Result()
	err := f.write(env, result, struct {
		Part string `json:"part"`
		*eval.Result
	}{f.part, result})
	if err != nil {
		return err
	}
	var lines []string
	for _, p := range result.Policies {
		for _, point := range p.Points {
			if point.Failures > 0 {
				lines = append(lines, fmt.Sprintf("%s at %d: %d of %s failed; the first is %q: %s", p.Name, point.Budget, point.Failures,
					plural(result.Conversations, "conversation"), point.First.Conversation, message(errors.New(point.First.Reason))))
			}
		}
	}
	return failedAt(lines)
}

// nothing is the error for a measurement without what is measured: all figures would
// be 0.
func (f *measureFlags) nothing(what, of string, lost int) error {
	if lost > 0 {
		of += fmt.Sprintf(", %d could not be read or measured", lost)
	}
	return usagef("no %s to measure in %s (part %s%s)", what, strings.Join(f.data, ", "), f.part, of)
}

// failedAt returns an error with a line for each policy that failed, or nil.
func failedAt(lines []string) error {
	if lines == nil {
		return nil
	}
	return selectionError{errors.New(strings.Join(lines, "\n"))}
}

// measurement is the result of a measurement.
type measurement interface {
	Text() string
}

// write writes the plot if it is asked for, and the table or the JSON of value.
func (f *measureFlags) write(env *Environment, result measurement, value any) error {
	if plot, ok := result.(interface{ SVG() string }); ok && f.svg != "" {
		err := writeOutput(env, f.svg, f.force, func(w io.Writer) error {
			_, err := io.WriteString(w, plot.SVG())
			return err
		})
		if err != nil || f.svg == "-" {
			return err
		}
	}
	if f.json {
		return writeJSON(env.Stdout, value)
	}
	if f.part != partAll {
		fmt.Fprintf(env.Stdout, "%s: ", f.part)
	}
	_, err := io.WriteString(env.Stdout, terminal.SafeLines(result.Text()))
	return err
}

// check validates the flags and sorts the budgets.
func (f *evalFlags) check() error {
	slices.Sort(f.budgets)
	f.budgets = slices.Compact(f.budgets)
	if f.budgets[0] <= 0 {
		return usagef("--budgets: must be positive numbers of tokens, got %d", f.budgets[0])
	}
	if f.against != "" && !slices.Contains(f.policies, f.against) {
		return usagef("--against: %q is not measured; add -p %s", f.against, f.against)
	}
	if f.against != "" && len(f.policies) == 1 {
		return usagef("--against: there is no other policy than %q to compare; add one with -p", f.against)
	}
	return f.measureFlags.check()
}

func (f *measureFlags) check() error {
	switch {
	case f.jobs < 0:
		return usagef("--jobs: must be at least 1, or 0 for the number of processors, got %d", f.jobs)
	case !slices.Contains([]string{partAll, partTune, partHeldOut}, f.part):
		return usagef("--part: %q is not one of all, tune, held-out", f.part)
	case f.holdOut < 2:
		return usagef("--hold-out: must be at least 2, got %d", f.holdOut)
	}
	return cmp.Or(f.corpusFlags.check(f.data, f.force), f.checkOutputs(f.data), f.checkResult())
}

func (f *measureFlags) checkResult() error {
	if f.svg == "-" && f.json {
		return usagef("--svg - and --json cannot both go to standard output; give --svg a file")
	}
	if f.svg != "-" && !f.force && keeps(f.svg) {
		return usagef("%s already exists; --force overwrites it", f.svg)
	}
	return nil
}

// measures reports whether conversation i of a file is in the part.
func (f *measureFlags) measures(i int) bool {
	heldOut := i%f.holdOut == f.holdOut-1
	return f.part == partAll || heldOut == (f.part == partHeldOut)
}

// latest reads the data once, and returns a clock that always tells the latest time
// in what is measured by all shards, and how many questions there are, or 0
// for a shard.
func (f *evalFlags) latest(env *Environment) (clock func() time.Time, questions int, err error) {
	var now time.Time
	for i, name := range f.data {
		r, done, err := open(env, name)
		if err != nil {
			return nil, 0, err
		}
		if name == "-" {
			data, err := io.ReadAll(r)
			if err != nil {
				return nil, 0, usageError{err}
			}
			// The measurement reads it again.
			env.Stdin, env.stdinTaken = bytes.NewReader(data), slices.Contains(f.data[i+1:], name)
			r = bytes.NewReader(data)
		}
		var unread unreadTimes
		n := 0
		for c, err := range eval.Scan(shown(name), r, nil) {
			n++
			if _, bad := errors.AsType[*eval.ReadError](err); bad && f.lenient() {
				continue
			}
			if err != nil {
				done()
				return nil, 0, usageError{err}
			}
			unread.add(&c)
			if !f.measures(n - 1) {
				continue
			}
			questions += len(c.Questions)
			if end := latest(&c); end.After(now) {
				now = end
			}
		}
		done()
		note(env.Stderr, unread.notes(name))
	}
	if f.count > 1 {
		questions = 0
	}
	return func() time.Time { return now }, questions, nil
}

// unreadTimes says which times of a file are ignored because they cannot be read.
type unreadTimes struct {
	times, unread int
	first         string
}

func (u *unreadTimes) add(c *eval.Conversation) {
	for i, turn := range c.Items {
		if turn.Time.Unread != "" {
			if u.unread == 0 {
				u.first = fmt.Sprintf("%.60q of items[%d] in conversation %q", turn.Time.Unread, i, c.ID)
			}
			u.unread++
		}
		if turn.Time.Unread != "" || !turn.Time.IsZero() {
			u.times++
		}
	}
}

func (u *unreadTimes) notes(file string) []string {
	if u.unread == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d of %s cannot be read and are ignored; the first is %s; write it like 2023-05-08T13:56:00Z or 1:56 pm on 8 May, 2023",
		shown(file), u.unread, plural(u.times, "time"), u.first)}
}

// latest returns the latest time in a conversation, or none.
func latest(c *eval.Conversation) time.Time {
	var now time.Time
	items := 0
	for _, turn := range c.Items {
		if turn.Time.IsZero() {
			items++
		} else if turn.Time.After(now) {
			now = turn.Time.Time
		}
	}
	if items == len(c.Items) {
		return time.Unix(int64(items), 0) // turns without times are one second apart
	}
	return now
}

// maxKnown is how many conversations keep their indexes: more than are measured at
// once, and not all of a corpus.
const maxKnown = 64

// measured returns the policy that a --policy flag names.
func measured(env *Environment, name string, clock func() time.Time) (eval.Policy, error) {
	for _, p := range eval.Builtin() {
		if p.Name == name {
			return p, nil
		}
	}
	file, asked := strings.CutSuffix(name, withQuery)
	// Any question will do to build the policy.
	stand := &question{given: true, indexes: new(indexes)}
	registry := stand.registry()
	p, err := findPolicy(env, registry, file)
	if err != nil {
		return eval.Policy{}, err
	}
	if asked {
		p = ask(p)
	}
	p.KeepDuplicates = true // a duplicate turn that was dropped would count as lost evidence
	if _, err := p.Pipeline(policy.Environment{Registry: registry, Clock: clock}); err != nil {
		return eval.Policy{}, usagef("%s: %w", shown(file), err)
	}
	var mu sync.Mutex
	known := make(map[*cupelrelevance.Index]*indexes) // by the conversation's index
	return eval.Policy{Name: name, New: func(index *cupelrelevance.Index, query string) (*pipeline.Pipeline, error) {
		mu.Lock()
		if known[index] == nil {
			if len(known) == maxKnown {
				clear(known) // those that are measured come back
			}
			known[index] = indexesWith(index)
		}
		q := &question{query, true, known[index]}
		mu.Unlock()
		return p.Pipeline(policy.Environment{Registry: q.registry(), Clock: clock})
	}}, nil
}
