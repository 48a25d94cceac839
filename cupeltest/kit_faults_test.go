package cupeltest_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// A fault is a strategy that breaks its contract, as people write them, and how
// it is caught: the first failure is of this rule and names its cause in its
// first line, even if more is broken on the way.
type fault struct {
	name  string
	rule  string // how its sentence begins
	run   func(t cupeltest.T)
	found string // part of what is found
}

// checkFaults wants each fault caught by the rule meant for it, and each rule
// to catch one.
func checkFaults(t *testing.T, role string, faults []fault) {
	t.Helper()
	faults = append(faults, moreFaults(t, role)...)
	rules := cupeltest.Rules(role)
	var lock locked
	caught := make(map[string]bool)
	ran := 0
	firsts := make([]string, len(faults))
	t.Run("faults", func(t *testing.T) {
		for i, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				if role != "collector" { // whose kit counts the allocations of the process
					t.Parallel()
				}
				lock.do(func() { ran++ })
				rule, first := checkFault(t, role, rules, f)
				lock.do(func() { caught[rule] = true })
				firsts[i] = f.name + ": " + first + "\n"
			})
		}
	})
	if ran < len(faults) {
		return // only some were asked for
	}
	for _, r := range rules {
		if !caught[r.Sentence] && !r.Advice { // TestAdvice has the others
			t.Errorf("no fault shows that this rule finds anything: %s", r.Sentence)
		}
	}
	samePage(t, "testdata/faults_"+role+".txt", strings.Join(firsts, ""))
}

// varying are the faults whose failures differ from run to run: with chance, time,
// addresses and goroutines.
var varying = map[string]bool{
	"chance": true, "order of a map": true, "the time": true,
	"does not look at its context": true, "batch does not look at its context": true,
	"remembers by address": true, "batch remembers by address": true, "is not safe": true, "batch is not safe": true,
	"appending does not look at its context": true, "appends by address": true, "appends by goroutine": true,
	"a pool that takes the result back": true, "panics when shared": true, "allocates though not enabled": true,
}

// checkFault returns the rule that catches a fault, or "", and what is found first.
func checkFault(t *testing.T, role string, rules []cupeltest.Rule, f fault) (rule, found string) {
	t.Helper()
	var of []cupeltest.Rule
	for _, r := range rules {
		if strings.HasPrefix(r.Sentence, f.rule) {
			of = append(of, r)
		}
	}
	if len(of) != 1 {
		t.Fatalf("%d rules begin with %q, want one", len(of), f.rule)
	}
	s := watch(f.run)
	if len(s.messages) == 0 {
		t.Fatal("it passes")
	}
	for _, message := range s.messages {
		if !strings.HasPrefix(message, role+" ") || !strings.Contains(message, " breaks its contract: ") || !strings.Contains(message, "\n\tfound: ") {
			t.Errorf("a message of another form: %q", message)
		}
	}
	_, what, _ := strings.Cut(s.messages[0], " breaks its contract: ")
	if !strings.HasPrefix(what, of[0].Cause+": ") || !strings.Contains(what, "\n\trule: "+of[0].Sentence+"\n\tfound: ") || !strings.Contains(what, f.found) {
		t.Errorf("the first failure is not of the rule\n\t%s (%s)\nwith %q; reported was\n\t%s", of[0].Sentence, of[0].Cause, f.found, strings.Join(s.messages, "\n\t"))
		return "", ""
	}
	_, found, _ = strings.Cut(what, "\n\tfound: ")
	found, _, _ = strings.Cut(found, "\n")
	if varying[f.name] || strings.Contains(found, "goroutines after") {
		found = "…"
	}
	return of[0].Sentence, of[0].Cause + ": " + found
}

// invalid is strategies that say of themselves that they are not ready.
type invalid struct{}

func (i invalid) Facts() strategy.Facts {
	return strategy.Facts{Of: i, Invalid: errors.New("not ready")}
}

func (invalid) Score(context.Context, []*cupel.ContextItem, []float64) error { return nil }

func (invalid) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{}, nil
}

func (invalid) Place(context.Context, []cupel.ScoredItem) ([]int, error) { return nil, nil }

// home is the goroutine from which a strategy was called first. A strategy that
// depends on it is wrong in any other, every time and without a data race.
type home struct {
	lock locked
	id   string
}

func (h *home) away() (yes bool) {
	id := goroutine()
	h.lock.do(func() {
		if h.id == "" {
			h.id = id
		}
		yes = h.id != id
	})
	return yes
}

// goroutine names the current goroutine.
func goroutine() string {
	stack := make([]byte, 64)
	name, _, _ := bytes.Cut(stack[:runtime.Stack(stack, false)], []byte("["))
	return string(name)
}

// locked makes the memory of a broken strategy safe to use, so that it is
// broken in its own way and not by a data race.
type locked struct{ sync.Mutex }

func (l *locked) do(f func()) {
	l.Lock()
	defer l.Unlock()
	f()
}

// perGoroutine is memory that a broken strategy keeps for each goroutine that
// calls it, for the same reason.
type perGoroutine[V any] struct {
	lock   locked
	values map[string]*V
}

func (p *perGoroutine[V]) use(f func(v *V)) {
	id := goroutine()
	p.lock.do(func() {
		if p.values == nil {
			p.values = make(map[string]*V)
		}
		if p.values[id] == nil {
			p.values[id] = new(V)
		}
		f(p.values[id])
	})
}

// sleepy takes long for a long list, and ignores its context.
func sleepy(n int) error {
	if n > 1000 {
		time.Sleep(260 * time.Millisecond)
	}
	return nil
}

// leak starts a goroutine that outlasts the rule.
func leak() {
	go func() { time.Sleep(3 * time.Second) }()
}

// the returns a function that returns the same value each time.
func the[S any](s S) func() S { return func() S { return s } }
