package naive

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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
	NearDuplicates float64
	Fault          Fault // the rule to break; [FaultNone] for the model itself
}

// Class is what kind of error a run ended with.
type Class string

// The classes of errors, named as in conformance vectors.
const (
	ClassInvalidConfig Class = "invalid_config"
	ClassPinned        Class = "pinned_exceeds_budget"
	ClassOverflow      Class = "overflow"
	ClassScarcity      Class = "scarcity"
	// ClassContent is the class of a text that a function could not make.
	ClassContent Class = "content"
	// ClassTooLarge is the model's own: a dynamic program without room.
	ClassTooLarge Class = "too_large"
)

// Error is the only type of error that this package returns. Its text is the
// chapter's own for the errors of a run.
type Error struct {
	Class Class
	Text  string
}

func (e *Error) Error() string { return e.Text }

// Is matches the sentinel of package cupel for the class.
func (e *Error) Is(target error) bool {
	switch e.Class {
	case ClassInvalidConfig:
		return target == cupel.ErrInvalidConfig
	case ClassPinned:
		return target == pipeline.ErrPinnedExceedsBudget
	case ClassOverflow:
		return target == pipeline.ErrOverflow
	case ClassScarcity:
		return target == cupel.ErrScarcity
	case ClassContent:
		return target == pipeline.ErrContent
	}
	return false
}

func invalid(text string) *Error { return &Error{Class: ClassInvalidConfig, Text: text} }

// Result is everything that a run says.
type Result struct {
	Items  []*cupel.ContextItem
	Scores []float64 // of every scoreable item, in input order
	// Report holds, after an error, what the stages before had found (R35).
	// Its events are those of the stages, without durations.
	Report *cupel.SelectionReport
	// Included and Excluded belong to the entries of the report. They are nil
	// for a run without groups, variants and version keys.
	Included, Excluded []Decision
}

// scored is an item between the stages.
type scored struct {
	*item
	score float64
}

// excluded is an entry of the report before it is sorted (R34).
type excluded struct {
	it     *item
	score  float64
	stage  int
	reason cupel.ExclusionReason
}

// run is the state of one run.
type run struct {
	Config
	budget      cupel.ContextBudget
	scorer      scorer
	slicer      slicer
	result      Result
	excluded    []excluded
	pinned      []*item
	candidates  []*item
	pinnedTotal sum
	members     []*member // by candidate, in a run with units
}

// The stages, in the order of the report's ties.
const (
	classifyStage = iota
	deduplicateStage
	sliceStage
	placeStage
)

// newRun constructs every strategy of a configuration.
func newRun(config Config) (*run, error) {
	r := &run{Config: config}
	var err error
	if r.scorer, err = constructScorer(config.Scorer, config.Fault); err != nil {
		return nil, err
	}
	if r.slicer, err = constructSlicer(config.Slicer, config.Fault); err != nil {
		return nil, err
	}
	if config.Placer == nil {
		return nil, invalid("Placer must not be null")
	}
	return r, nil
}

// Run is the Pipeline chapter.
func Run(config Config, items []*cupel.ContextItem, budget cupel.ContextBudget) (Result, error) {
	r, err := newRun(config)
	if err != nil {
		return Result{}, err
	}
	r.budget = budget
	candidates := newItems(items)
	if !hasUnits(candidates) && config.NearDuplicates == 0 {
		err = r.stages(candidates)
		r.result.Report.Excluded = r.sortedExcluded()
		return r.result, err
	}
	r.members = make([]*member, len(candidates))
	err = r.unitStages(candidates)
	r.result.Report.Excluded = r.sortedExcluded()
	for _, e := range r.excluded {
		r.result.Excluded = append(r.result.Excluded, Decision{Candidate: e.it.position, Stale: r.members[e.it.position].stale})
	}
	return r.result, err
}

func (r *run) stages(items []*item) error {
	f := r.Fault
	r.result.Report = r.totals(items)

	scoreable, err := r.classify(items)
	if err != nil {
		return err
	}
	r.stageEvent(cupel.StageClassify, len(r.pinned)+len(scoreable))

	r.candidates = scoreable
	all := scoreable
	if f == FaultScoreSeesPinned {
		all = append(slices.Clone(scoreable), r.pinned...)
	}
	r.result.Scores = scoreAll(r.scorer, all, f)[:len(scoreable)]
	list := make([]scored, len(scoreable))
	for i, it := range scoreable {
		list[i] = scored{it, r.result.Scores[i]}
		if f == FaultScoreClamped {
			list[i].score = clamp(list[i].score, 0, 1)
		}
	}
	r.stageEvent(cupel.StageScore, len(list))

	list = r.deduplicate(list)
	r.stageEvent(cupel.StageDeduplicate, len(list))

	r.sort(list)
	list, err = r.slice(list)
	if err != nil {
		return err
	}
	count := len(list)
	if f == FaultSliceEventCountsPinned {
		count += len(r.pinned)
	}
	r.stageEvent(cupel.StageSlice, count)

	merged, err := r.place(list)
	if err != nil {
		return err
	}
	count = len(r.result.Items)
	if f == FaultPlaceEventBeforeTruncation {
		count = len(r.pinned) + len(list)
	}
	r.stageEvent(cupel.StagePlace, count)
	if f == FaultIncludedBeforePlacing {
		r.result.Report.Included = r.included(merged)
	}
	return nil
}

