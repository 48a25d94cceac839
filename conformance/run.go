package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// An Option configures [Run] and [RunVector]. By default all vectors run
// against this project's engine.
type Option func(*options)

type options struct {
	impl   Implementation
	match  string
	strict bool
}

func newOptions(opts []Option) options {
	o := options{impl: Engine{}}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// WithImplementation sets the implementation to run the vectors against. The
// default, and nil, is [Engine].
func WithImplementation(impl Implementation) Option {
	return func(o *options) {
		o.impl = impl
		if impl == nil {
			o.impl = Engine{}
		}
	}
}

// WithMatch makes [Run] run only vectors that match a pattern, as defined by
// [Result.Matches]. The empty pattern, the default, matches all.
func WithMatch(pattern string) Option {
	return func(o *options) { o.match = pattern }
}

// WithStrict rejects unknown keys. By default they are ignored.
func WithStrict() Option {
	return func(o *options) { o.strict = true }
}

// Results are the results of a run.
type Results struct {
	Vectors []Result // in the order of their paths
	Passed  int
	Failed  int
}

// Result is the result of one vector.
type Result struct {
	Path     string   `json:"path"`            // of the file, in the file system
	Name     string   `json:"name,omitempty"`  // from the vector; "" when it could not be read
	Stage    string   `json:"stage,omitempty"` // from the vector
	Passed   bool     `json:"passed"`
	Failures []string `json:"failures,omitempty"` // what is wrong, one sentence each
}

// ErrNoVectors is returned if no matching vector is found, since a missing
// suite must not pass.
var ErrNoVectors = errors.New("conformance: no vector found")

// Run runs every *.toml file of fsys as a vector, in path order. A vector or
// directory that cannot be read counts as failed. Run returns [ErrNoVectors],
// an error of reading fsys, an error for a malformed pattern of [WithMatch], or
// the context's error; a failed vector is not an error.
func Run(ctx context.Context, fsys fs.FS, opts ...Option) (Results, error) {
	var results Results
	o := newOptions(opts)
	if _, err := path.Match(o.match, ""); err != nil {
		return results, fmt.Errorf("conformance: pattern %q: %w", o.match, err)
	}
	files, err := find(fsys)
	if err != nil {
		return results, fmt.Errorf("conformance: %w", err)
	}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return results, err
		}
		data, err := file.read(fsys)
		if errors.Is(err, errDirectory) {
			continue
		}
		if result, ok := runOne(ctx, file.path, data, err, o); ok {
			results.add(result)
		}
	}
	if len(results.Vectors) == 0 {
		return results, ErrNoVectors
	}
	return results, nil
}

// RunVector runs one vector, given as the bytes of its file. name becomes the
// path in the result. [WithMatch] has no effect.
func RunVector(ctx context.Context, name string, data []byte, opts ...Option) Result {
	o := newOptions(opts)
	o.match = ""
	result, _ := runOne(ctx, name, data, nil, o)
	return result
}

// runOne returns false when the vector does not match the options. unreadable
// is the error of reading its file, if any.
func runOne(ctx context.Context, file string, data []byte, unreadable error, o options) (Result, bool) {
	result := Result{Path: file}
	v, err := (*vector)(nil), unreadable
	if err == nil {
		v, err = readVector(data, o.strict)
	}
	if v != nil {
		result.Name, result.Stage = v.name, v.stage
	}
	if !result.Matches(o.match) {
		return result, false
	}
	if err != nil {
		result.Failures = []string{err.Error()}
	} else {
		result.Failures = v.run(ctx, o.impl)
	}
	result.Passed = len(result.Failures) == 0
	return result, true
}

func (r *Results) add(result Result) {
	r.Vectors = append(r.Vectors, result)
	if result.Passed {
		r.Passed++
	} else {
		r.Failed++
	}
}

