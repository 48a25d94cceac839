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
	"os"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3" // the others come with beamx
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/wollax/cupel-go/cupelbeam"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// The exit codes are those of cupel.
const (
	exitCheck = 1 // the table does not meet the requirements
	exitUsage = 2 // the command line or the input is invalid, or the job failed
)

// errCheck is the error for exitCheck.
var errCheck = errors.New("the table does not meet the requirements")

func main() {
	var o options
	o.register()
	provision := flag.String("provision_endpoint", "", "where a process that a runner started asks for its work")
	flag.String("artifact_endpoint", "", "accepted from runners, and not used: the program is in the image")
	help := flag.Usage
	flag.CommandLine.Init("cupel-beam", flag.ContinueOnError)
	flag.Usage = func() {} // an error is a line, not all flags of Beam's SDK
	err := flag.CommandLine.Parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		help()
		return
	case err != nil: // it is printed
		fmt.Fprintln(os.Stderr, "cupel-beam -help lists the flags")
		os.Exit(exitUsage)
	}
	ctx := context.Background()
	err = becomeWorker(ctx, *provision)
	if err == nil {
		beam.Init() // a worker process does not return
		err = run(ctx, &o)
	}
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "cupel-beam:", err)
	if errors.Is(err, errCheck) {
		os.Exit(exitCheck)
	}
	os.Exit(exitUsage)
}

// becomeWorker makes a process that a runner started a worker: one of
// --environment_type=PROCESS, or a container of the image. The image has the program
// itself; Beam's own image has another one that asks for it.
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
	if err := o.files(ctx); err != nil {
		return err
	}
	if *jobopts.WorkerBinary == "" { // Beam would compile one
		if *jobopts.WorkerBinary, err = os.Executable(); err != nil {
			return err
		}
	}
	p, s := beam.NewPipelineWithRoot()
	out, err := cupelbeam.Replay(s, spec, o.patterns())
	if err != nil {
		return err
	}
	cupelbeam.Write(s, o.table, 1, out.Table)
	if o.samples != "" {
		cupelbeam.Write(s, o.samples, o.shards, out.Samples)
	}
	if o.deadLetters != "" {
		cupelbeam.Write(s, o.deadLetters, 1, out.DeadLetters)
	}
	job, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return err
	}
	showCounters(job)
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

// showCounters prints the counters of the pipeline on a line.
func showCounters(job beam.PipelineResult) {
	sums := make(map[string]int64)
	for _, c := range job.Metrics().AllMetrics().Counters() {
		sums[c.Name()] = c.Result()
	}
	text, _ := json.Marshal(sums) //nolint:errchkjson // numbers have no error
	fmt.Fprintf(os.Stderr, "counters: %s\n", text)
}

// read reads the table.
func read(ctx context.Context, name string) (*replay.Result, error) {
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	defer files.Close() //nolint:errcheck // it was only read
	text, err := filesystem.Read(ctx, files, name)
	if err != nil {
		return nil, err
	}
	var table replay.Table
	if err := json.Unmarshal(text, &table); err != nil {
		return nil, err
	}
	return table.Result(), nil
}
