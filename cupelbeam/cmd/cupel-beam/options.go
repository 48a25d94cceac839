package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelbeam"
	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/cupeltoml"
)

// options are the flags of the command.
type options struct {
	data, policies, shareList, against, caches string
	samples, table, deadLetters                string
	shards                                     int
	force                                      bool
	maxBad                                     percent
	requirements                               requirements
	prismLimit                                 int
}

// flags returns the flags without those of Beam's SDK.
func (o *options) flags() *flag.FlagSet {
	set := flag.NewFlagSet("cupel-beam", flag.ExitOnError)
	set.StringVar(&o.data, "data", "", "`patterns` of files with conversations, separated by commas: local, gs:// or s3://; those that end in .gz are of files that gzip compressed")
	set.StringVar(&o.policies, "policy", "everything,newest,clear,newest-blocks,clear-blocks,agent", "`policies`, separated by commas: names of cupel replay, presets, and files in JSON or TOML; NAME@0.6 is one in a session")
	set.StringVar(&o.shareList, "share", "0.15,0.25,0.5,0.75", "budgets as `shares` of a conversation, separated by commas")
	set.StringVar(&o.against, "against", "", "compare the policies with this `policy`")
	set.StringVar(&o.caches, "cache", "", "report the cost by the caches of these `providers` too, separated by commas, as cupel replay does")
	set.StringVar(&o.table, "table", "", "write the table to this `file`, as JSON (required)")
	set.StringVar(&o.samples, "samples", "", "write a sample of each conversation to this `file`")
	set.IntVar(&o.shards, "shards", 1, "write the samples to this `number` of files, FILE-00002-of-00010")
	set.StringVar(&o.deadLetters, "dead-letters", "", "write the lines that cannot be read to this `file`")
	set.BoolVar(&o.force, "force", false, "overwrite files, and run on Prism above its limit")
	set.Var(&o.maxBad, "max-bad", "`share` of the lines that may be unreadable, such as 0.1%")
	set.Var(&o.requirements, "require", "`threshold` of the table, such as 'agent grounded@0.25 >= 0.9'; may be repeated")
	set.IntVar(&o.prismLimit, "prism-limit", 64, "`megabytes` of conversations that Prism takes, since it holds them in memory")
	return set
}

// check validates the flags that need no file.
func (o *options) check(spec *cupelbeam.Spec) error {
	measure, err := spec.Measure()
	switch {
	case err != nil:
		return err
	case flag.NArg() > 0:
		return fmt.Errorf("%q is no flag; quote patterns, and write --data 'a*.jsonl,b*.jsonl'", flag.Arg(0))
	case o.data == "":
		return errors.New("--data: name the files with conversations")
	case o.table == "":
		return errors.New("--table: name the file for the table")
	case o.shards < 1 || o.shards > maxShards:
		return fmt.Errorf("--shards: want 1 to %d, got %d", maxShards, o.shards)
	case *jobopts.Async:
		return errors.New("--async: the exit code depends on the table, so that the command waits for it")
	case !slices.Contains(runners, runner()):
		return fmt.Errorf("--runner: %q is unknown; want one of %s", runner(), strings.Join(runners, ", "))
	}
	return o.requirements.check(replay.NewTable(measure.Plan()).Result())
}

// maxShards is the most files that names sort.
const maxShards = 99_999

// runners are the names of runners, of which the first is the default. PortableRunner is
// any other one.
var runners = []string{"prism", "direct", "flink", "spark", "dataflow", "PortableRunner"}

func runner() string {
	if name := flag.Lookup("runner").Value.String(); name != "" {
		return name
	}
	return runners[0]
}

// spec returns what to measure. Policies in files are read here, where the files are.
func (o *options) spec() (spec cupelbeam.Spec, err error) {
	spec.Against = o.against
	if o.caches != "" {
		spec.Caches = strings.Split(o.caches, ",")
	}
	for share := range strings.SplitSeq(o.shareList, ",") {
		n, err := strconv.ParseFloat(share, 64)
		if err != nil {
			return spec, fmt.Errorf("--share: %q is no number", share)
		}
		spec.Shares = append(spec.Shares, n)
	}
	for name := range strings.SplitSeq(o.policies, ",") {
		p := cupelbeam.Policy{Name: name}
		if base, low, found := strings.Cut(name, "@"); found {
			n, err := strconv.ParseFloat(low, 64)
			if err != nil || n == 0 { // 0 would be no session
				return spec, fmt.Errorf("--policy: %q: the low-water mark must be above 0 and at most 1", name)
			}
			p.Name, p.Low = base, n
		}
		if p.JSON, err = policyFile(p.Name); err != nil {
			return spec, fmt.Errorf("--policy: %s: %w", p.Name, err)
		}
		spec.Policies = append(spec.Policies, p)
	}
	return spec, nil
}

