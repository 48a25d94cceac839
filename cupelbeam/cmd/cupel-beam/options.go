package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelbeam"
	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/cupeltoml"
)

// options are the flags of the command.
type options struct {
	data, policies, shareList   string
	samples, table, deadLetters string
	shards                      int
	force                       bool
	maxBad                      float64 // percent
	requirements                []*requirement
}

// register adds the flags to those of Beam's SDK.
func (o *options) register() {
	*runners.Runner = prism // as Beam does, which hides it
	flag.StringVar(&o.data, "data", "", "`patterns` of files, separated by commas; .gz ends those of compressed ones")
	flag.StringVar(&o.policies, "policy", "everything,newest,clear,newest-blocks,clear-blocks,agent", "`policies` as cupel replay takes them, separated by commas")
	flag.StringVar(&o.shareList, "share", "0.15,0.25,0.5,0.75", "budgets as `shares` of a conversation, separated by commas")
	flag.StringVar(&o.table, "table", "", "write the table to this `file`, as JSON (required)")
	flag.StringVar(&o.samples, "samples", "", "write a sample of each conversation to this `file`")
	flag.IntVar(&o.shards, "shards", 1, "write the samples to this `number` of files, FILE-00002-of-00010")
	flag.StringVar(&o.deadLetters, "dead-letters", "", "write the lines that cannot be read to this `file`")
	flag.BoolVar(&o.force, "force", false, "overwrite files, and run on Prism above its limit")
	flag.Func("max-bad", "`share` of the lines that may be unreadable, such as 0.1% (default 0%)", o.setMaxBad)
	flag.Func("require", "`threshold` of the table, such as 'agent grounded@0.25 >= 0.9'; may be repeated", o.addRequirement)
}

// patterns returns the patterns of the input.
func (o *options) patterns() []string { return strings.Split(o.data, ",") }

// check validates the flags that need no file.
func (o *options) check(spec *cupelbeam.Spec) error {
	measure, err := spec.Measure()
	switch {
	case err != nil:
		return err
	case flag.NArg() > 0:
		return fmt.Errorf("%q is not a flag; quote patterns, and write --data 'a*.jsonl,b*.jsonl'", flag.Arg(0))
	case o.table == "":
		return errors.New("--table: name the file for the table")
	case o.shards < 1:
		return fmt.Errorf("--shards: want at least 1, got %d", o.shards)
	case o.shards > 1 && o.samples == "":
		return errors.New("--shards: name the file for --samples")
	case !slices.Contains(runnerNames, *runners.Runner):
		return fmt.Errorf("--runner: %q is unknown; want one of %s", *runners.Runner, strings.Join(runnerNames, ", "))
	}
	empty := replay.NewTable(measure.Plan()).Result() // has the rows and figures of every table
	for _, n := range o.requirements {
		if _, ok := empty.Figure(n.policy, n.share, n.figure); !ok {
			return fmt.Errorf("--require: %q: the table has no %q of policy %q at %g", n.text, n.figure, n.policy, n.share)
		}
	}
	return nil
}

// runnerNames are the values of --runner. PortableRunner is any other one.
var runnerNames = []string{prism, "direct", "flink", "spark", "dataflow", "PortableRunner"}

const prism = "prism"

// spec returns what to measure. Policies in files are read here, where the files are.
func (o *options) spec() (spec cupelbeam.Spec, err error) {
	// The numbers are a list in JSON without its brackets.
	if err := json.Unmarshal([]byte("["+o.shareList+"]"), &spec.Shares); err != nil {
		return spec, fmt.Errorf("--share: %q: %w", o.shareList, err)
	}
	for name := range strings.SplitSeq(o.policies, ",") {
		text, err := policyFile(name)
		if err != nil {
			return spec, fmt.Errorf("--policy: %s: %w", name, err)
		}
		spec.Policies = append(spec.Policies, cupelbeam.Policy{Name: name, JSON: text})
	}
	return spec, nil
}

// policyFile returns the JSON of a policy in a file, or "" for a name.
func policyFile(name string) (string, error) {
	name, _, _ = replay.Marked(name) // the measure reports an error of the mark
	extension := filepath.Ext(name)
	if extension != ".json" && extension != ".toml" {
		return "", nil
	}
	text, err := os.ReadFile(name)
	if err != nil || extension == ".json" {
		return string(text), err
	}
	p, err := cupeltoml.DecodePolicy(policy.NewRegistry(), text)
	if err != nil {
		return "", err
	}
	text, err = json.Marshal(p)
	return string(text), err
}

// setMaxBad reads a share such as 0.1%.
func (o *options) setMaxBad(text string) (err error) {
	number, found := strings.CutSuffix(text, "%")
	o.maxBad, err = strconv.ParseFloat(number, 64)
	if err != nil || !found || !(o.maxBad >= 0 && o.maxBad <= 100) {
		return errors.New("want a share from 0% to 100%")
	}
	return nil
}

// requirement is a threshold for a figure of a row.
type requirement struct {
	text, policy, figure, compare string
	share, bound                  float64
}

// requirementForm is how a threshold is written.
var requirementForm = regexp.MustCompile(`^(\S+) +(\S+)@(\d*\.?\d+) +([<>]=) +(\d*\.?\d+)$`)

// addRequirement reads a threshold.
func (o *options) addRequirement(text string) error {
	words := requirementForm.FindStringSubmatch(text)
	if words == nil {
		return errors.New("want POLICY FIGURE@SHARE >= NUMBER, or <=")
	}
	n := &requirement{text: text, policy: words[1], figure: words[2], compare: words[4]}
	o.requirements = append(o.requirements, n)
	_, err := fmt.Sscan(words[3]+" "+words[5], &n.share, &n.bound)
	return err
}

// judge returns an error for a result that does not meet the requirements.
func (o *options) judge(result *replay.Result) error {
	var unmet []error
	if all := result.Conversations + result.Failed; float64(result.Failed)*100 > o.maxBad*float64(all) {
		unmet = append(unmet, fmt.Errorf("%d of %d lines cannot be read, more than --max-bad %g%%", result.Failed, all, o.maxBad))
	}
	for _, n := range o.requirements {
		value, _ := result.Figure(n.policy, n.share, n.figure) // there is one, which check has seen
		if n.compare == ">=" && !(value >= n.bound) || n.compare == "<=" && !(value <= n.bound) {
			unmet = append(unmet, fmt.Errorf("--require %q is not met: it is %.4g", n.text, value))
		}
	}
	for _, failures := range result.Failures() {
		unmet = append(unmet, errors.New(failures))
	}
	if unmet != nil {
		return fmt.Errorf("%w:\n%w", errCheck, errors.Join(unmet...))
	}
	return nil
}