// Matches reports whether the path of the vector, its file name, its file name
// without .toml, or its name matches a pattern of [path.Match]; in names a
// slash is an ordinary character. The empty pattern matches all, and a
// malformed one nothing.
func (r Result) Matches(pattern string) bool {
	if pattern == "" {
		return true
	}
	base := path.Base(r.Path)
	for _, name := range []string{r.Path, base, strings.TrimSuffix(base, ".toml")} {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, _ := path.Match(flat(pattern), flat(r.Name))
	return ok
}

// run runs the vector and returns what is wrong.
func (v *vector) run(ctx context.Context, impl Implementation) (f findings) {
	defer func() {
		if p := recover(); p != nil {
			f.addf("the implementation panicked: %v", p)
		}
	}()
	if v.want.construction {
		f.errorClass(v.construct(ctx, impl), "invalid_config")
		return f
	}
	if v.built != nil {
		f.outcome(v.built, v.want.err)
		return f
	}
	switch v.stage {
	case "scoring":
		v.runScoring(ctx, impl, &f)
	case "slicing":
		v.runSlicing(ctx, impl, &f)
	case "placing":
		v.runPlacing(ctx, impl, &f)
	default:
		v.runPipeline(ctx, impl, &f)
	}
	return f
}

// construct builds the strategies without items to work on.
func (v *vector) construct(ctx context.Context, impl Implementation) (err error) {
	switch v.stage {
	case "scoring":
		_, err = impl.Score(ctx, v.scorer, nil)
	case "slicing":
		_, err = impl.Slice(ctx, v.slicer, nil, cupel.SliceBudget{})
	case "placing":
		_, err = impl.Place(ctx, v.placer, nil)
	default:
		_, err = impl.Run(ctx, v.pipeline, nil, cupel.ContextBudget{})
	}
	return err
}

// outcome compares an error, or nil, with the expected one, and reports whether
// there is a result to check.
func (f *findings) outcome(err error, class string) bool {
	if class != "" {
		f.errorClass(err, class)
		return false
	}
	if err != nil {
		f.addf("got error %q, want none", err)
		return false
	}
	return true
}

func (f *findings) errorClass(err error, class string) {
	switch {
	case err == nil:
		f.addf("got no error, want one of class %s", class)
	case !errors.Is(err, errorClasses[class]):
		f.addf("got error %q, want one of class %s", err, class)
	}
}

func (v *vector) runScoring(ctx context.Context, impl Implementation, f *findings) {
	got, err := impl.Score(ctx, v.scorer, v.items)
	if !f.outcome(err, v.want.err) {
		return
	}
	if len(got) != len(v.items) {
		f.addf("got %d scores for %d items", len(got), len(v.items))
		return
	}
	f.scoreRows(v.want.scoreRows, v.items, got, v.want.epsilon)
	if v.want.scores != nil {
		f.scores(got, v.want.scores, v.want.epsilon)
	}
	again, err := impl.Score(ctx, v.scorer, v.items)
	if err != nil || !slices.EqualFunc(got, again, func(a, b float64) bool { return a == b || a != a && b != b }) {
		f.addf("a second pass gives %v, error %v; the first gave %v", again, err, got)
	}
}

func scoredItems(items []*cupel.ContextItem, scores []float64) []cupel.ScoredItem {
	out := make([]cupel.ScoredItem, len(items))
	for i, item := range items {
		out[i] = cupel.ScoredItem{Item: item, Score: scores[i]}
	}
	return out
}

func (v *vector) runSlicing(ctx context.Context, impl Implementation, f *findings) {
	items := scoredItems(v.items, v.scores)
	got, err := impl.Slice(ctx, v.slicer, items, v.slice)
	if !f.outcome(err, v.want.err) {
		return
	}
	if v.want.selected != nil && v.want.indices == nil {
		f.set("selected", v.contentsAt(got.Indices, f), v.want.selected)
	}
	if v.want.indices != nil {
		f.indices("selected positions", slices.Sorted(slices.Values(got.Indices)), slices.Sorted(slices.Values(v.want.indices)))
	}
	if v.want.smaller != nil {
		byIndex := func(a, b strategy.SmallerForm) int { return a.Index - b.Index }
		smaller, want := slices.SortedFunc(slices.Values(got.Smaller), byIndex), slices.SortedFunc(slices.Values(v.want.smaller), byIndex)
		f.list("smaller forms", texts(smaller), texts(want))
	}
	capped := 0
	for _, d := range got.Drops {
		if d.Reason.Code == cupel.ExcludeCountCapExceeded {
			capped++
		}
	}
	f.count("shortfalls", len(got.Shortfalls), v.want.shortfallCount)
	f.count("items excluded by a cap", capped, v.want.capExcludedCount)
	if d := v.want.diagnostics; d != nil && d.shortfalls != nil {
		f.shortfalls(got.Shortfalls, d.shortfalls)
	}
	again, err := impl.Slice(ctx, v.slicer, items, v.slice)
	if err != nil || !slices.Equal(got.Indices, again.Indices) {
		f.addf("a second pass gives %v, error %v; the first gave %v", again.Indices, err, got.Indices)
	}
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
	items := scoredItems(v.items, v.scores)
	got, err := impl.Place(ctx, v.placer, items)
	if !f.outcome(err, v.want.err) {
		return
	}
	contents := v.contentsAt(got, f)
	if len(contents) != len(v.items) {
		f.addf("got %d positions for %d items", len(got), len(v.items))
	}
	if v.want.ordered != nil && v.want.indices == nil {
		f.list("placed", contents, v.want.ordered)
	}
	if v.want.indices != nil {
		f.indices("placed positions", got, v.want.indices)
	}
	if again, err := impl.Place(ctx, v.placer, items); err != nil || !slices.Equal(got, again) {
		f.addf("a second pass gives %v, error %v; the first gave %v", again, err, got)
	}
}

func (v *vector) runPipeline(ctx context.Context, impl Implementation, f *findings) {
	got, err := impl.Run(ctx, v.pipeline, v.items, v.budget)
	if v.want.err != "" {
		f.errorClass(err, v.want.err)
		switch {
		case v.want.diagnostics == nil:
		case got.Report == nil:
			f.addf("the run has no report")
		default:
			f.report(got, v.want.diagnostics, v.want.epsilon)
		}
		return
	}
	if !f.outcome(err, "") {
		return
	}
	v.checkWindow(got, f)
	v.checkScores(ctx, impl, f)
	if v.pipeline.NearDuplicates > 0 || slices.ContainsFunc(v.items, hasUnits) {
		f.consistentUnits(got, v.items)
	} else {
		f.consistent(got, v.items)
	}
	if got.Report == nil {
		return
	}
	if v.want.diagnostics != nil {
		f.report(got, v.want.diagnostics, v.want.epsilon)
	}
	capped := 0
	for _, e := range got.Report.Excluded {
		if e.Reason.Code == cupel.ExcludeCountCapExceeded {
			capped++
		}
	}
	f.count("shortfalls", len(got.Report.CountRequirementShortfalls), v.want.shortfallCount)
	f.count("items excluded by a cap", capped, v.want.capExcludedCount)

	again, err := impl.Run(ctx, v.pipeline, v.items, v.budget)
	if err != nil || windowText(got.Window) != windowText(again.Window) {
		f.addf("a second run gives [%s], error %v; the first gave [%s]", quoted(windowContents(again)), err, quoted(windowContents(got)))
	}
}

func windowContents(o Outcome) []string {
	out := make([]string, len(o.Window))
	for i, item := range o.Window {
		out[i] = item.Content()
	}
	return out
}

// checkWindow compares the output with the expected positions or contents. If
// neither is given, it must be empty, unless the vector lists the report's
// included items (R47).
func (v *vector) checkWindow(got Outcome, f *findings) {
	switch w := v.want; {
	case w.indices != nil:
		positions := make([]int, len(got.Window))
		for i, item := range got.Window {
			positions[i] = slices.Index(v.items, item) // every row is an item of its own
		}
		f.indices("output positions", positions, w.indices)
	case w.ordered != nil || w.diagnostics == nil || w.diagnostics.included == nil:
		f.list("output", windowContents(got), w.ordered)
	}
}

// checkScores compares the scores of the scoreable items, in input order.
func (v *vector) checkScores(ctx context.Context, impl Implementation, f *findings) {
	if v.want.scores == nil || v.pipeline.Scorer == nil {
		return
	}
	scoreable := slices.DeleteFunc(slices.Clone(v.items), func(it *cupel.ContextItem) bool { return it.Tokens() < 0 || it.Pinned() })
	var got []float64
	if len(scoreable) > 0 {
		var err error
		if got, err = impl.Score(ctx, *v.pipeline.Scorer, scoreable); err != nil {
			f.addf("scores: got error %q", err)
			return
		}
	}
	f.scores(got, v.want.scores, v.want.epsilon)
}

func texts[T any](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprintf("%+v", v)
	}
	return out
}
