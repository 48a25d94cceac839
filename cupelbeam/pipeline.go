package cupelbeam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/internal/corpus"
)

// Counters is the namespace of the counters of the pipeline: conversations, steps and
// values that were measured; failed_steps, at which a policy failed; and bad_json,
// bad_conversation and bad_file, the lines that cannot be read, by the kind of a
// [DeadLetter].
const Counters = "cupelbeam"

// Output is what [Replay] returns, each a collection of JSON.
type Output struct {
	Samples     beam.PCollection // of each conversation, a [replay.Sample]
	DeadLetters beam.PCollection // of each line that cannot be read, a [DeadLetter]
	Table       beam.PCollection // one [replay.Table]; it counts the dead letters as failed
}

// DeadLetter says which line cannot be read, and why.
type DeadLetter struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`   // from 1; 0 in files that are split, whose lines are not counted
	SHA256 string `json:"sha256,omitempty"` // of the line without the white space around it; "" if the file ends in an error there
	Kind   string `json:"kind"`             // json, conversation or file: what is not as it should be
	Error  string `json:"error"`
}

// line is a line of a file.
type line struct {
	File   string
	Number int // from 1, or 0
	Text   []byte
	Error  string // of the file, instead of a text
}

func init() { //nolint:gochecknoinits // workers find functions by what their program registered
	register.Function2x0(pathOf)
	register.Function4x1(lineOf)
	register.DoFn3x1[context.Context, string, func(line), error](&unzipFn{})
	register.DoFn4x1[context.Context, line, func(string), func(string), error](&measureFn{})
	register.Emitter1[line]()
	register.Emitter1[string]()
	register.Combiner3[*replay.Table, string, string](&tableFn{})
	beam.RegisterCoder(reflect.TypeFor[line](), encodeLine, decodeLine)
	beam.RegisterCoder(reflect.TypeFor[*replay.Table](), encodeTable, decodeTable)
}

// Replay measures the conversations in the files that patterns name: JSON Lines with
// one conversation on each. Patterns and files are those of Beam's file systems, which
// the program imports. A pattern that ends in .gz names files that gzip compressed, and
// no other pattern may match one.
//
// Each line that is not blank is a sample or a dead letter, and so is the end of a file
// that is cut. The order of both depends on the runner, and the table does not.
func Replay(s beam.Scope, spec Spec, patterns []string) (Output, error) {
	m, err := spec.Measure()
	if err != nil {
		return Output{}, err
	}
	if len(patterns) == 0 {
		return Output{}, errors.New("cupelbeam: there are no files to read")
	}
	s = s.Scope("cupelbeam.Replay")
	var out Output
	out.Samples, out.DeadLetters = beam.ParDo2(s, &measureFn{Spec: spec}, lines(s, patterns))
	none := beam.Create(s, "") // makes a table of no conversations too
	out.Table = beam.Combine(s, &tableFn{Plan: m.Plan()}, beam.Flatten(s, out.Samples, out.DeadLetters, none))
	return out, nil
}

// Compressed reports whether a file or a pattern of files has a name that says that gzip
// compressed it. Beam's text source loses lines of such files.
func Compressed(name string) bool { return path.Ext(name) == ".gz" }

// encodeLine writes a line so that only this program reads it. A runner in Java reads and
// writes what Beam's own coder writes, and lost lines where one had no text.
func encodeLine(l line) []byte {
	return append(fmt.Appendf(nil, "%d %q %q\n", l.Number, l.File, l.Error), l.Text...)
}

func decodeLine(data []byte) (l line, err error) {
	head, text, _ := bytes.Cut(data, []byte("\n"))
	l.Text = bytes.Clone(text)
	_, err = fmt.Sscanf(string(head), "%d %q %q", &l.Number, &l.File, &l.Error)
	return l, err
}

// lines returns the lines of all files, shared among workers.
func lines(s beam.Scope, patterns []string) beam.PCollection {
	var parts []beam.PCollection
	var compressed []string
	for _, pattern := range patterns {
		if Compressed(pattern) {
			compressed = append(compressed, pattern)
			continue
		}
		parts = append(parts, beam.ParDo(s, lineOf, textio.ReadWithFilename(s, pattern, textio.ReadUncompressed())))
	}
	if len(compressed) > 0 {
		found := fileio.MatchAll(s, beam.CreateList(s, compressed), fileio.MatchEmptyAllow())
		files := beam.Reshuffle(s, beam.ParDo(s, pathOf, found))
		parts = append(parts, beam.ParDo(s, &unzipFn{}, files))
	}
	return beam.Reshuffle(s, beam.Flatten(s, parts...))
}

// lineOf emits a line that the text source read, unless it is blank.
func lineOf(_ context.Context, file, text string, emit func(line)) error {
	if Compressed(file) {
		return fmt.Errorf("cupelbeam: a pattern that does not end in .gz names the compressed file %s", file)
	}
	if trimmed := corpus.Trim([]byte(text)); len(trimmed) > 0 {
		emit(line{File: file, Text: trimmed})
	}
	return nil
}

func pathOf(file fileio.FileMetadata, emit func(string)) { emit(file.Path) }

// unzipFn reads the lines of a file that gzip compressed.
type unzipFn struct{}

// ProcessElement emits the lines that are not blank, and where the file is cut.
func (*unzipFn) ProcessElement(ctx context.Context, file string, emit func(line)) (err error) {
	files, err := filesystem.New(ctx, file)
	if err != nil {
		return err
	}
	defer files.Close() //nolint:errcheck // it was only read
	r, err := files.OpenRead(ctx, file)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	return unzip(file, r, emit)
}

// unzip emits the lines of a file. An error of the file system is its own, so that the
// runner tries again; any other is that of a line.
func unzip(file string, r io.Reader, emit func(line)) error {
	source := &source{Reader: r}
	for text, err := range corpus.Lines(corpus.Uncompressed(source)) {
		switch {
		case source.err != nil:
			return source.err
		case err != nil:
			emit(line{File: file, Number: text.Number, Error: err.Error()})
		default:
			emit(line{File: file, Number: text.Number, Text: bytes.Clone(text.Text)})
		}
	}
	return nil
}

// source remembers the error of a reader.
type source struct {
	io.Reader
	err error // other than the end
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// measureFn measures the conversation on a line.
type measureFn struct {
	Spec    Spec
	measure *replay.Measure

	conversations, steps, values, failedSteps beam.Counter
}

// Setup builds the policies.
func (f *measureFn) Setup() (err error) {
	f.conversations, f.steps = beam.NewCounter(Counters, "conversations"), beam.NewCounter(Counters, "steps")
	f.values, f.failedSteps = beam.NewCounter(Counters, "values"), beam.NewCounter(Counters, "failed_steps")
	f.measure, err = f.Spec.Measure()
	return err
}

// ProcessElement emits a sample or a dead letter.
func (f *measureFn) ProcessElement(ctx context.Context, l line, sample, dead func(string)) error {
	letter := DeadLetter{File: l.File, Line: l.Number, Kind: "file", Error: l.Error}
	var c replay.Conversation
	if l.Error == "" {
		var err error
		if c, err = replay.Parse(l.Text); err != nil {
			hash := sha256.Sum256(l.Text)
			letter.SHA256, letter.Kind, letter.Error = hex.EncodeToString(hash[:]), "conversation", err.Error()
			if !json.Valid(l.Text) {
				letter.Kind = "json"
			}
		}
	}
	if letter.Error != "" {
		beam.NewCounter(Counters, "bad_"+letter.Kind).Inc(ctx, 1)
		return emitJSON(letter, dead)
	}
	c.File, c.Line = l.File, l.Number
	measured, err := f.measure.Sample(ctx, &c)
	if err != nil {
		return err
	}
	f.conversations.Inc(ctx, 1)
	f.steps.Inc(ctx, int64(measured.Counts[0].Steps)) // of all policies and shares the same
	f.values.Inc(ctx, int64(measured.Counts[0].Values))
	for i := range measured.Counts {
		f.failedSteps.Inc(ctx, int64(measured.Counts[i].Failures))
	}
	return emitJSON(measured, sample)
}

func emitJSON(v any, emit func(string)) error {
	text, err := json.Marshal(v)
	if err == nil {
		emit(string(text))
	}
	return err
}

// tableFn adds up samples and dead letters, which are samples with an error.
type tableFn struct{ Plan replay.Plan }

// CreateAccumulator returns an empty table.
func (f *tableFn) CreateAccumulator() *replay.Table { return replay.NewTable(f.Plan) }

// AddInput adds a sample, or nothing for "".
func (*tableFn) AddInput(t *replay.Table, sample string) *replay.Table {
	if sample == "" {
		return t
	}
	var s replay.Sample
	err := json.Unmarshal([]byte(sample), &s)
	if err == nil {
		err = t.Add(&s)
	}
	if err != nil {
		panic(err) //nolint:forbidigo // Beam makes it the failure of the bundle, and has no other way
	}
	return t
}

// MergeAccumulators adds the samples of another table.
func (*tableFn) MergeAccumulators(a, b *replay.Table) *replay.Table {
	if err := a.Merge(b); err != nil {
		panic(err) //nolint:forbidigo // as in AddInput
	}
	return a
}

// ExtractOutput returns the JSON of the table.
func (*tableFn) ExtractOutput(t *replay.Table) string {
	data, err := encodeTable(t)
	if err != nil {
		panic(err) //nolint:forbidigo // as in AddInput
	}
	return string(data)
}

func encodeTable(t *replay.Table) ([]byte, error) { return json.Marshal(t) }

func decodeTable(data []byte) (*replay.Table, error) {
	t := new(replay.Table)
	return t, json.Unmarshal(data, t)
}
