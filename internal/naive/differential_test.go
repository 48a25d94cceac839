package naive_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// caseData is the random case of a seed.
func caseData(seed uint64) []byte { return randomBytes(seed, caseBytes) }

// randomBytes returns n bytes.
func randomBytes(seed uint64, n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24), seed))).Read(data) // never fails
	return data
}

// compareCases compares the engine with the model on random cases. Every kind of
// outcome must come up once in so many, to mean something.
func compareCases(t *testing.T, cases, once int, generate func([]byte) testCase, outcomes ...string) {
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
	for _, what := range outcomes {
		if least := cases / once; seen[what] < least {
			t.Errorf("%q came up %d times in %d cases, want at least %d", what, seen[what], cases, least)
		}
	}
	if seen["skipped"] > cases/100 {
		t.Errorf("%d of %d cases were skipped", seen["skipped"], cases)
	}
	t.Logf("outcomes: %v", seen)
}

// TestEngineAgreesWithTheModel compares the engine with the model on random
// cases: the same items in the same order, the same scores, the same report,
// the same class of error; with and without a collector, run and dry run.
func TestEngineAgreesWithTheModel(t *testing.T) {
	cases := 120_000
	if testing.Short() || raceEnabled {
		cases = 2_800
	}
	compareCases(t, cases, 2000, generate,
		"included Scored", "included Pinned", "included ZeroToken",
		"excluded BudgetExceeded", "excluded Deduplicated", "excluded NegativeTokens", "excluded PinnedOverride", "excluded CountCapExceeded",
		"error pinned_exceeds_budget", "error overflow", "error scarcity", "error invalid_config",
		"overflow event", "shortfall", "NaN score", "infinite score", "clamped total", "pointer selected twice",
		"naive.CustomSlicer", "naive.Greedy", "naive.ScoreGreedy", "naive.Knapsack", "naive.CountConstrainedKnapsack",
		"quota around naive.Greedy", "quota around naive.Knapsack", "quota around naive.Quota", "quota around naive.CountQuota", "quota around naive.CountConstrainedKnapsack",
		"count quota around naive.Greedy", "count quota around naive.Quota", "count quota around naive.CountQuota",
	)
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
	fmt.Fprintf(&b, "bytes: %q\n%#v\nbudget: %+v\n", data, c.config, c.budget)
	for i, it := range c.items {
		fmt.Fprintf(&b, "items[%d]: %p %+v %v %v %v\n", i, it, it, it.LogValue(), it.Tags(), it.Metadata())
	}
	fmt.Fprintf(&b, "on its own: %+v, budget %+v\n", c.scored, c.sliceBudget)
	return b.String()
}