// policyFile returns the JSON of a policy in a file, or "" for a name.
func policyFile(name string) (string, error) {
	extension := filepath.Ext(name)
	if extension != ".json" && extension != ".toml" {
		return "", nil
	}
	text, err := os.ReadFile(name)
	if err != nil || extension == ".json" {
		return string(text), err
	}
	p, err := cupeltoml.ReadPolicy(policy.NewRegistry(), bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	text, err = json.Marshal(p)
	return string(text), err
}

// percent is a flag such as 0.1%.
type percent float64

// Set reads the flag.
func (p *percent) Set(text string) error {
	number, found := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !found || !(n >= 0 && n <= 100) {
		return errors.New("want a share from 0% to 100%")
	}
	*p = percent(n)
	return nil
}

// String writes the flag.
func (p *percent) String() string { return fmt.Sprintf("%g%%", float64(*p)) }

// requirements is a flag that may be repeated.
type requirements []requirement

// requirement is a threshold for a figure of a row.
type requirement struct {
	text, policy, figure, compare string
	share, bound                  float64
}

// Set reads a threshold.
func (r *requirements) Set(text string) error {
	words := strings.Fields(text)
	if len(words) != 4 {
		return errors.New("want POLICY FIGURE@SHARE >= NUMBER")
	}
	figure, share, _ := strings.Cut(words[1], "@")
	n := requirement{text: text, policy: words[0], figure: figure, compare: words[2]}
	var shareErr, boundErr error
	n.share, shareErr = strconv.ParseFloat(share, 64)
	n.bound, boundErr = strconv.ParseFloat(words[3], 64)
	if shareErr != nil || boundErr != nil || math.IsNaN(n.bound) || n.compare != ">=" && n.compare != "<=" {
		return errors.New("want POLICY FIGURE@SHARE >= NUMBER, or <=")
	}
	*r = append(*r, n)
	return nil
}

// String writes the flag.
func (r *requirements) String() string {
	var all []string
	for _, n := range *r {
		all = append(all, n.text)
	}
	return strings.Join(all, "; ")
}

// value returns the figure of a result.
func (n *requirement) value(result *replay.Result) (float64, error) {
	for i := range result.Rows {
		row := &result.Rows[i]
		if row.Policy != n.policy || row.Share != n.share {
			continue
		}
		if value, ok := row.Figure(n.figure); ok {
			return value, nil
		}
		return 0, fmt.Errorf("--require: %q: the table has no figure %q", n.text, n.figure)
	}
	return 0, fmt.Errorf("--require: %q: the table has no row of policy %q at %g", n.text, n.policy, n.share)
}

// check reports what no table of the plan has. Those of a table without conversations
// are the same.
func (r *requirements) check(empty *replay.Result) error {
	for i := range *r {
		if _, err := (*r)[i].value(empty); err != nil {
			return err
		}
	}
	return nil
}

// judge returns an error for a result that is not good enough.
func (o *options) judge(result *replay.Result) error {
	var unmet []error
	if all := result.Conversations + result.Failed; float64(result.Failed)*100 > float64(o.maxBad)*float64(all) {
		unmet = append(unmet, fmt.Errorf("%d of %d lines cannot be read, more than --max-bad %s", result.Failed, all, o.maxBad.String()))
	}
	for i := range o.requirements {
		n := &o.requirements[i]
		value, err := n.value(result)
		if err != nil {
			return err
		}
		if n.compare == ">=" && !(value >= n.bound) || n.compare == "<=" && !(value <= n.bound) {
			unmet = append(unmet, fmt.Errorf("--require %q is not met: it is %.4g", n.text, value))
		}
	}
	if unmet != nil {
		return codedError{errors.Join(unmet...), exitCheck}
	}
	for i := range result.Rows {
		if row := &result.Rows[i]; row.Failures > 0 {
			return codedError{fmt.Errorf("%s at %g failed at %d of %d steps; the first is step %d of conversation %q: %s", row.Policy, row.Share,
				row.Failures, row.Steps, row.First.Step, row.First.Conversation, row.First.Reason), exitFailing}
		}
	}
	return nil
}
