package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// corpusFlags are the flags of a measurement that does not fit in one process.
type corpusFlags struct {
	shard       string
	output      string
	deadLetters string

	number, count int // of --shard
}

func (f *corpusFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.shard, "shard", "", "measure part `i/n` of the conversations; i from 0 to n-1; needs --output")
	set.StringVarP(&f.output, "output", "o", "", "write samples for cupel merge to this `file`; goes on with one that was interrupted")
	set.StringVar(&f.deadLetters, "dead-letters", "", "write what cannot be measured to this `file`; measures the rest")
}

// lenient reports whether what cannot be measured costs nothing else.
func (f *corpusFlags) lenient() bool { return f.output != "" || f.deadLetters != "" }

func (f *corpusFlags) check(data []string, force bool) error {
	f.number, f.count = 0, 1
	if f.shard != "" {
		number, count, found := strings.Cut(f.shard, "/")
		var errs [2]error
		f.number, errs[0] = strconv.Atoi(number)
		f.count, errs[1] = strconv.Atoi(count)
		switch {
		case !found || errs[0] != nil || errs[1] != nil || f.number < 0 || f.number >= f.count:
			return usagef("--shard: want i/n, such as 0/8 to 7/8, got %q", f.shard)
		case f.output == "":
			return usagef("--shard: the samples of a shard are for cupel merge: give --output")
		}
	}
	given := make(map[string]bool)
	for _, name := range data {
		switch {
		case f.output == "":
		case name == "-":
			return usagef("--output: what is measured must be there again after an interruption: give --data a file in place of standard input")
		case given[filepath.Clean(name)]:
			return usagef("--data: %s is given twice", name)
		case !utf8.ValidString(name):
			return usagef("--data: %q is not UTF-8, as samples name files: rename it", name)
		}
		given[filepath.Clean(name)] = true
	}
	for _, flag := range [][2]string{{"--output", f.output}, {"--dead-letters", f.deadLetters}} {
		if flag[1] == "-" {
			return usagef("%s: give a file", flag[0])
		}
	}
	// The dead letters of samples that are there already are compared in the end.
	if !force && keeps(f.deadLetters) && !keeps(f.output) {
		return usagef("%s already exists; --force overwrites it", f.deadLetters)
	}
	return nil
}

// checkOutputs refuses to write to an input, or to one file twice, even with --force.
func (f *measureFlags) checkOutputs(inputs []string) error {
	outputs := [][2]string{{"--output", f.output}, {"--dead-letters", f.deadLetters}, {"--svg", f.svg}}
	for i, out := range outputs {
		if out[1] == "" || out[1] == "-" || isDevice(out[1]) {
			continue
		}
		for _, name := range inputs {
			if sameFile(name, out[1]) {
				return usagef("%s: %s is read: give another file", out[0], out[1])
			}
		}
		for _, other := range outputs[:i] {
			if other[1] != "" && sameFile(other[1], out[1]) {
				return usagef("%s: %s is the file of %s too: give another file", out[0], out[1], other[0])
			}
		}
	}
	return nil
}

// sampleHeader is the first line of a file of samples. Files are merged if theirs are equal
// but for the shard.
type sampleHeader struct {
	Format   string          `json:"format"`  // "cupel.replay.v1"
	Version  string          `json:"version"` // of cupel: presets and measures may change
	Shard    int             `json:"shard"`
	Shards   int             `json:"shards"`
	Data     []string        `json:"data"`
	Part     string          `json:"part"`
	HoldOut  int             `json:"holdOut"`
	Settings json.RawMessage `json:"settings"` // of the command
	Plan     json.RawMessage `json:"plan"`
}

// The formats.
const (
	replayFormat = "cupel.replay.v1"
	evalFormat   = "cupel.eval.v1"
)

// headerOf returns the header of what the flags measure.
func (f *measureFlags) headerOf(format string, settings, plan any) (sampleHeader, error) {
	h := sampleHeader{Format: format, Version: version(), Shard: f.number, Shards: f.count, Data: f.data, Part: f.part, HoldOut: f.holdOut}
	var errs [2]error
	h.Settings, errs[0] = json.Marshal(settings)
	h.Plan, errs[1] = json.Marshal(plan)
	return h, errors.Join(errs[:]...)
}

