package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"github.com/wollax/cupel-go/cupelbeam"
)

// files checks the input and the output before a job begins. If files may be overwritten,
// it removes the old output, since readers would take samples in another number of shards
// for samples of this job.
func (o *options) files(ctx context.Context) error {
	outputs := []string{o.table, o.deadLetters, o.samples}
	if err := o.input(ctx, slices.Clone(outputs)); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	for _, name := range outputs {
		if name == o.samples && o.shards > 1 {
			extension := filepath.Ext(name)
			name = strings.TrimSuffix(name, extension) + "-?????-of-?????" + extension
		}
		_, err := each(ctx, name, func(files filesystem.Interface, file string) error {
			if !o.force {
				return fmt.Errorf("%s exists; --force overwrites it", file)
			}
			if remover, ok := files.(filesystem.Remover); ok {
				return remover.Remove(ctx, file)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// prismLimit is how many bytes of conversations Prism takes, since it holds them in
// memory about twelve times.
const prismLimit = 64e6

// compression is the approximate factor by which gzip shrinks conversations.
const compression = 5

// input checks that each pattern matches a file, that no file is named twice, as an
// output or by two patterns, which would count it twice, and that Prism can hold all.
func (o *options) input(ctx context.Context, names []string) error {
	var size int64
	for _, pattern := range o.patterns() {
		n, err := each(ctx, pattern, func(files filesystem.Interface, file string) error {
			names = append(names, file)
			if *runners.Runner != prism {
				return nil // a bucket takes a request for each size
			}
			bytes, err := files.Size(ctx, file)
			if cupelbeam.Compressed(file) {
				bytes *= compression
			}
			size += bytes
			return err
		})
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("no file matches %q", pattern)
		}
	}
	slices.Sort(names)
	for i, name := range names[1:] {
		if name != "" && name == names[i] {
			return fmt.Errorf("%s is named twice", name)
		}
	}
	if size > prismLimit && !o.force {
		return fmt.Errorf("%d MB is too much for Prism: use cupel replay, --runner or --force", size/1e6)
	}
	return nil
}

// each visits the files of a pattern, and returns how many there are.
func each(ctx context.Context, pattern string, visit func(files filesystem.Interface, file string) error) (int, error) {
	files, err := filesystem.New(ctx, pattern)
	if err != nil {
		return 0, err
	}
	defer files.Close() //nolint:errcheck // nothing was written
	found, err := files.List(ctx, pattern)
	if err != nil {
		return 0, err
	}
	for _, file := range found {
		if err := visit(files, file); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}