func (r *run) totals(items []*item) *cupel.SelectionReport {
	var total sum
	n := 0
	for _, it := range items {
		if it.tokens < 0 && r.Fault == FaultTotalsSkipNegative {
			continue
		}
		n++
		if it.ref.Pinned() && r.Fault == FaultTotalsSkipPinned {
			continue
		}
		total.add(it.tokens)
	}
	return &cupel.SelectionReport{TotalCandidates: n, TotalTokensConsidered: total.tokens(r.Fault)}
}

func (r *run) stageEvent(stage cupel.PipelineStage, count int) {
	events := &r.result.Report.Events
	if r.Fault == FaultEventsCountIn {
		switch {
		case len(*events) == 0:
			count = r.result.Report.TotalCandidates
		case stage == cupel.StageDeduplicate:
			count = len(r.result.Scores)
		}
	}
	if r.Fault == FaultDeduplicateEventMissing && stage == cupel.StageDeduplicate && r.KeepDuplicates {
		return
	}
	*events = append(*events, cupel.TraceEvent{Stage: stage, ItemCount: count})
}

func (r *run) exclude(it *item, score float64, stage int, reason cupel.ExclusionReason) {
	r.excluded = append(r.excluded, excluded{it, score, stage, reason})
}

// sortedExcluded is the report's order: by score descending, then by stage,
// then by position among the candidates (R34).
func (r *run) sortedExcluded() []cupel.ExcludedItem {
	if r.Fault != FaultExcludedUnsorted {
		slices.SortFunc(r.excluded, func(a, b excluded) int {
			byStage := cmp.Compare(a.stage, b.stage)
			byPosition := cmp.Compare(a.it.position, b.it.position)
			switch r.Fault {
			case FaultExcludedStageIgnored:
				byStage = 0
			case FaultExcludedTieReversed:
				byPosition = -byPosition
			case FaultExcludedAscending:
				return cmp.Or(byScore(b.score, a.score), byStage, byPosition)
			}
			return cmp.Or(byScore(a.score, b.score), byStage, byPosition)
		})
	}
	list := make([]cupel.ExcludedItem, len(r.excluded))
	for i, e := range r.excluded {
		list[i] = cupel.ExcludedItem{Item: e.it.ref, Score: e.score, Reason: e.reason}
	}
	return list
}

// classify is the Classify chapter.
func (r *run) classify(items []*item) (scoreable []*item, err error) {
	f := r.Fault
	for _, it := range items {
		negative := it.tokens < 0
		if it.tokens == 0 && f == FaultZeroTokensExcluded {
			negative = true
		}
		switch {
		case it.ref.Pinned() && f == FaultPinnedBeforeNegative:
			r.pinned = append(r.pinned, it)
		case negative && f != FaultNegativeKept:
			data := cupel.ReasonData{Tokens: it.tokens}
			if f == FaultNegativeReasonAbsolute {
				data.Tokens = -it.tokens
			}
			r.exclude(it, 0.0, classifyStage, cupel.NewExclusionReason(cupel.ExcludeNegativeTokens, data))
		case it.ref.Pinned() && f != FaultPinnedIgnored:
			r.pinned = append(r.pinned, it)
		default:
			scoreable = append(scoreable, it)
		}
	}
	switch f {
	case FaultPinnedOrderReversed:
		slices.Reverse(r.pinned)
	case FaultScoreableOrderReversed:
		slices.Reverse(scoreable)
	}

	for _, it := range r.pinned {
		r.pinnedTotal.add(it.tokens)
	}
	availableForPinned := r.budget.MaxTokens() - r.budget.OutputReserve()
	switch f {
	case FaultPinnedCheckUsesTarget:
		availableForPinned = r.budget.TargetTokens()
	case FaultPinnedCheckIgnoresReserve:
		availableForPinned = r.budget.MaxTokens()
	case FaultPinnedCheckUsesSlots:
		for _, tokens := range r.budget.ReservedSlots() {
			availableForPinned -= tokens
		}
	case FaultPinnedCheckUsesMargin:
		availableForPinned = floor(float64(availableForPinned) * (1.0 - r.budget.EstimationSafetyMarginPercent()/100.0))
	case FaultPinnedCheckMissing:
		return scoreable, nil
	case FaultPinnedCheckNonStrict:
		availableForPinned--
	}
	if r.pinnedTotal.exceeds(availableForPinned, f) {
		return nil, &Error{Class: ClassPinned, Text: fmt.Sprintf("Pinned items require %d tokens, but only %d are available",
			r.pinnedTotal.tokens(f), availableForPinned)}
	}
	return scoreable, nil
}

