package conformance

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

//go:embed required optional units
var vectors embed.FS

// Vectors returns this project's vectors: the directory required holds the vectors
// that every implementation must pass, the directory optional edge cases, and the
// directory units the vectors of the chapter docs/spec/units.md.
func Vectors() fs.FS { return vectors }

// An Option configures [Run] and [RunVector]. By default all vectors run
// against this project's engine.
type Option func(*options)

type options struct {
	impl   Implementation
	strict bool
}

// WithImplementation sets the implementation to run the vectors against. The
// default is [Engine].
func WithImplementation(impl Implementation) Option {
	return func(o *options) { o.impl = impl }
}

// WithStrict rejects unknown keys. By default they are ignored.
func WithStrict() Option {
	return func(o *options) { o.strict = true }
}

// Result is the result of one vector.
type Result struct {
	Path     string   // of the file, in the file system
	Name     string   // from the vector; "" when it could not be read
	Stage    string   // from the vector
	Failures []string // the faults, one sentence each
}

// Passed reports whether the vector passed.
func (r Result) Passed() bool { return len(r.Failures) == 0 }

// ErrNoVectors is returned if no vector is found, since a missing suite must not
// pass.
var ErrNoVectors = errors.New("conformance: no vector found")

// Run runs every *.toml file of fsys as a vector, directory by directory in the order
// of names. A vector or directory that cannot be read counts as failed. Run returns
// [ErrNoVectors], an error of reading fsys, or the context's error; a failed vector
// is not an error.
func Run(ctx context.Context, fsys fs.FS, opts ...Option) (results []Result, err error) {
	err = fs.WalkDir(fsys, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && file == ".":
			return fmt.Errorf("conformance: %w", err)
		case err == nil && (entry.IsDir() || path.Ext(file) != ".toml"):
			return ctx.Err()
		}
		var data []byte
		if err == nil {
			data, err = fs.ReadFile(fsys, file)
		}
		if err != nil {
			results = append(results, Result{Path: file, Failures: []string{err.Error()}})
		} else {
			results = append(results, RunVector(ctx, file, data, opts...))
		}
		return ctx.Err()
	})
	if err == nil && len(results) == 0 {
		err = ErrNoVectors
	}
	return results, err
}

// RunVector runs one vector, given as the bytes of its file. name becomes the
// path in the result.
func RunVector(ctx context.Context, name string, data []byte, opts ...Option) Result {
	o := options{impl: Engine{}}
	for _, opt := range opts {
		opt(&o)
	}
	v, err := readVector(data, o.strict)
	result := Result{Path: name, Name: v.name, Stage: v.stage}
	if err != nil {
		result.Failures = []string{err.Error()}
	} else {
		result.Failures = v.run(ctx, o.impl)
	}
	return result
}

// run runs the vector and returns the faults.
func (v *vector) run(ctx context.Context, impl Implementation) (f findings) {
	defer func() {
		if p := recover(); p != nil {
			f.addf("the implementation panicked: %v", p)
		}
	}()
	switch {
	case v.built != nil:
		f.outcome(v.built, v.want.Error)
	case v.stage == "scoring":
		v.runScoring(ctx, impl, &f)
	case v.stage == "slicing":
		v.runSlicing(ctx, impl, &f)
	case v.stage == "placing":
		v.runPlacing(ctx, impl, &f)
	default:
		v.runPipeline(ctx, impl, &f)
	}
	return f
}

// runScoring and similar functions run a stage and compare the result.
func (v *vector) runScoring(ctx context.Context, impl Implementation, f *findings) {
	got, err := impl.Score(ctx, v.pipeline, v.items)
	switch {
	case !f.outcome(err, v.want.Error):
	case len(got) != len(v.items):
		f.addf("got %d scores for %d items", len(got), len(v.items))
	default:
		f.scoreRows(v, got)
		f.scores(got, v.want.Scores, v.epsilon)
	}
}

func (v *vector) scoredItems() []cupel.ScoredItem {
	out := make([]cupel.ScoredItem, len(v.items))
	for i, item := range v.items {
		out[i] = cupel.ScoredItem{Item: item, Score: v.scores[i]}
	}
	return out
}

