package cupelbeam

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"path"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() { //nolint:gochecknoinits // as for Replay
	register.DoFn1x2[string, string, string](&shardFn{})
	register.Function3x1(writeFile)
}

// Write writes a collection of an [Output] as lines to the files of [Shard]. A hash of a
// line decides which file has it. A file without lines is not written.
func Write(s beam.Scope, name string, shards int, rows beam.PCollection) {
	s = s.Scope("cupelbeam.Write")
	beam.ParDo0(s, writeFile, beam.GroupByKey(s, beam.ParDo(s, &shardFn{name, shards}, rows)))
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

// shardFn returns which file a row is in. The keys of one grouping are the files, since a
// worker has a buffer for each grouping, where textio.Write would make one for each file.
type shardFn struct {
	Name   string
	Shards int
}

// ProcessElement returns the file and the row. Equal conversations have different rows
// where lines have numbers, so that the files have about the same size.
func (f *shardFn) ProcessElement(row string) (file, same string) {
	shard := int(crc32.ChecksumIEEE([]byte(row))) % f.Shards
	return Shard(f.Name, shard, f.Shards), row
}

// writeFile writes a file, and holds none of its rows.
func writeFile(ctx context.Context, name string, rows func(*string) bool) error {
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer files.Close() //nolint:errcheck // the file reports what cannot be written
	file, err := files.OpenWrite(ctx, name)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	for row := ""; rows(&row); {
		_, _ = out.WriteString(row + "\n") // Flush returns the error
	}
	return errors.Join(out.Flush(), file.Close())
}
