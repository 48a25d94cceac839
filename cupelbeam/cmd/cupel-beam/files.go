package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/wollax/cupel-go/cupelbeam"
	"github.com/wollax/cupel-go/cupelrecord"
)

// files checks the input and the output before a job begins, and returns the patterns of
// the input. Workers find the files again.
func (o *options) files(ctx context.Context) (patterns []string, err error) {
	for _, name := range []*string{&o.table, &o.samples, &o.deadLetters} {
		if *name, err = absolute(*name); err != nil {
			return nil, err
		}
	}
	size := 0.0
	for pattern := range strings.SplitSeq(o.data, ",") {
		if pattern, err = absolute(pattern); err != nil {
			return nil, err
		}
		patterns = append(patterns, pattern)
		more, err := o.input(ctx, pattern)
		if err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
		size += more
	}
	if runner() == "prism" && size > float64(o.prismLimit) && !o.force {
		return nil, fmt.Errorf("the conversations have about %.0f MB, and Prism holds them in memory about twelve times: use cupel replay on one machine, "+
			"a cluster with --runner, or --prism-limit %.0f", size, size+1)
	}
	return patterns, o.output(ctx)
}

// absolute returns the whole name of a local file: a worker may be in another folder.
func absolute(name string) (string, error) {
	if name == "" || strings.Contains(name, "://") {
		return name, nil
	}
	return filepath.Abs(name)
}

// input checks the files of a pattern, and returns how many megabytes of conversations
// they have, if that matters.
func (o *options) input(ctx context.Context, pattern string) (size float64, err error) {
	files, err := filesystem.New(ctx, pattern)
	if err != nil {
		return 0, err
	}
	defer files.Close() //nolint:errcheck // nothing was written
	found, err := files.List(ctx, pattern)
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, fmt.Errorf("no file matches %q", pattern)
	}
	for _, file := range found {
		switch {
		case filepath.Ext(file) == cupelrecord.Extension:
			return 0, fmt.Errorf("%s has recorded selections, and the measure reads the messages of conversations: try a policy with cupel diff recorded", file)
		case cupelbeam.Compressed(file) && !cupelbeam.Compressed(pattern):
			return 0, fmt.Errorf("%q names the compressed file %s: give compressed files a pattern of their own that ends in .gz", pattern, file)
		case file == o.table || file == o.samples || file == o.deadLetters:
			return 0, fmt.Errorf("%s is input and output", file)
		case runner() != "prism":
			continue // a bucket takes a request for each size
		}
		n, err := files.Size(ctx, file)
		if err != nil {
			return 0, err
		}
		megabytes := float64(n) / 1e6
		if cupelbeam.Compressed(file) {
			megabytes *= compression
		}
		size += megabytes
	}
	return size, nil
}

// compression is about how much smaller gzip makes conversations.
const compression = 5

// output checks that no file is overwritten. Where that is wanted, the samples of another
// number of shards are removed, since readers would take them for samples of this job.
func (o *options) output(ctx context.Context) error {
	names := []string{o.table, o.deadLetters, o.samples}
	if o.shards > 1 {
		names[2] = shardPattern(o.samples)
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		files, err := filesystem.New(ctx, name)
		if err != nil {
			return err
		}
		defer files.Close() //nolint:errcheck,gocritic // three at most, and nothing was written
		found, err := files.List(ctx, name)
		if err != nil {
			return err
		}
		if len(found) > 0 && !o.force {
			return fmt.Errorf("%s exists; --force overwrites it", found[0])
		}
		remover, ok := files.(filesystem.Remover)
		for _, file := range found {
			if ok {
				err = errors.Join(err, remover.Remove(ctx, file))
			}
		}
		if err != nil {
			return err
		}
	}
	if slices.Contains(names[1:], o.table) || o.samples != "" && o.samples == o.deadLetters {
		return errors.New("--table, --samples and --dead-letters must be different files")
	}
	return nil
}

// shardPattern returns the pattern of all shards of samples.
func shardPattern(samples string) string {
	if samples == "" {
		return ""
	}
	extension := filepath.Ext(samples)
	return strings.TrimSuffix(samples, extension) + "-?????-of-?????" + extension
}