// deduplicate is the Deduplicate chapter.
func (r *run) deduplicate(list []scored) []scored {
	f := r.Fault
	if r.KeepDuplicates && f != FaultDedupAlways || f == FaultDedupNever || len(list) == 0 {
		return list
	}
	key := func(s scored) string {
		content := s.ref.Content()
		switch f {
		case FaultDedupFoldsCase:
			return strings.ToLower(content)
		case FaultDedupTrimsSpace:
			return strings.TrimSpace(content)
		case FaultDedupComparesKind:
			return s.kind + "\x00" + content
		}
		return content
	}
	bestByContent := make(map[string]int, len(list))
	for i, s := range list {
		existing, seen := bestByContent[key(s)]
		if !seen || s.score > list[existing].score && f != FaultDedupKeepsFirst ||
			s.score == list[existing].score && f == FaultDedupKeepsLast {
			bestByContent[key(s)] = i
		}
	}
	var deduped []scored
	for i, s := range list {
		survivor := list[bestByContent[key(s)]]
		if f == FaultDedupAgainstPinned && slices.ContainsFunc(r.pinned, func(p *item) bool { return p.ref.Content() == s.ref.Content() }) {
			continue
		}
		if bestByContent[key(s)] == i {
			deduped = append(deduped, s)
			continue
		}
		score := s.score
		switch f {
		case FaultDedupScoreIsZero:
			score = 0.0
		case FaultDedupUnreported:
			continue
		}
		r.exclude(s.item, score, deduplicateStage, cupel.NewExclusionReason(cupel.ExcludeDeduplicated, cupel.ReasonData{
			DeduplicatedAgainst: survivor.ref.Content(), Survivor: survivor.ref,
		}))
	}
	if f == FaultDedupReordersSurvivors {
		slices.Reverse(deduped)
	}
	return deduped
}

// sort is the Sort chapter.
func (r *run) sort(list []scored) {
	f := r.Fault
	if f == FaultSortMissing {
		return
	}
	if f == FaultSortTieReversed {
		slices.Reverse(list)
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		switch {
		case f == FaultSortAscending:
			return byScore(b.score, a.score)
		case f == FaultSortNaNFirst && math.IsNaN(a.score) != math.IsNaN(b.score):
			return -byScore(a.score, b.score)
		case f == FaultSortNegativeZeroLower && a.score == b.score:
			return boolOrder(!math.Signbit(a.score), !math.Signbit(b.score))
		}
		return byScore(a.score, b.score)
	})
}

// effectiveBudget is COMPUTE-EFFECTIVE-BUDGET of the Slice chapter.
func effectiveBudget(b cupel.ContextBudget, pinnedTokens sum, f Fault) cupel.SliceBudget {
	var reservedTokens sum
	for _, tokens := range b.ReservedSlots() {
		reservedTokens.add(tokens)
	}
	switch f {
	case FaultSlotsIgnored:
		reservedTokens = sum{}
	case FaultSlotsCountItems:
		reservedTokens = sumOf(len(b.ReservedSlots()))
	case FaultPinnedNotSubtracted:
		pinnedTokens = sum{}
	}
	reserve := b.OutputReserve()
	if f == FaultReserveIgnored {
		reserve = 0
	}
	multiplier := 1.0 - b.EstimationSafetyMarginPercent()/100.0
	maxTokens, targetTokens := b.MaxTokens(), b.TargetTokens()
	if f == FaultMarginAppliedFirst {
		maxTokens, targetTokens = floor(float64(maxTokens)*multiplier), floor(float64(targetTokens)*multiplier)
	}

	taken := pinnedTokens.plus(reservedTokens)
	effectiveMax := max(0, sumOf(maxTokens).minus(sumOf(reserve)).minus(taken).tokens(f))
	effectiveTarget := sumOf(targetTokens).minus(taken).tokens(f)
	switch f {
	case FaultReserveTakenFromTarget:
		effectiveTarget -= reserve
	case FaultSlotsNotTakenFromTarget:
		effectiveTarget = sumOf(targetTokens).minus(pinnedTokens).tokens(f)
	}
	if f != FaultEffectiveTargetNegative {
		effectiveTarget = max(0, effectiveTarget)
	}
	if f != FaultEffectiveTargetNotClamped {
		effectiveTarget = min(effectiveTarget, effectiveMax)
	}
	if b.EstimationSafetyMarginPercent() > 0 && f != FaultMarginIgnored && f != FaultMarginAppliedFirst {
		scale := func(tokens int) int {
			x := float64(tokens) * multiplier
			switch f {
			case FaultMarginRounds:
				x = math.Round(x)
			case FaultMarginIsFraction:
				x = float64(tokens) * (1.0 - b.EstimationSafetyMarginPercent())
			}
			return max(floor(x), 0)
		}
		effectiveMax = scale(effectiveMax)
		effectiveTarget = scale(effectiveTarget)
		effectiveTarget = min(effectiveTarget, effectiveMax)
	}
	return cupel.SliceBudget{MaxTokens: effectiveMax, TargetTokens: effectiveTarget}
}

