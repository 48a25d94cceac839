// Command cupel-beam measures policies on corpora of conversations with Apache Beam.
//
//	cupel-beam --data month.jsonl --policy newest,agent@0.6 --share 0.25,0.5 --samples samples.jsonl --table table.json
//
// It runs in this process on Prism, and elsewhere with --runner=PortableRunner,
// --endpoint and --environment_type.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // the files
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"     // the default runner
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal" // others, and workers
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/wollax/cupel-go/cupelbeam"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

var (
	data     = flag.String("data", "", "files with conversations in JSON Lines: patterns, separated by commas")
	policies = flag.String("policy", "everything,newest,clear,newest-blocks,clear-blocks,agent", "policies, separated by commas: names of cupel replay, presets and files in JSON; NAME@0.6 is one in a session")
	shares   = flag.String("share", "0.15,0.25,0.5,0.75", "budgets as shares of a conversation, separated by commas")
	against  = flag.String("against", "", "compare the policies with this one")
	caches   = flag.String("cache", "", "report the cost by the caches of these providers too, separated by commas, as cupel replay does")
	samples  = flag.String("samples", "", "write a sample of each conversation to this file")
	table    = flag.String("table", "", "write the table to this file, as JSON (required)")
	runner   = flag.String("runner", "prism", "prism, in this process, or PortableRunner at --endpoint")

	provision = flag.String("provision_endpoint", "", "where a process that a runner started asks for its work")
)

func main() {
	flag.Parse()
	ctx := context.Background()
	err := becomeWorker(ctx)
	if err == nil {
		beam.Init() // a worker process does not return
		err = run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cupel-beam:", err)
		os.Exit(1)
	}
}

// becomeWorker makes a process that a runner started with --environment_type=PROCESS
// a worker. It has the program alone, where a container would have another one that
// asks for the rest.
func becomeWorker(ctx context.Context) error {
	if *provision == "" {
		return nil
	}
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, flag.Lookup("id").Value.String()), *provision)
	if err != nil {
		return err
	}
	return errors.Join(
		flag.Set("worker", "true"),
		flag.Set("control_endpoint", info.GetControlEndpoint().GetUrl()),
		flag.Set("logging_endpoint", info.GetLoggingEndpoint().GetUrl()),
	)
}

func run(ctx context.Context) error {
	if *table == "" {
		return fmt.Errorf("--table: name the file for the table")
	}
	spec, err := specOf(*policies, *shares, *against, *caches)
	if err != nil {
		return err
	}
	var files []string
	for pattern := range strings.SplitSeq(*data, ",") {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			return fmt.Errorf("--data: %q is no file", pattern)
		}
		for _, file := range found {
			if file, err = filepath.Abs(file); err != nil {
				return err
			}
			files = append(files, file)
		}
	}
	if *jobopts.WorkerBinary == "" { // Beam would compile one
		if *jobopts.WorkerBinary, err = os.Executable(); err != nil {
			return err
		}
	}
	for _, file := range []*string{samples, table} { // a worker may be in another folder
		if *file == "" {
			continue
		}
		if *file, err = filepath.Abs(*file); err != nil {
			return err
		}
	}
	p, s := beam.NewPipelineWithRoot()
	rows, result, err := cupelbeam.Replay(s, spec, files)
	if err != nil {
		return err
	}
	if *samples != "" {
		textio.Write(s, *samples, rows)
	}
	textio.Write(s, *table, result)
	if _, err := beam.Run(ctx, *runner, p); err != nil {
		return err
	}
	written, err := os.ReadFile(*table)
	if err != nil {
		return err
	}
	var t replay.Table
	if err := json.Unmarshal(written, &t); err != nil {
		return err
	}
	_, err = fmt.Print(t.Result().Text())
	return err
}

func specOf(policies, shares, against, caches string) (cupelbeam.Spec, error) {
	spec := cupelbeam.Spec{Against: against}
	if caches != "" {
		spec.Caches = strings.Split(caches, ",")
	}
	for share := range strings.SplitSeq(shares, ",") {
		n, err := strconv.ParseFloat(share, 64)
		if err != nil {
			return spec, fmt.Errorf("--share: %q is no number", share)
		}
		spec.Shares = append(spec.Shares, n)
	}
	for name := range strings.SplitSeq(policies, ",") {
		p := cupelbeam.Policy{Name: name}
		if base, low, found := strings.Cut(name, "@"); found {
			n, err := strconv.ParseFloat(low, 64)
			if err != nil || n == 0 { // 0 would be no session
				return spec, fmt.Errorf("--policy: %q: the low-water mark must be above 0 and at most 1", name)
			}
			p.Name, p.Low = base, n
		}
		if filepath.Ext(p.Name) == ".json" {
			text, err := os.ReadFile(p.Name)
			if err != nil {
				return spec, err
			}
			p.JSON = string(text)
		}
		spec.Policies = append(spec.Policies, p)
	}
	return spec, nil
}