func (v *vector) runSlicing(ctx context.Context, impl Implementation, f *findings) {
	got, err := impl.Slice(ctx, v.pipeline, v.scoredItems(), v.slice)
	if !f.outcome(err, v.want.Error) {
		return
	}
	v.comparePositions(f.set, "selected", got.Indices, v.contentsAt(got.Indices, f), v.want.SelectedContents)
	if v.want.Smaller != nil {
		f.set("smaller forms", texts(got.Smaller), texts(v.want.Smaller))
	}
	var excluded []cupel.ExclusionReason
	for _, d := range got.Drops {
		excluded = append(excluded, d.Reason)
	}
	f.counts(v.want, len(got.Shortfalls), excluded)
	f.rows("shortfalls", shortfallRows(got.Shortfalls), v.want.Diagnostics.Shortfalls, v.epsilon)
}

// contentsAt returns the contents at positions, which must be distinct and in
// range.
func (v *vector) contentsAt(positions []int, f *findings) []string {
	var out []string
	seen := map[int]bool{}
	for _, at := range positions {
		if at < 0 || at >= len(v.items) || seen[at] {
			f.addf("position %d is out of range or given twice", at)
			continue
		}
		seen[at] = true
		out = append(out, v.items[at].Content())
	}
	return out
}

func (v *vector) runPlacing(ctx context.Context, impl Implementation, f *findings) {
	got, err := impl.Place(ctx, v.pipeline, v.scoredItems())
	if !f.outcome(err, v.want.Error) {
		return
	}
	contents := v.contentsAt(got, f)
	if len(contents) != len(v.items) {
		f.addf("got %d positions for %d items", len(got), len(v.items))
	}
	v.comparePositions(f.list, "placed", got, contents, v.want.OrderedContents)
}

func (v *vector) runPipeline(ctx context.Context, impl Implementation, f *findings) {
	got, err := impl.Run(ctx, v.pipeline, v.items, v.budget)
	succeeded := f.outcome(err, v.want.Error)
	switch {
	case got.Report != nil:
		f.report(got.Report, v.want.Diagnostics, v.epsilon)
	case succeeded || v.want.Diagnostics.any():
		f.addf("the run has no report")
	}
	if !succeeded || got.Report == nil {
		return
	}
	v.checkWindow(got, f)
	v.checkScores(ctx, impl, f)
	var excluded []cupel.ExclusionReason
	for _, e := range got.Report.Excluded {
		excluded = append(excluded, e.Reason)
	}
	f.counts(v.want, len(got.Report.CountRequirementShortfalls), excluded)
}

// comparePositions compares positions, or otherwise contents, with the
// expected ones.
func (v *vector) comparePositions(compare func(what string, got, want []string), what string, positions []int, contents, want []string) {
	switch indices := v.want.OrderedIndices; {
	case indices != nil:
		compare(what+" positions", texts(positions), texts(indices))
	case want != nil:
		compare(what, contents, want)
	}
}

// checkWindow compares the output. If neither positions nor contents are given, it
// must be empty, unless the vector lists the report's included items (R47).
func (v *vector) checkWindow(got Outcome, f *findings) {
	var positions []int
	var contents []string
	for _, item := range got.Window {
		positions = append(positions, slices.Index(v.items, item)) // every row is an item of its own
		contents = append(contents, item.Content())
	}
	want := v.want.OrderedContents
	if want == nil && v.want.Diagnostics.Included == nil {
		want = []string{}
	}
	v.comparePositions(f.list, "output", positions, contents, want)
}

// checkScores compares the scores of the scoreable items, in input order.
func (v *vector) checkScores(ctx context.Context, impl Implementation, f *findings) {
	if v.want.Scores == nil {
		return
	}
	scoreable := slices.DeleteFunc(slices.Clone(v.items), func(it *cupel.ContextItem) bool { return it.Tokens() < 0 || it.Pinned() })
	got, err := impl.Score(ctx, v.pipeline, scoreable)
	if err != nil {
		f.addf("scores: got error %q", err)
		return
	}
	f.scores(got, v.want.Scores, v.epsilon)
}
