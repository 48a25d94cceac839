package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupelrelevance/eval"
	"github.com/wollax/cupel-go/cupelsession/replay"
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
		Args: takes(1, math.MaxInt),
		RunE: func(command *cobra.Command, args []string) error {
			return merge(command.Context(), env, &flags, args)
		},
	}
	set := command.Flags()
	flags.registerResult(command, "the result")
	set.StringVar(&flags.deadLetters, "dead-letters", "", "write what could not be measured to this `file`")
	return command
}

// merge prints the table of the samples in the files.
func merge(ctx context.Context, env *Environment, flags *measureFlags, files []string) error {
	flags.part = partAll
	if err := errors.Join(flags.checkResult(), flags.corpusFlags.check(nil, flags.force), flags.checkOutputs(files)); err != nil {
		return err
	}
	var first sampleHeader
	var sum adding
	lost := dead{keep: flags.deadLetters != ""}
	corpora := make(map[string]*mergedCorpus)
	in := make(map[string]*mergedCorpus) // by data
	for _, name := range files {
		var h sampleHeader
		end, err := mergeFile(env, name, &lost, func(next sampleHeader) (adding, error) {
			var err error
			switch h = next; {
			case sum.add == nil:
				first = h
				flags.part = h.Part
				sum, err = addingOf(ctx, env, flags, &h)
			case h.Version != first.Version:
				err = fmt.Errorf("it was written by cupel %.60q, and %s by %.60q: measure all shards with one version", h.Version, shown(files[0]), first.Version)
			case !h.measures(&first):
				err = fmt.Errorf("it has samples of another measurement than %s: policies, budgets and settings must be the same", shown(files[0]))
			}
			return sum, err
		})
		if err != nil {
			return usagef("%s: %w", shown(name), err)
		}
		corpus := corpora[h.corpus()]
		if corpus == nil {
			corpus = &mergedCorpus{sampleHeader: h, shards: make(map[int]bool), of: end.Of, first: name}
			corpora[h.corpus()] = corpus
			flags.data = append(flags.data, h.Data...)
		}
		for _, data := range h.Data {
			data = filepath.Clean(data)
			if in[data] == nil {
				in[data] = corpus
			}
			if in[data] != corpus {
				return usagef("%s: %s was measured in %s too, and its conversations would count twice", shown(name), data, shown(in[data].first))
			}
		}
		switch {
		case corpus.shards[h.Shard]:
			return usagef("%s: shard %d/%d of %s is given twice", shown(name), h.Shard, h.Shards, strings.Join(h.Data, ", "))
		case corpus.of != end.Of:
			return usagef("%s: %s had %s, and %d when %s was measured: measure again what changed in between",
				shown(name), strings.Join(h.Data, ", "), plural(end.Of, "conversation"), corpus.of, shown(corpus.first))
		}
		corpus.shards[h.Shard] = true
	}
	for _, name := range slices.Sorted(maps.Keys(corpora)) {
		corpus := corpora[name]
		for i := range corpus.Shards {
			if !corpus.shards[i] {
				return usagef("shard %d/%d is missing: %s", i, corpus.Shards, name)
			}
		}
	}
	if err := lost.report(env, flags.deadLetters, flags.force); err != nil {
		return err
	}
	return sum.print()
}

// mergedCorpus is what the files of one corpus have in common.
type mergedCorpus struct {
	sampleHeader
	shards map[int]bool // that were merged
	of     int          // conversations of all
	first  string       // file of samples
}

// corpus names what a file has a part of.
func (h *sampleHeader) corpus() string {
	return fmt.Sprintf("%s in %s", strings.Join(h.Data, ", "), plural(h.Shards, "shard"))
}

// mergeFile adds the samples of a file. begin is called with its header.
func mergeFile(env *Environment, name string, lost *dead, begin func(sampleHeader) (adding, error)) (*trailer, error) {
	r, done, err := open(env, name)
	if err != nil {
		return nil, err
	}
	defer done()
	var sum adding
	end, err := readSamples(r, func(line []byte) error {
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
	if err == nil && end == nil {
		err = errors.New("it is not complete: run the same command again, and it goes on")
	}
	return end, err
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
			func() error { return flags.printReplay(env, table) },
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
