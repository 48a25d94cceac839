package cli

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// slicersToAsk are of every kind that the answer tells apart.
func slicersToAsk(t *testing.T) map[string]cupel.Slicer {
	t.Helper()
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
	cap1 := slicer.CountQuotaEntry{Kind: "Document", RequireCount: 1, CapCount: 1}
	share := slicer.Between("Document", 20, 60)
	counted := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, slicer.ScarcityDegrade, cap1))
	return map[string]cupel.Slicer{
		"greedy":            slicer.Greedy{},
		"score":             slicer.ScoreGreedy{},
		"knapsack":          knapsack,
		"quota":             slicer.Must(slicer.NewQuota(slicer.Greedy{}, share)),
		"quota of knapsack": slicer.Must(slicer.NewQuota(knapsack, share)),
		"count":             counted,
		"count in quota":    slicer.Must(slicer.NewQuota(counted, share)),
		"counted knapsack":  slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, slicer.ScarcityDegrade, cap1)),
	}
}

func randomItems(t *testing.T, random *rand.Rand) []*cupel.ContextItem {
	t.Helper()
	var items []*cupel.ContextItem
	for i := range 1 + random.IntN(8) {
		opts := []cupel.ItemOption{
			cupel.WithFutureRelevanceHint(float64(random.IntN(8)) / 7),
			cupel.WithKind([]cupel.ContextKind{"Document", "Message"}[random.IntN(2)]),
		}
		if random.IntN(6) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		item, err := cupel.NewContextItem(fmt.Sprint("item ", i-random.IntN(2)), random.IntN(14)-1, opts...)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

func included(report *cupel.SelectionReport, item *cupel.ContextItem) bool {
	for _, i := range report.Included {
		if i.Item == item {
			return true
		}
	}
	return false
}

// The smallest budget is the first of all budgets that takes the item; what
// decides as another slicer would is that slicer; and what is told of it is so.
func TestAnswersAreTrue(t *testing.T) {
	env := &Environment{Stderr: io.Discard, Getenv: func(string) string { return "" }, Clock: func() time.Time { return time.Time{} }}
	for name, s := range slicersToAsk(t) {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(11, uint64(len(name))))
			pipeline, err := cupel.New(cupel.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.UShaped{}, Overflow: cupel.OverflowStrategy(random.IntN(3))})
			if err != nil {
				t.Fatal(err)
			}
			for range 60 {
				items := randomItems(t, random)
				reserve := random.IntN(5)
				total := 20 + random.IntN(30)
				budget, err := cupel.NewContextBudget(total, total-reserve, cupel.WithOutputReserve(reserve),
					cupel.WithReservedSlots(map[cupel.ContextKind]int{"Memory": random.IntN(4)}),
					cupel.WithEstimationSafetyMargin(float64(5*random.IntN(3))))
				if err != nil {
					t.Fatal(err)
				}
				report, err := pipeline.DryRun(t.Context(), items, budget)
				if err != nil {
					continue // there is nothing to answer
				}
				a := newAccount(items, budget, report, nil)
				of := random.IntN(len(items))
				if err := a.addParts(t.Context(), scorer.Reflexive{}); err != nil {
					t.Fatal(err)
				}
				flags := searchFlags{}
				answer, err := flags.whyNot(t.Context(), env, &selection{Candidates: &input.Candidates{Items: items}, pipeline: pipeline, budget: budget}, a, of, false)
				if err != nil {
					t.Fatal(err)
				}
				checkAnswer(t, pipeline, answer)
			}
		})
	}
}

