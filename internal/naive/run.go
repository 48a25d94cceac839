package naive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// Config is a pipeline.
type Config struct {
	Scorer         Scorer
	Slicer         Slicer
	Placer         Placer
	KeepDuplicates bool
	Overflow       pipeline.OverflowStrategy
}

// ErrTooLarge is the model's own error: a dynamic program without room.
var ErrTooLarge = errors.New("the table of the dynamic program would not fit")

// Error is an error of the specification. Its text is the chapter's own for the
// errors of a run.
type Error struct {
	Kind error // the sentinel of the engine
	Text string
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Kind }

// errInvalid is that of a configuration which its chapter refuses.
var errInvalid = &Error{cupel.ErrInvalidConfig, "the configuration is not valid"}

// Result is the whole result of a run.
type Result struct {
	Items  []*cupel.ContextItem
	Scores []float64 // of every scoreable item, in input order
	// Report holds, after an error, the results of the stages before (R35).
	// Its events are those of the stages, without durations.
	Report *cupel.SelectionReport
	// Decisions are the stage and the reason of each event of an item (R33).
	Decisions []string
}

// excluded is an entry of the report before it is sorted (R34).
type excluded struct {
	*item
	score  float64
	stage  cupel.PipelineStage
	reason cupel.ExclusionReason
}

// run is the state of one run.
type run struct {
	Config
	budget      cupel.ContextBudget
	items       []*item
	result      Result
	excluded    []excluded
	firstPinned *item
	pinnedTotal sum
}

// stages that exclude, in the order of the report's ties.
var stages = []cupel.PipelineStage{cupel.StageClassify, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace}

// Run is the Pipeline chapter, with the Units chapter.
func Run(config Config, candidates []*cupel.ContextItem, budget cupel.ContextBudget) (Result, error) {
	if !config.Scorer.valid() || !config.Slicer.valid() {
		return Result{}, errInvalid
	}
	r := &run{Config: config, budget: budget, items: newItems(candidates)}
	var total sum
	for _, it := range r.items {
		total.add(it.tokens)
	}
	r.result.Report = &cupel.SelectionReport{TotalCandidates: len(r.items), TotalTokensConsidered: total.tokens()}
	err := r.stages()
	r.reportExcluded()
	return r.result, err
}

func (r *run) stages() error {
	pinned, units := r.classify()
	if err := r.fitPinned(pinned); err != nil {
		return err
	}
	scoreable := countMembers(units)
	r.stageEvent(cupel.StageClassify, countMembers(pinned)+scoreable)

	r.score(units)
	r.stageEvent(cupel.StageScore, scoreable)

	units = r.resolveVersions(units, pinned)
	if !r.KeepDuplicates {
		units = r.deduplicate(units)
	}
	r.stageEvent(cupel.StageDeduplicate, countMembers(units))

	selected, err := r.slice(sorted(units))
	if err != nil {
		return err
	}
	r.stageEvent(cupel.StageSlice, countMembers(selected))

	if err := r.place(pinned, selected); err != nil {
		return err
	}
	r.stageEvent(cupel.StagePlace, len(r.result.Report.Included))
	return nil
}

func (r *run) stageEvent(stage cupel.PipelineStage, count int) {
	r.result.Report.Events = append(r.result.Report.Events, cupel.TraceEvent{Stage: stage, ItemCount: count})
}

func (r *run) exclude(it *item, score float64, stage cupel.PipelineStage, code cupel.ExclusionCode, data cupel.ReasonData) {
	r.excluded = append(r.excluded, excluded{it, score, stage, cupel.NewExclusionReason(code, data)})
	r.decide(stage, string(code))
}

func (r *run) decide(stage cupel.PipelineStage, reason string) {
	r.result.Decisions = append(r.result.Decisions, string(stage)+" "+reason)
}

// reportExcluded has the report's order: by score descending, then by stage,
// then by position among the candidates (R34).
func (r *run) reportExcluded() {
	slices.SortFunc(r.excluded, func(a, b excluded) int {
		return cmp.Or(byScore(a.score, b.score), slices.Index(stages, a.stage)-slices.Index(stages, b.stage), a.position-b.position)
	})
	for _, e := range r.excluded {
		r.result.Report.Excluded = append(r.result.Report.Excluded,
			cupel.ExcludedItem{Item: e.ref, Score: e.score, Reason: e.reason, Candidate: e.position, Stale: e.stale})
	}
}

// classify is CLASSIFY-UNITS.
func (r *run) classify() (pinned, scoreable []*unit) {
	for _, u := range unitsOf(r.items) {
		negative := slices.IndexFunc(u.members, func(it *item) bool { return it.tokens < 0 })
		switch {
		case negative >= 0:
			for _, it := range u.members {
				r.exclude(it, 0.0, cupel.StageClassify, cupel.ExcludeNegativeTokens, cupel.ReasonData{Tokens: u.members[negative].tokens})
			}
		case u.pinned:
			pinned = append(pinned, u)
		default:
			scoreable = append(scoreable, u)
		}
	}
	return pinned, scoreable
}

