package naive_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/naive"
)

// caseData is the random case of a seed.
func caseData(seed uint64) []byte { return randomBytes(seed, caseBytes) }

// randomBytes returns n bytes; n is a multiple of 8.
func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0xC09E1))
	data := make([]byte, n)
	for i := 0; i < len(data); i += 8 {
		bits := r.Uint64()
		for j := range 8 {
			data[i+j] = byte(bits >> (8 * j))
		}
	}
	return data
}

// compareCases compares the engine with the model on random cases, and returns
// how often each outcome came up.
func compareCases(t *testing.T, cases int, generate func([]byte) testCase) tally {
	t.Helper()
	const chunks = 8
	var mu sync.Mutex
	seen := tally{}
	t.Run("cases", func(t *testing.T) {
		for chunk := range chunks {
			t.Run(fmt.Sprintf("chunk %d of %d", chunk+1, chunks), func(t *testing.T) {
				t.Parallel()
				own := tally{}
				for seed := uint64(chunk); seed < uint64(cases); seed += chunks {
					data := caseData(seed)
					if difference := differCase(generate(data), own); difference != "" {
						differs := func(d []byte) string { return differCase(generate(d), nil) }
						data = shrink(data, differs)
						t.Fatalf("seed %d: %s\nshrunken to: %s\n%s", seed, difference, differs(data), describe(generate(data), data))
					}
				}
				mu.Lock()
				defer mu.Unlock()
				for what, n := range own {
					seen[what] += n
				}
			})
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return seen
}

// TestEngineAgreesWithTheModel compares the engine with the model on random
// cases: the same items in the same order, the same scores, the same report,
// the same class of error; with and without a collector, run and dry run.
func TestEngineAgreesWithTheModel(t *testing.T) {
	cases := 120_000
	if testing.Short() || raceEnabled {
		cases = 8_000
	}
	seen := compareCases(t, cases, generate)

	// Every kind of outcome must have come up often enough to mean something.
	for _, what := range []string{
		"included Scored", "included Pinned", "included ZeroToken",
		"excluded BudgetExceeded", "excluded Deduplicated", "excluded NegativeTokens", "excluded PinnedOverride", "excluded CountCapExceeded",
		"error pinned_exceeds_budget", "error overflow", "error scarcity", "error invalid_config",
		"overflow event", "shortfall", "NaN score", "infinite score", "clamped total", "pointer selected twice",
		"naive.CustomSlicer", "naive.Greedy", "naive.ScoreGreedy", "naive.Knapsack", "naive.CountConstrainedKnapsack",
		"quota around naive.Greedy", "quota around naive.Knapsack", "quota around naive.Quota", "quota around naive.CountQuota", "quota around naive.CountConstrainedKnapsack",
		"count quota around naive.Greedy", "count quota around naive.Quota", "count quota around naive.CountQuota",
	} {
		if least := cases / 2000; seen[what] < least {
			t.Errorf("%q came up %d times in %d cases, want at least %d", what, seen[what], cases, least)
		}
	}
	if seen["skipped"] > cases/100 {
		t.Errorf("%d of %d cases were skipped", seen["skipped"], cases)
	}
	t.Logf("outcomes: %v", seen)
}

// TestEngineAgreesOnLongLists does the same with hundreds of items: sorting,
// ranking and tag counting have other algorithms there.
func TestEngineAgreesOnLongLists(t *testing.T) {
	cases := uint64(600)
	if testing.Short() || raceEnabled {
		cases = 60
	}
	for seed := range cases {
		data := randomBytes(seed, 16<<10)
		if difference := differCase(generateSized(data, true), nil); difference != "" {
			t.Fatalf("seed %d: %s", seed, difference)
		}
	}
}

// TestRandomCasesNoticeEveryFault plants each fault in the model and expects
// that the random cases then differ from the engine: a comparison that no
// fault can disturb would prove nothing.
func TestRandomCasesNoticeEveryFault(t *testing.T) {
	noticeFaults(t, func(fault naive.Fault) bool { return fault.Chapter() != "Units" }, func(data []byte, fault naive.Fault) bool {
		return differ(data, fault, nil) != ""
	})
}

// noticeFaults expects that for each of the chosen faults noticed says true on
// some random case. Short runs skip those that take more than a thousand.
func noticeFaults(t *testing.T, chosen func(naive.Fault) bool, noticed func(data []byte, fault naive.Fault) bool) {
	t.Helper()
	if raceEnabled {
		t.Skip("takes too long, and shares nothing between goroutines")
	}
	most := 100_000
	if testing.Short() {
		most = 1_000
	}
	for _, fault := range naive.Faults() {
		if !chosen(fault) {
			continue
		}
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(most) {
				if noticed(caseData(seed), fault) {
					return
				}
			}
			if testing.Short() {
				t.Skipf("needs more than %d random cases", most)
			}
			t.Errorf("%d cases do not notice it: %s: %s", most, fault.Chapter(), fault.Rule())
		})
	}
}

// FuzzEngineAgreesWithTheModel is the same comparison on cases of the fuzzer's
// choice.
func FuzzEngineAgreesWithTheModel(f *testing.F) {
	fuzzCases(f, generate)
}

func fuzzCases(f *testing.F, generate func([]byte) testCase) {
	f.Helper()
	f.Add([]byte{})
	for seed := range uint64(32) {
		data := caseData(seed)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := generate(data)
		if difference := differCase(c, nil); difference != "" {
			t.Fatalf("%s\n%s", difference, describe(c, data))
		}
	})
}

