package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupelchat/replay"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// newMerge returns the command that adds up samples.
func newMerge(env *Environment) *cobra.Command {
	var flags measureFlags
	command := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Add up the shards of cupel replay or cupel eval",
		Long: `merge reads files that cupel replay and cupel eval wrote with --output, and prints
the table of all their conversations: bit for bit that of one run, in any order of
the files. All must be of the same policies, budgets and settings. A shard that is
missing or was interrupted is an error that names it.

A file has JSON Lines: what was measured, a sample of each conversation, and their
number. What could not be read or measured is a sample with its file, its line
and the error; --dead-letters writes these to a file.`,
		Example: `  cupel merge shard-*.jsonl
  cupel merge shard-*.jsonl --dead-letters dead.jsonl --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return merge(command.Context(), env, &flags, args)
		},
	}
	set := command.Flags()
	flags.registerResult(command, "the result")
	set.StringVar(&flags.pages, "pages", "", "write a page of each of the worst conversations of cupel replay to this `folder`")
	set.StringVar(&flags.deadLetters, "dead-letters", "", "write what could not be read or measured to this `file`")
	return command
}

// merge prints the table of the samples in the files.
func merge(ctx context.Context, env *Environment, flags *measureFlags, files []string) error {
	flags.part = partAll
	if err := errors.Join(flags.checkResult(), flags.corpusFlags.check(nil, flags.force)); err != nil {
		return err
	}
	var first sampleHeader
	var sum adding
	lost := dead{keep: flags.deadLetters != ""}
	type corpus struct {
		data   string
		shards int
	}
	there := make(map[corpus]map[int]bool)
	for _, name := range files {
		var h sampleHeader
		if err := mergeFile(env, name, &lost, func(next sampleHeader) (adding, error) {
			var err error
			switch h = next; {
			case sum.add == nil:
				first = h
				flags.part = h.Part
				sum, err = addingOf(ctx, env, flags, &h)
			case !h.measures(&first):
				err = fmt.Errorf("it has samples of another measurement than %s: policies, budgets and settings must be the same", shown(files[0]))
			}
			return sum, err
		}); err != nil {
			return usagef("%s: %w", shown(name), err)
		}
		c := corpus{strings.Join(h.Data, ", "), h.Shards}
		if there[c] == nil {
			there[c] = make(map[int]bool)
			flags.data = append(flags.data, h.Data...)
		}
		if there[c][h.Shard] {
			return usagef("%s: shard %d/%d of %s is given twice", shown(name), h.Shard, h.Shards, c.data)
		}
		there[c][h.Shard] = true
	}
	for _, c := range slices.SortedFunc(maps.Keys(there), func(a, b corpus) int { return cmp.Or(cmp.Compare(a.data, b.data), cmp.Compare(a.shards, b.shards)) }) {
		for i := range c.shards { // up to the first that is missing
			if !there[c][i] {
				return usagef("shard %d/%d is missing: %s in %s", i, c.shards, c.data, plural(c.shards, "shard"))
			}
		}
	}
	if err := lost.report(env, flags.deadLetters, flags.force); err != nil {
		return err
	}
	if flags.pages != "" && first.Format != replayFormat {
		return usagef("--pages is for shards of cupel replay")
	}
	return sum.print()
}

// mergeFile adds the samples of a file. begin is called with its header.
func mergeFile(env *Environment, name string, lost *dead, begin func(sampleHeader) (adding, error)) error {
	r, done, err := open(env, name)
	if err != nil {
		return err
	}
	defer done()
	var sum adding
	complete, err := readSamples(r, func(line []byte) error {
		var h sampleHeader
		if err := json.Unmarshal(line, &h); err != nil || h.Shard < 0 || h.Shard >= h.Shards {
			return errors.New("it is not a file that cupel replay or cupel eval wrote with --output")
		}
		var err error
		sum, err = begin(h)
		return err
	}, func(line []byte) error {
		var p place
		if err := json.Unmarshal(line, &p); err != nil {
			return err
		}
		lost.seen++
		lost.bury(p)
		return sum.add(line)
	})
	if err == nil && !complete {
		err = errors.New("it is not complete: run the same command again, and it goes on")
	}
	return err
}

// measures reports whether two headers are of one measurement.
func (h sampleHeader) measures(other *sampleHeader) bool {
	return h.Format == other.Format && h.Part == other.Part && h.HoldOut == other.HoldOut &&
		bytes.Equal(h.Settings, other.Settings) && bytes.Equal(h.Plan, other.Plan)
}

// adding adds up samples.
type adding struct {
	add   func(line []byte) error
	print func() error
}

// addingOf returns what adds up the samples of a measurement.
func addingOf(ctx context.Context, env *Environment, flags *measureFlags, h *sampleHeader) (adding, error) {
	switch h.Format {
	case replayFormat:
		var plan replay.Plan
		err := json.Unmarshal(h.Plan, &plan)
		table := replay.NewTable(plan)
		return adding{
			func(line []byte) error { return addLine(line, table.Add) },
			func() error { return flags.printReplay(ctx, env, table, remeasure(env, h, plan)) },
		}, err
	case evalFormat:
		var plan eval.Plan
		err := json.Unmarshal(h.Plan, &plan)
		table := eval.NewTable(plan)
		return adding{
			func(line []byte) error { return addLine(line, table.Add) },
			func() error { return flags.printEval(env, table) },
		}, err
	default:
		return adding{}, fmt.Errorf("its format is %.40q; this version of cupel reads %s and %s", h.Format, replayFormat, evalFormat)
	}
}

func addLine[S any](line []byte, add func(*S) error) error {
	var s S
	if err := json.Unmarshal(line, &s); err != nil {
		return err
	}
	return add(&s)
}