// fitPinned is FIT-PINNED.
func (r *run) fitPinned(pinned []*unit) error {
	available := r.budget.MaxTokens() - r.budget.OutputReserve()
	wanted := min(available, r.budget.TargetTokens())
	for _, u := range pinned {
		u.setChain()
	}
	for sumTokens(pinned).exceeds(wanted) {
		best, least := -1, 0.0
		for i, u := range pinned {
			if u.form+1 == len(u.chain) {
				continue
			}
			a, b := u.chain[u.form], u.chain[u.form+1]
			loss := float64((a.worth-b.worth)*float64(u.chain[0].tokens)) / float64(a.tokens-b.tokens)
			if best < 0 || loss <= least {
				best, least = i, loss
			}
		}
		if best < 0 {
			break
		}
		pinned[best].form++
	}
	r.pinnedTotal = sumTokens(pinned)
	if len(pinned) > 0 {
		r.firstPinned = pinned[0].members[0]
	}
	if r.pinnedTotal.exceeds(available) {
		return &Error{pipeline.ErrPinnedExceedsBudget, fmt.Sprintf("Pinned items require %d tokens, but only %d are available",
			r.pinnedTotal.tokens(), available)}
	}
	return nil
}

// score is the Score chapter. Scorers see members, in the order of the
// candidates.
func (r *run) score(units []*unit) {
	var scoreable []*item
	for _, it := range r.items {
		if slices.Contains(units, it.unit) {
			scoreable = append(scoreable, it)
		}
	}
	r.result.Scores = scoreAll(r.Scorer, scoreable)
	for i, it := range scoreable {
		it.score = r.result.Scores[i]
	}
	for _, u := range units {
		best := slices.MinFunc(u.members, func(a, b *item) int { return byScore(a.score, b.score) })
		u.score = best.score
	}
}

// resolveVersions is RESOLVE-VERSIONS. It returns the scoreable units that are
// not older versions.
func (r *run) resolveVersions(units, pinned []*unit) []*unit {
	var all []*item
	for _, it := range r.items {
		if slices.Contains(units, it.unit) || slices.Contains(pinned, it.unit) {
			all = append(all, it)
		}
	}
	done := map[string]bool{"": true}
	for _, it := range all {
		key := it.ref.VersionOf()
		if !done[key] {
			done[key] = true
			r.resolveKey(slices.DeleteFunc(slices.Clone(all), func(v *item) bool { return v.ref.VersionOf() != key }))
		}
	}
	return slices.DeleteFunc(units, func(u *unit) bool { return u.superseded })
}

// resolveKey resolves the versions of one thing.
func (r *run) resolveKey(versions []*item) {
	timed := !slices.ContainsFunc(versions, func(v *item) bool { return !v.hasTimestamp })
	newest := versions[0]
	for _, v := range versions[1:] {
		if !timed || !v.timestamp.Before(newest.timestamp) {
			newest = v
		}
	}
	for _, v := range versions {
		switch {
		case v == newest:
			continue
		case v.unit.pinned:
		case v.unit.grouped:
			v.shrink()
		default:
			v.unit.superseded = true
			newest.unit.older = append(newest.unit.older, v.unit)
			r.exclude(v, v.score, cupel.StageDeduplicate, cupel.ExcludeSuperseded, cupel.ReasonData{SupersededBy: newest.ref.Content(), Survivor: newest.ref})
		}
		v.stale = true
	}
}

// deduplicate is the Deduplicate chapter over units.
func (r *run) deduplicate(units []*unit) []*unit {
	var stay []*unit
	for i, u := range units {
		best := -1
		for j, other := range units {
			if (j == i || sameContents(u, other)) && (best < 0 || other.score > units[best].score) {
				best = j
			}
		}
		if best == i {
			stay = append(stay, u)
			continue
		}
		survivor := units[best]
		survivor.older = append(survivor.older, u.older...)
		for k, it := range u.members {
			against := survivor.members[k].ref
			r.exclude(it, u.score, cupel.StageDeduplicate, cupel.ExcludeDeduplicated, cupel.ReasonData{DeduplicatedAgainst: against.Content(), Survivor: against})
		}
	}
	return stay
}

func sameContents(a, b *unit) bool {
	return a.grouped == b.grouped && slices.EqualFunc(a.members, b.members, func(a, b *item) bool { return a.ref.Content() == b.ref.Content() })
}

// sorted is the Sort chapter: by score descending, ties by place.
func sorted(units []*unit) []*unit {
	return slices.SortedFunc(slices.Values(units), func(a, b *unit) int {
		return cmp.Or(byScore(a.score, b.score), a.place()-b.place())
	})
}
