package cupelbeam

import (
	"fmt"
	"hash/crc32"
	"path"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() { //nolint:gochecknoinits // as for Replay
	register.DoFn2x0[string, func(string)](&shardFn{})
}

// Write writes a collection of an [Output] as lines to the files of [Shard]. A hash of a
// line decides which file has it. A file without lines is not written.
func Write(s beam.Scope, name string, shards int, rows beam.PCollection) {
	s = s.Scope("cupelbeam.Write")
	for i := range shards {
		textio.Write(s, Shard(name, i, shards), beam.ParDo(s, &shardFn{i, shards}, rows))
	}
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

// shardFn passes the rows of a shard on.
type shardFn struct{ Shard, Of int }

// ProcessElement emits a row of the shard. Equal conversations have different rows if
// lines have numbers, so that the files have about the same size.
func (f *shardFn) ProcessElement(row string, emit func(string)) {
	if int(crc32.ChecksumIEEE([]byte(row)))%f.Of == f.Shard {
		emit(row)
	}
}