// shrink returns the simplest bytes found that still make a case with a
// difference.
func shrink(data []byte, differs func([]byte) string) []byte {
	fails := func(d []byte) bool { return differs(d) != "" }
	for improved := true; improved; {
		improved = false
		try := func(d []byte) {
			if fails(d) {
				data, improved = d, true
			}
		}
		for size := len(data) / 2; size > 0; size /= 2 {
			for i := 0; i+size <= len(data); {
				before := len(data)
				try(slices.Concat(data[:i], data[i+size:]))
				if len(data) == before {
					i += size
				}
			}
		}
		for i := range data {
			for _, simpler := range []byte{0, data[i] / 2, max(data[i], 1) - 1} {
				if simpler < data[i] {
					d := slices.Clone(data)
					d[i] = simpler
					try(d)
				}
			}
		}
	}
	return data
}

// describe prints a case so that it can be rebuilt by hand.
func describe(c testCase, data []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "bytes: %q\n", data)
	fmt.Fprintf(&b, "scorer: %s\nslicer: %s\nplacer: %T\nkeep duplicates: %v\noverflow: %v\n",
		describeScorer(c.config.Scorer), describeSlicer(c.config.Slicer), c.config.Placer, c.config.KeepDuplicates, c.config.Overflow)
	fmt.Fprintf(&b, "budget: max %d, target %d, reserve %d, slots %v, margin %v\n",
		c.budget.MaxTokens(), c.budget.TargetTokens(), c.budget.OutputReserve(), c.budget.ReservedSlots(), c.budget.EstimationSafetyMarginPercent())
	for i, it := range c.items {
		if first := slices.Index(c.items, it); first < i {
			fmt.Fprintf(&b, "items[%d]: the pointer of items[%d]\n", i, first)
			continue
		}
		fmt.Fprintf(&b, "items[%d]: %s\n", i, describeItem(it))
	}
	fmt.Fprintf(&b, "on its own: the items without the negative ones, scores")
	for _, s := range c.scored {
		fmt.Fprintf(&b, " %v", s.Score)
	}
	fmt.Fprintf(&b, ", budget %+v\n", c.sliceBudget)
	return b.String()
}

func describeItem(it *cupel.ContextItem) string {
	s := fmt.Sprintf("content %q, tokens %d, kind %+q", it.Content(), it.Tokens(), it.Kind())
	if t, ok := it.Timestamp(); ok {
		s += ", timestamp " + t.String()
	}
	if p, ok := it.Priority(); ok {
		s += fmt.Sprintf(", priority %d", p)
	}
	if h, ok := it.FutureRelevanceHint(); ok {
		s += fmt.Sprintf(", hint %v", h)
	}
	if it.NumTags() > 0 {
		s += fmt.Sprintf(", tags %+q", it.Tags())
	}
	if it.Metadata() != nil {
		s += fmt.Sprintf(", metadata %#v", it.Metadata())
	}
	if it.Pinned() {
		s += ", pinned"
	}
	if it.Group() != "" {
		s += fmt.Sprintf(", group %q", it.Group())
	}
	if it.VersionOf() != "" {
		s += fmt.Sprintf(", version of %q", it.VersionOf())
	}
	for _, v := range it.Variants() {
		s += fmt.Sprintf(", variant %d/%v", v.Tokens, v.Worth)
	}
	for _, v := range it.GroupVariants() {
		s += fmt.Sprintf(", group variant %d/%v", v.Tokens, v.Worth)
	}
	return s
}

func describeScorer(s naive.Scorer) string {
	switch s := s.(type) {
	case naive.Custom:
		return "the raw hint"
	case naive.Scaled:
		return "Scaled{" + describeScorer(s.Inner) + "}"
	case naive.Composite:
		var parts []string
		for _, p := range s.Parts {
			parts = append(parts, fmt.Sprintf("%v * %s", p.Weight, describeScorer(p.Scorer)))
		}
		return "Composite{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprintf("%T%+v", s, s)
}

func describeSlicer(s naive.Slicer) string {
	bucket := func(k naive.Knapsack) string {
		if k.BucketSize == nil {
			return "Knapsack{}"
		}
		return fmt.Sprintf("Knapsack{%d}", *k.BucketSize)
	}
	switch s := s.(type) {
	case naive.Knapsack:
		return bucket(s)
	case naive.CustomSlicer:
		if s.Smaller != nil {
			return fmt.Sprintf("every third in full, others smaller, left over %v", s.LeftOver)
		}
		return "everything, backwards"
	case naive.Quota:
		return fmt.Sprintf("Quota{%+v, %s}", s.Entries, describeSlicer(s.Inner))
	case naive.CountQuota:
		return fmt.Sprintf("CountQuota{%+v, throw %v, %s}", s.Entries, s.Throw, describeSlicer(s.Inner))
	case naive.CountConstrainedKnapsack:
		return fmt.Sprintf("CountConstrainedKnapsack{%+v, throw %v, %s}", s.Entries, s.Throw, bucket(s.Knapsack))
	}
	return fmt.Sprintf("%T", s)
}