// fingerprints returns the hashes of policy files, so that shards of a policy that
// was edited are not merged.
func fingerprints(policies []string) map[string]string {
	prints := make(map[string]string)
	for _, name := range policies {
		file := name
		if base, _, err := marked(name); err == nil {
			file = strings.TrimSuffix(base, withQuery)
		}
		if data, err := os.ReadFile(file); err == nil {
			sum := sha256.Sum256(data)
			prints[name] = hex.EncodeToString(sum[:8])
		}
	}
	return prints
}

// trailer is the last line of a file of samples that is complete.
type trailer struct {
	End *int `json:"end"`          // samples
	Of  int  `json:"of,omitempty"` // conversations of all shards
}

// place is where a sample comes from, and what is wrong with it.
type place struct {
	File         string `json:"file"`
	Line         int    `json:"line"`
	Conversation string `json:"conversation,omitempty"`
	Error        string `json:"error"`
}

// measuring measures a corpus: C are its conversations, and S their samples.
type measuring[C, S any] struct {
	*measureFlags
	header  sampleHeader
	scan    func(file string, r io.Reader, take func(n, line int) bool) iter.Seq2[C, error]
	measure func(context.Context, iter.Seq2[C, error]) iter.Seq2[S, error]
	add     func(*S) error // to the table
	err     func(*S) error

	last    place // of the samples that were there before
	repeats int   // how many of them are of that place
	whole   bool  // its file is a log, and was measured
	dead
}

// dead is what could not be read or measured.
type dead struct {
	keep    bool // all of it
	letters []byte
	lost    int // samples without a result
	seen    int // samples
	of      int // conversations of the corpus, or 0 if it was not read
}

// run measures the conversations and writes the samples.
func (m *measuring[C, S]) run(ctx context.Context, env *Environment) error {
	m.keep = m.deadLetters != ""
	var out *os.File
	if m.output != "" {
		var done func()
		var err error
		if out, done, err = m.locked(); err != nil {
			return err
		}
		defer done()
		complete, err := m.resume(out)
		if err != nil {
			return err
		}
		if complete {
			return m.report(env, m.deadLetters, m.force)
		}
	}
	buffer := bufio.NewWriterSize(io.Discard, 1<<16)
	if out != nil {
		buffer.Reset(out)
	}
	for s, err := range m.measure(ctx, m.conversations(env)) {
		if err == nil && !m.lenient() {
			err = m.err(&s)
		}
		if err == nil {
			err = m.sample(buffer, &s)
		}
		if err != nil {
			return errors.Join(err, buffer.Flush())
		}
	}
	if err := json.NewEncoder(buffer).Encode(trailer{&m.seen, m.of}); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	if out != nil {
		if err := errors.Join(out.Sync(), out.Close()); err != nil {
			return err
		}
	}
	return m.report(env, m.deadLetters, m.force)
}

// sample adds a sample to the table and writes it.
func (m *measuring[C, S]) sample(out io.Writer, s *S) error {
	if m.output != "" || m.err(s) != nil {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
		var p place
		if m.err(s) != nil && json.Unmarshal(line, &p) == nil {
			m.bury(p)
		}
	}
	m.seen++
	return m.add(s)
}

// bury keeps what is wrong with a sample, if anything is.
func (d *dead) bury(p place) {
	if p.Error == "" {
		return // a policy failed, which the table says
	}
	d.lost++
	if letter, err := json.Marshal(p); err == nil && (d.lost == 1 || d.keep) {
		d.letters = append(append(d.letters, letter...), '\n')
	}
}

// report writes the dead letters to a file, if one is named, and says how many there
// are.
func (d *dead) report(env *Environment, file string, force bool) error {
	if there, err := os.ReadFile(file); file != "" && (err != nil || !bytes.Equal(there, d.letters)) {
		if err := writeOutput(env, file, force, func(w io.Writer) error {
			_, err := w.Write(d.letters)
			return err
		}); err != nil {
			return err
		}
	}
	if d.lost > 0 {
		var first place
		_ = json.Unmarshal(bytes.SplitN(d.letters, []byte("\n"), 2)[0], &first)
		note(env.Stderr, []string{fmt.Sprintf("%d of %s could not be read or measured; the first is %s: line %d: %s",
			d.lost, plural(d.seen, "conversation"), first.File, first.Line, first.Error)})
	}
	return nil
}

