package cupelbeam

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/wollax/cupel-go/cupelrecord"
	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/internal/corpus"
)

// Counters is the namespace of the counters of the pipeline: conversations, steps and
// values that were measured; failed_steps, at which a policy failed; and bad_json,
// bad_conversation and bad_file, the lines that cannot be read, by the kind of a
// [DeadLetter].
const Counters = "cupelbeam"

// Output is the result of [Replay], in collections of JSON.
type Output struct {
	Samples     beam.PCollection // of each conversation, a [replay.Sample]
	DeadLetters beam.PCollection // of each line that cannot be read, a [DeadLetter]
	Table       beam.PCollection // one [replay.Table]; it counts the dead letters as failed
}

// DeadLetter is a line that cannot be read, with the reason.
type DeadLetter struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`   // from 1; 0 in files that are split, whose lines are not counted
	SHA256 string `json:"sha256,omitempty"` // of the line without the white space around it; "" if the file ends in an error there
	Kind   string `json:"kind"`             // json, conversation or file: the part that is faulty
	Error  string `json:"error"`
}

// line is a line of a file. Lines travel as JSON, because a runner in Java reads and
// writes the structures of Beam's own coder, and lost lines if one had no text.
type line struct {
	Rank       string // of a recorded run, as in [corpus.Line]; later compares it first
	DeadLetter        // has an error if the file ends in one there
	Text       []byte
}

func init() { //nolint:gochecknoinits // workers find functions by what their program registered
	register.Function3x1(lineOf)
	register.Function3x1(unzipFile)
	register.Function2x1(later)
	register.DoFn5x1[context.Context, string, func(string), func(string), func(string), error](&measureFn{})
	register.Function2x2(merge)
}

// Replay measures the conversations in the files that match patterns: JSON Lines with
// one conversation on each. The program imports the Beam file systems of the patterns
// and files. A pattern that ends in .gz names files compressed by gzip, and no other
// pattern may match one. The same holds for .cupelrec and the segments of package
// cupelrecord: of their runs, only the longest of each conversation counts, as in
// [replay.Latest].
//
// Each line that is not blank becomes a sample or a dead letter, and so does the end of
// a truncated file. Their order depends on the runner; the table does not.
func Replay(s beam.Scope, spec Spec, patterns []string) (Output, error) {
	m, err := spec.Measure()
	if err != nil {
		return Output{}, err
	}
	if len(patterns) == 0 {
		return Output{}, errors.New("cupelbeam: there are no files to read")
	}
	empty, _ := json.Marshal(replay.NewTable(m.Plan())) //nolint:errchkjson // numbers have no error
	s = s.Scope("cupelbeam.Replay")
	samples, letters, tables := beam.ParDo3(s, &measureFn{Spec: spec}, lines(s, patterns))
	none := beam.Create(s, string(empty)) // makes a table of no conversations too
	return Output{samples, letters, beam.Combine(s, merge, beam.Flatten(s, tables, none))}, nil
}

// Compressed reports whether the name of a file or a pattern means that gzip compressed
// it, or that it is a segment. Beam's text source loses lines of such files.
func Compressed(name string) bool {
	extension := path.Ext(name)
	return extension == ".gz" || extension == cupelrecord.Extension
}

// lines returns the lines of all files, shared among workers.
func lines(s beam.Scope, patterns []string) beam.PCollection {
	var parts, runs []beam.PCollection
	for _, pattern := range patterns {
		if !Compressed(pattern) {
			parts = append(parts, beam.ParDo(s, lineOf, textio.ReadWithFilename(s, pattern, textio.ReadUncompressed())))
			continue
		}
		files := beam.Reshuffle(s, fileio.MatchFiles(s, pattern, fileio.MatchEmptyAllow()))
		part := beam.ParDo(s, unzipFile, fileio.ReadMatches(s, files, fileio.ReadUncompressed()))
		if path.Ext(pattern) == cupelrecord.Extension {
			runs = append(runs, part)
			continue
		}
		parts = append(parts, beam.DropKey(s, part))
	}
	if len(runs) > 0 {
		parts = append(parts, beam.DropKey(s, beam.CombinePerKey(s, later, beam.Flatten(s, runs...))))
	}
	return beam.Reshuffle(s, beam.Flatten(s, parts...))
}

// lineOf emits a line that the text source read, unless it is blank.
func lineOf(file, text string, emit func(string)) error {
	if Compressed(file) {
		return fmt.Errorf("cupelbeam: a pattern that does not end in %s names the compressed file %s", path.Ext(file), file)
	}
	if trimmed := corpus.Trim([]byte(text)); len(trimmed) > 0 {
		return emitJSON(line{"", DeadLetter{File: file}, trimmed}, emit)
	}
	return nil
}

// unzipFile emits the lines of a compressed file. The key of a recorded run is its
// conversation; that of any other line is the line.
func unzipFile(ctx context.Context, file fileio.ReadableFile, emit func(key, line string)) error {
	r, err := file.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	return unzip(file.Metadata.Path, r, emit)
}

// unzip emits the lines that are not blank, and the place where the file is truncated.
// It returns an error of the file system, so that the runner tries again; any other
// error belongs to a line.
func unzip(file string, r io.Reader, emit func(key, line string)) error {
	source := &corpus.Source{Reader: r}
	for text, err := range corpus.Lines(corpus.Uncompressed(source)) {
		if source.Err != nil {
			return source.Err
		}
		l := line{text.Rank, DeadLetter{File: file, Line: text.Number}, text.Text}
		if err != nil {
			l.Kind, l.Error = "file", err.Error()
		}
		_ = emitJSON(l, func(encoded string) { emit(cmp.Or(text.Conversation, encoded), encoded) }) // texts have no error
	}
	return nil
}

// later returns the later one of two runs of a conversation.
func later(a, b string) string { return max(a, b) }

// measureFn measures the conversations on lines. It adds up the samples of a bundle
// itself, because some runners, such as Flink, would hold the samples of all bundles at
// once.
type measureFn struct {
	Spec    Spec
	measure *replay.Measure
	table   *replay.Table // of the bundle
}

// Setup builds the policies.
func (f *measureFn) Setup() (err error) {
	f.measure, err = f.Spec.Measure()
	return err
}

// StartBundle begins a table.
func (f *measureFn) StartBundle(_, _, _ func(string)) { f.table = replay.NewTable(f.measure.Plan()) }

// ProcessElement emits a sample or a dead letter.
func (f *measureFn) ProcessElement(ctx context.Context, text string, sample, dead, _ func(string)) error {
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return err
	}
	c, err := replay.Parse(l.Text)
	if err != nil && l.Error == "" {
		l.SHA256, l.Kind, l.Error = fmt.Sprintf("%x", sha256.Sum256(l.Text)), "conversation", err.Error()
		if !json.Valid(l.Text) {
			l.Kind = "json"
		}
	}
	if l.Error != "" {
		count(ctx, "bad_"+l.Kind, 1)
		f.table.Failed++
		return emitJSON(l.DeadLetter, dead)
	}
	c.File, c.Line = l.File, l.Line
	measured, err := f.measure.Sample(ctx, &c)
	if err != nil {
		return err
	}
	count(ctx, "conversations", 1)
	all := &measured.Counts[0] // of all policies and shares the same
	count(ctx, "steps", all.Steps)
	count(ctx, "values", all.Values)
	for i := range measured.Counts {
		count(ctx, "failed_steps", measured.Counts[i].Failures)
	}
	return errors.Join(f.table.Add(&measured), emitJSON(measured, sample))
}

// FinishBundle emits the table.
func (f *measureFn) FinishBundle(_, _, table func(string)) error { return emitJSON(f.table, table) }

func count(ctx context.Context, name string, n int) {
	beam.NewCounter(Counters, name).Inc(ctx, int64(n))
}

func emitJSON(v any, emit func(string)) error {
	text, err := json.Marshal(v)
	if err == nil {
		emit(string(text))
	}
	return err
}

// merge adds up two tables.
func merge(a, b string) (string, error) {
	var sum, other replay.Table
	if err := errors.Join(json.Unmarshal([]byte(a), &sum), json.Unmarshal([]byte(b), &other), sum.Merge(&other)); err != nil {
		return "", err
	}
	text, _ := json.Marshal(&sum) //nolint:errchkjson // as above
	return string(text), nil
}
