package cupelbeam

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() { //nolint:gochecknoinits // as for Replay
	register.DoFn2x1[string, func(int, string), error](&shardFn{})
	register.DoFn2x0[[]byte, func(int, string)](&shardsFn{})
	register.DoFn3x1[context.Context, int, func(*string) bool, error](&writeFn{})
	register.Emitter2[int, string]()
	register.Iter1[string]()
}

// Write writes samples or dead letters as JSON Lines to the files of [Shard], also where
// one has no line. The id of a conversation decides which shard its samples are in.
func Write(s beam.Scope, name string, shards int, rows beam.PCollection) {
	s = s.Scope("cupelbeam.Write")
	keyed := beam.ParDo(s, &shardFn{Shards: shards}, rows)
	all := beam.ParDo(s, &shardsFn{Shards: shards}, beam.Impulse(s))
	beam.ParDo0(s, &writeFn{Name: name, Shards: shards}, beam.GroupByKey(s, beam.Flatten(s, keyed, all)))
}

// Shard returns the name of a shard, from 0: name-00002-of-00010.jsonl of name.jsonl, or
// the name itself if it is the only one.
func Shard(name string, shard, of int) string {
	if of == 1 {
		return name
	}
	extension := path.Ext(name)
	return fmt.Sprintf("%s-%05d-of-%05d%s", strings.TrimSuffix(name, extension), shard, of, extension)
}

// shardFn says which shard a sample is in.
type shardFn struct{ Shards int }

// ProcessElement hashes the id of the conversation.
func (f *shardFn) ProcessElement(row string, emit func(int, string)) error {
	var s struct{ Conversation string }
	if err := json.Unmarshal([]byte(row), &s); err != nil {
		return err
	}
	hash := fnv.New64a()
	hash.Write([]byte(s.Conversation))
	emit(int(hash.Sum64()%uint64(f.Shards)), row)
	return nil
}

// shardsFn gives each shard a blank row, so that its file is written.
type shardsFn struct{ Shards int }

// ProcessElement emits all shards.
func (f *shardsFn) ProcessElement(_ []byte, emit func(int, string)) {
	for i := range f.Shards {
		emit(i, "")
	}
}

// writeFn writes a shard.
type writeFn struct {
	Name   string
	Shards int
}

// ProcessElement writes the rows that are not blank, and holds none of them.
func (f *writeFn) ProcessElement(ctx context.Context, shard int, rows func(*string) bool) (err error) {
	name := Shard(f.Name, shard, f.Shards)
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer files.Close() //nolint:errcheck // the file reports what cannot be written
	file, err := files.OpenWrite(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriterSize(file, 1<<20)
	var row string
	for rows(&row) {
		if row == "" {
			continue
		}
		if _, err := out.WriteString(row + "\n"); err != nil {
			return err
		}
	}
	return out.Flush()
}