// conversations yields those that are measured.
func (m *measuring[C, S]) conversations(env *Environment) iter.Seq2[C, error] {
	return func(yield func(C, error) bool) {
		before := 0 // conversations of the files before
		done := slices.Index(m.data, m.last.File)
		skip := m.repeats
		for i, name := range m.data {
			r, closed, err := open(env, name)
			if err != nil {
				var none C
				yield(none, err)
				return
			}
			seen, at, stopped := 0, 0, false
			for c, err := range m.scan(shown(name), r, func(n, line int) bool {
				seen, at = max(seen, n+1), line
				// All lines of a log are conversation 0, and are read again.
				return m.measures(n) && (before+n)%m.count == m.number && (i > done || i == done && !m.whole && (n == 0 || line >= m.last.Line))
			}) {
				if i == done && skip > 0 {
					if at >= m.last.Line {
						skip--
					}
					continue
				}
				if stopped = !yield(c, err); stopped {
					break
				}
			}
			closed()
			if stopped {
				return
			}
			before += seen
		}
		m.of = before
	}
}

// locked opens the output, which no other process writes to until it is closed.
func (m *measuring[C, S]) locked() (*os.File, func(), error) {
	if isDevice(m.output) {
		return nil, nil, usagef("--output: %s is not a file", m.output)
	}
	out, err := os.OpenFile(m.output, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, usageError{err}
	}
	unlock, err := lock(m.output)
	if errors.Is(err, errLocked) {
		return nil, nil, errors.Join(usagef("--output: %s: %w", m.output, err), out.Close())
	}
	return out, func() {
		_ = out.Close() // again, unless there was an error
		if err == nil { // file systems may not have locks
			_ = unlock()
		}
	}, nil
}

// resume goes behind the samples of the output, and adds them to the table.
func (m *measuring[C, S]) resume(out *os.File) (complete bool, err error) {
	first, err := json.Marshal(m.header)
	if err != nil {
		return false, err
	}
	if m.force {
		if err := out.Truncate(0); err != nil {
			return false, err
		}
	}
	another := usagef("%s has samples of another measurement; --force overwrites it", m.output)
	var end int64
	last, err := readSamples(out, func(line []byte) error {
		end = int64(len(line)) + 1
		if !bytes.Equal(line, first) {
			return another
		}
		return nil
	}, func(line []byte) error {
		end += int64(len(line)) + 1
		return m.read(line)
	})
	if _, ok := errors.AsType[usageError](err); err != nil && !ok {
		err = usagef("%s: %w; --force overwrites it", m.output, err)
	}
	if err != nil || last != nil {
		return true, err
	}
	if end == 0 {
		head := make([]byte, len(first)+1)
		n, err := out.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if !bytes.HasPrefix(first, head[:n]) { // no header that was cut
			return false, another
		}
	}
	if err := out.Truncate(end); err != nil { // what was cut
		return false, err
	}
	if _, err := out.Seek(end, io.SeekStart); err != nil {
		return false, err
	}
	if end == 0 {
		_, err = out.Write(append(first, '\n'))
	}
	return false, err
}

// read adds a sample that was written before.
func (m *measuring[C, S]) read(line []byte) error {
	var s S
	var p place
	if err := cmp.Or(json.Unmarshal(line, &s), json.Unmarshal(line, &p)); err != nil {
		return err
	}
	m.bury(p)
	if m.repeats++; p.File != m.last.File || p.Line != m.last.Line {
		m.repeats = 1
	}
	m.whole = p.File == m.last.File && p.Line < m.last.Line // the log begins before its dead letters
	m.last = p
	m.seen++
	return m.add(&s)
}

// readSamples reads a file of samples, and returns its last line, or nil if it is not
// complete. The last line may be cut.
func readSamples(r io.Reader, first, sample func(line []byte) error) (*trailer, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	samples := 0
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil, nil //nolint:nilnil // it is not complete
		}
		if err != nil {
			return nil, err
		}
		line = line[:len(line)-1]
		if number == 1 {
			if err := first(line); err != nil {
				return nil, err
			}
			continue
		}
		var t trailer
		if bytes.HasPrefix(line, []byte(`{"end":`)) && json.Unmarshal(line, &t) == nil && t.End != nil {
			if *t.End != samples {
				return nil, fmt.Errorf("line %d: the file has %d samples, and should have %d", number, samples, *t.End)
			}
			return &t, nil
		}
		if err := sample(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		samples++
	}
}