func checkAnswer(t *testing.T, pipeline *cupel.Pipeline, answer *whyNotAnswer) {
	t.Helper()
	a, e := answer.a, answer.e
	if e.item.Content() == "" || e.place == 0 && answer.rule == "" && e.reason != string(cupel.NegativeTokens) {
		t.Errorf("nothing is said of %q: %s", e.item.Content(), e.why)
	}
	if strings.Contains(answer.rule, "When its turn came") {
		var left, of int
		if _, err := fmt.Sscanf(answer.rule[strings.Index(answer.rule, "came, ")+6:], "%d of %d tokens", &left, &of); err != nil || left >= e.item.Tokens() || left < 0 {
			t.Errorf("%q does not tell why %d tokens did not fit (%v)", answer.rule, e.item.Tokens(), err)
		}
	}
	for _, i := range answer.instead {
		switch other := &a.entries[i]; {
		case other.place > 0, e.reason == string(cupel.Deduplicated):
		// Chosen, and dropped again: by the slicer or by the policy.
		case other.reason == string(cupel.CountCapExceeded), pipeline.Config().Overflow == cupel.OverflowTruncate:
		default:
			t.Errorf("%q is said to have come before, and is out: %s", other.item.Content(), other.why)
		}
	}
	if e.reason == string(cupel.Deduplicated) || e.reason == string(cupel.NegativeTokens) {
		return // there is no search
	}
	want := smallest{Exact: true, SearchedTo: answer.minimum.SearchedTo}
	for tokens := 0; tokens <= want.SearchedTo; tokens++ {
		budget, err := a.budget.Resize(tokens, tokens-a.budget.OutputReserve()) // as --budget has it
		if err != nil {
			continue
		}
		if report, err := pipeline.DryRun(t.Context(), a.items, budget); err == nil && included(report, e.item) {
			want.Found, want.Tokens = true, tokens
			break
		}
	}
	if answer.minimum != want {
		t.Errorf("smallest budget of %q is %+v, want %+v", e.item.Content(), answer.minimum, want)
	}
}

// Watching a slicer changes nothing.
func TestWatchedSelectsTheSame(t *testing.T) {
	for name, s := range slicersToAsk(t) {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, uint64(len(name))))
			for range 100 {
				var scored []cupel.ScoredItem
				for _, item := range randomItems(t, random) {
					if item.Tokens() >= 0 {
						scored = append(scored, cupel.ScoredItem{Item: item, Score: random.Float64()})
					}
				}
				budget := cupel.SliceBudget{MaxTokens: 50, TargetTokens: random.IntN(50)}
				want, err := cupel.Slice(t.Context(), s, scored, budget)
				if err != nil {
					t.Fatal(err)
				}
				var calls []sliceCall
				got, err := cupel.Slice(t.Context(), watched(s, &calls), scored, budget)
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("got %v (%v), want %v", got, err, want)
				}
			}
		})
	}
}

func TestSufficient(t *testing.T) {
	item := func(tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
		it, err := cupel.NewContextItem("x", tokens, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	for _, test := range []struct {
		name, why string
		items     []*cupel.ContextItem
		opts      []cupel.BudgetOption
		want      int
	}{
		{"sum", "what is negative needs nothing", []*cupel.ContextItem{item(10), item(5, cupel.WithPinned()), item(-7)}, nil, 15},
		{"kept", "reserves are on top", []*cupel.ContextItem{item(10)},
			[]cupel.BudgetOption{cupel.WithOutputReserve(3), cupel.WithReservedSlots(map[cupel.ContextKind]int{"Memory": 4})}, 17},
		{"margin", "half of 21 tokens hold the ten", []*cupel.ContextItem{item(10)}, []cupel.BudgetOption{cupel.WithEstimationSafetyMargin(50)}, 21},
		{"nothing is enough", "a margin of everything", []*cupel.ContextItem{item(10)}, []cupel.BudgetOption{cupel.WithEstimationSafetyMargin(100)}, 10},
		{"huge", "sums do not wrap", []*cupel.ContextItem{item(math.MaxInt), item(math.MaxInt)}, nil, math.MaxInt},
		{"huge with a margin", "nor do margins", []*cupel.ContextItem{item(math.MaxInt)}, []cupel.BudgetOption{cupel.WithEstimationSafetyMargin(50)}, math.MaxInt},
	} {
		t.Run(test.name, func(t *testing.T) {
			budget, err := cupel.NewContextBudget(100, 0, test.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if got := sufficient(test.items, budget); got != test.want {
				t.Errorf("got %d, want %d: %s", got, test.want, test.why)
			}
		})
	}
}

func TestJSONScore(t *testing.T) {
	for want, score := range map[string]float64{"0.5": 0.5, `"NaN"`: math.NaN(), `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1)} {
		if got, err := jsonScore(score).MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%v is written %s (%v), want %s", score, got, err, want)
		}
	}
}
