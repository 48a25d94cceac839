package promoted_test

import (
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// embedding is what testdata/embedding prints: 1 for scorers that are asked for
// one score at a time, 0 for those that are asked for all.
const embedding = `main.inlined 0
main.embeds 0
*main.embeds 0
main.own 1
*main.own 1
main.both 0
*main.both 0
main.recency 1
*main.pointer 1
main.greedy true
*main.greedy true
main.halfGreedy false
*main.halfGreedy false
[1 0] <nil>
`

// TestBuilds runs a program that is built in ways that change or remove what a
// program knows about its own code.
func TestBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command to build programs with")
	}
	for name, flags := range map[string][]string{
		"plain":        nil,
		"stripped":     {"-trimpath", "-ldflags=-s -w"},
		"unoptimized":  {"-gcflags=github.com/wollax/cupel-go/...=-N -l"},
		"for coverage": {"-cover", "-coverpkg=github.com/wollax/cupel-go/cupel/..."},
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "embedding")
			build := exec.CommandContext(t.Context(), goCommand, append(append([]string{"build", "-o", program}, flags...), "./testdata/embedding")...)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			run := exec.CommandContext(t.Context(), program)
			run.Env = append(run.Environ(), "GOCOVERDIR="+t.TempDir())
			out, err := run.Output()
			if err != nil || string(out) != embedding {
				t.Errorf("error %v, got\n%swant\n%s", err, out, embedding)
			}
			if name != "plain" {
				return
			}
			symbols, err := exec.CommandContext(t.Context(), goCommand, "tool", "nm", program).Output()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(symbols), "main.inlined.ScoreAll") {
				t.Error("the program has no symbols to look at")
			}
			for _, removed := range []string{"main.inlined.NotUsed", "scorer.(*Composite).ScoreParts"} {
				if strings.Contains(string(symbols), removed) {
					t.Errorf("the linker has kept %s, which nothing uses: some method is looked up by a name that is not constant", removed)
				}
			}
		})
	}
}

type plain struct{}

func (plain) Score()    {}
func (plain) ScoreAll() {}

type overridden struct{ plain }

func (overridden) Score() {}

type both interface {
	Score()
	ScoreAll()
}

type looped struct{ both }

// TestAgree has what the interfaces of package cupel do not let through.
func TestAgree(t *testing.T) {
	loop := &looped{}
	loop.both = loop
	var nothing *looped
	tests := []struct {
		value any
		want  bool
		why   string
	}{
		{plain{}, true, "nothing is embedded"},
		{overridden{}, false, "its Score is its own, the ScoreAll is not"},
		{looped{}, true, "there is nothing in the interface: the call says so"},
		{nothing, true, "a nil pointer: the call says so"},
		{loop, false, "a value inside itself"},
		{looped{overridden{}}, false, "the value in the interface decides"},
	}
	for _, tt := range tests {
		if got := promoted.ScoreAll.Agree(tt.value); got != tt.want {
			t.Errorf("%v: got %v, want %v: %s", reflect.TypeOf(tt.value), got, tt.want, tt.why)
		}
	}
}

func BenchmarkAgree(b *testing.B) {
	v := any(overridden{})
	b.ReportAllocs()
	for b.Loop() {
		promoted.ScoreAll.Agree(v)
	}
}
