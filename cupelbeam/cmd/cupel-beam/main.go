// Command cupel-beam measures policies on corpora of conversations with Apache Beam.
//
//	cupel-beam --data 'gs://bucket/month/*.jsonl.gz' --policy newest,agent@0.6 --table gs://bucket/table.json --require 'agent@0.6 grounded@0.25 >= 0.9'
//
// It runs in this process on Prism, and elsewhere with --runner.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3" // the others come with beamx
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/wollax/cupel-go/cupelbeam"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// The exit codes are those of cupel.
const (
	exitCheck   = 1 // the table does not have what --require and --max-bad want
	exitUsage   = 2 // the command line or the input is invalid, or the job failed
	exitFailing = 3 // a policy failed at a step
)

// codedError is an error with an exit code other than exitUsage.
type codedError struct {
	error
	code int
}

func main() {
	var o options
	own := o.flags()
	own.VisitAll(func(f *flag.Flag) { flag.Var(f.Value, f.Name, f.Usage) })
	provision := flag.String("provision_endpoint", "", "where a process that a runner started asks for its work")
	_ = flag.String("artifact_endpoint", "", "accepted from runners, and not used: the program is in the image")
	flag.Usage = func() { usage(own) }
	flag.Parse()
	ctx := context.Background()
	err := becomeWorker(ctx, *provision)
	if err == nil {
		beam.Init() // a worker process does not return
		err = run(ctx, &o)
	}
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "cupel-beam:", err)
	if coded, ok := errors.AsType[codedError](err); ok {
		os.Exit(coded.code)
	}
	os.Exit(exitUsage)
}

// usage shows the flags of the command, and then those of Beam's SDK.
func usage(own *flag.FlagSet) {
	fmt.Fprint(os.Stderr, `cupel-beam measures policies on corpora of conversations, JSON Lines with one conversation
on each, as cupel replay does on one machine.

  cupel-beam --data 'month/*.jsonl' --table table.json

The exit code is 1 if --require or --max-bad is not met, 2 for use and for input that
cannot be read, and 3 if a policy failed at a step.

`)
	own.SetOutput(os.Stderr)
	own.PrintDefaults()
	fmt.Fprintln(os.Stderr, "\nFlags of Apache Beam and its runners (direct, prism, flink, spark, dataflow):")
	var sdk flag.FlagSet
	flag.VisitAll(func(f *flag.Flag) {
		if own.Lookup(f.Name) == nil {
			sdk.Var(f.Value, f.Name, f.Usage)
		}
	})
	sdk.PrintDefaults()
}

// becomeWorker makes a process that a runner started a worker: one of
// --environment_type=PROCESS, or a container of the image. It has the program, where
// Beam's own image has another one that asks for it.
func becomeWorker(ctx context.Context, provision string) error {
	if provision == "" {
		return nil
	}
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, flag.Lookup("id").Value.String()), provision)
	if err != nil {
		return err
	}
	return errors.Join(
		flag.Set("worker", "true"),
		flag.Set("control_endpoint", info.GetControlEndpoint().GetUrl()),
		flag.Set("logging_endpoint", info.GetLoggingEndpoint().GetUrl()),
	)
}

func run(ctx context.Context, o *options) error {
	spec, err := o.spec()
	if err != nil {
		return err
	}
	if err := o.check(&spec); err != nil {
		return err
	}
	patterns, err := o.files(ctx)
	if err != nil {
		return err
	}
	if *jobopts.WorkerBinary == "" { // Beam would compile one
		if *jobopts.WorkerBinary, err = os.Executable(); err != nil {
			return err
		}
	}
	p, s := beam.NewPipelineWithRoot()
	out, err := cupelbeam.Replay(s, spec, patterns)
	if err != nil {
		return err
	}
	if o.samples != "" {
		cupelbeam.Write(s, o.samples, o.shards, out.Samples)
	}
	if o.deadLetters != "" {
		cupelbeam.Write(s, o.deadLetters, 1, out.DeadLetters)
	}
	textio.Write(s, o.table, out.Table)
	job, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, counters(job))
	result, err := read(ctx, o.table)
	if err != nil {
		return err
	}
	if result.Conversations == 0 {
		return fmt.Errorf("no conversation of %s could be read; lines that cannot be read: %d", o.data, result.Failed)
	}
	if _, err := fmt.Print(result.Text()); err != nil {
		return err
	}
	return o.judge(result)
}

// counters returns the counters of the pipeline on a line.
func counters(job beam.PipelineResult) string {
	sums := make(map[string]int64) // one counter may be of several transforms
	for _, c := range job.Metrics().Query(func(r metrics.SingleResult) bool { return r.Namespace() == cupelbeam.Counters }).Counters() {
		sums[c.Name()] += c.Result()
	}
	var list []string
	for name, sum := range sums {
		list = append(list, fmt.Sprintf("%s %d", name, sum))
	}
	slices.Sort(list)
	return "counters: " + strings.Join(list, ", ")
}

// read reads the table.
func read(ctx context.Context, name string) (*replay.Result, error) {
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	defer files.Close() //nolint:errcheck // it was only read
	file, err := files.OpenRead(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	var table replay.Table
	if err := json.Unmarshal(text, &table); err != nil {
		return nil, err
	}
	return table.Result(), nil
}