// slice is the Slice chapter, and the reasons of the items that it leaves out
// (R29, R30).
func (r *run) slice(sorted []scored) ([]scored, error) {
	f := r.Fault
	adjusted := effectiveBudget(r.budget, r.pinnedTotal, f)
	list := make([]entry, len(sorted))
	for i, s := range sorted {
		list[i] = entry{ScoredItem: cupel.ScoredItem{Item: s.ref, Score: s.score}}
	}
	selection, err := r.slicer.slice(list, adjusted, f)
	if err != nil {
		return nil, err
	}
	if f != FaultShortfallsUnreported {
		r.result.Report.CountRequirementShortfalls = selection.Shortfalls
	}

	selected := make([]bool, len(sorted))
	var selectedTokens sum
	for _, i := range selection.Indices {
		selected[i] = true
		selectedTokens.add(sorted[i].tokens)
	}
	dropped := make([]*cupel.ExclusionReason, len(sorted))
	for _, d := range selection.Drops {
		dropped[d.Index] = &d.Reason
	}
	available := sumOf(adjusted.TargetTokens).minus(selectedTokens).tokens(f)
	switch f {
	case FaultAvailableIsTarget:
		available = adjusted.TargetTokens
	case FaultAvailableIgnoresPinned:
		available = sumOf(r.budget.TargetTokens()).minus(selectedTokens).tokens(f)
	case FaultAvailableIsFromMax:
		available = sumOf(adjusted.MaxTokens).minus(selectedTokens).tokens(f)
	case FaultAvailableNotNegative:
		available = max(0, available)
	}
	withoutPinned := effectiveBudget(r.budget, sum{}, f)

	// Merged in sorted order, regardless of the order the slicer returned
	// (R23).
	var sliced []scored
	for i, s := range sorted {
		switch {
		case selected[i]:
			sliced = append(sliced, s)
		case dropped[i] != nil:
			r.exclude(s.item, s.score, sliceStage, *dropped[i])
		case r.overridden(s, adjusted.TargetTokens, withoutPinned.TargetTokens):
			r.exclude(s.item, s.score, sliceStage, r.pinnedOverride())
		default:
			r.exclude(s.item, s.score, sliceStage, cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: s.tokens, AvailableTokens: available}))
		}
	}
	if f == FaultMergeInSlicerOrder {
		sliced = nil
		for _, i := range selection.Indices {
			sliced = append(sliced, sorted[i])
		}
	}
	return sliced, nil
}

// overridden reports whether an item left out by the slicer would have fitted,
// had nothing been pinned (R30).
func (r *run) overridden(s scored, target, targetWithoutPinned int) bool {
	fitsAlone := s.tokens <= target
	if s.tokens == 0 && r.Fault == FaultOverrideOfZeroTokens {
		fitsAlone = target > 0
	}
	if r.Fault == FaultOverrideNever || r.Fault == FaultOverrideNeverAtSlice {
		return false
	}
	if r.Fault == FaultOverrideOfWhatFits {
		fitsAlone = false
	}
	if r.Fault == FaultOverrideOfWhatNeverFits {
		targetWithoutPinned = math.MaxInt
	}
	return r.pinnedTotal.exceeds(0, r.Fault) && !fitsAlone && s.tokens <= targetWithoutPinned
}

func (r *run) pinnedOverride() cupel.ExclusionReason {
	by := r.pinned[0]
	if r.Fault == FaultOverrideNamesLast {
		by = r.pinned[len(r.pinned)-1]
	}
	if r.Fault == FaultOverrideNamesLargest {
		by = slices.MaxFunc(r.pinned, func(a, b *item) int { return cmp.Compare(a.tokens, b.tokens) })
	}
	return cupel.NewExclusionReason(cupel.ExcludePinnedOverride, cupel.ReasonData{DisplacedBy: by.ref.Content()})
}
