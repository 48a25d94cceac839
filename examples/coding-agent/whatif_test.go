package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestWhatIf(t *testing.T) {
	root := shop(t)
	// All 160 tokens fit into 200: the four items need 61 of the 101 that the
	// pinned ones leave, and the quotas allow each kind more than it has. The
	// preset has no quotas at all.
	want := `
What if
  the preset code-review chose instead: 0 contents would come and 0 go
  this one     uses  80.0% of the budget, for 4 kinds
  code-review  uses  80.0% of the budget, for 4 kinds
`
	code, out, problems := start(t, "-root", root, "-vet", "0", "-counter", "bytes", "-question", "What is a Price?", "-budget", "200", "-reserve", "0", "-what-if", "code-review")
	if _, got, _ := strings.Cut(out, "\nWhat if"); code != exitOK || "\nWhat if"+got != want {
		t.Errorf("exit %d, printed\n%s\nwant last\n%s\nproblems: %s", code, out, want, problems)
	}
}

// TestWhatIfNamesTheSmallestWindow runs the program at the window that it names
// and at the one below.
func TestWhatIfNamesTheSmallestWindow(t *testing.T) {
	root := shop(t)
	window := func(budget int, more ...string) string {
		_, out, _ := start(t, append([]string{"-root", root, "-vet", "0", "-counter", "bytes", "-question", "What is a Price?", "-reserve", "0", "-budget", strconv.Itoa(budget)}, more...)...)
		return out
	}
	out := window(149, "-what-if", "CODE-review") // intents fold case
	found := regexp.MustCompile(`the best item left out, (.*), would be in from ([0-9]+) tokens on`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no smallest window in\n%s", out)
	}
	needed, err := strconv.Atoi(found[2])
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[int]bool{needed: true, needed - 1: false} {
		in, _, _ := strings.Cut(window(budget), "\nLeft out")
		if got := strings.Contains(in, found[1]); got != want {
			t.Errorf("at %d tokens %s is in: %v, want %v", budget, found[1], got, want)
		}
	}
}

func TestWhatIfIsRefused(t *testing.T) {
	tests := []struct {
		name, want, why string
		args            []string
	}{
		{"unknown preset", "code-review", "the intents that are known are listed", []string{"-what-if", "poetry"}},
		{"with json", "-what-if goes with neither -json nor -full", "the report alone must stay JSON", []string{"-what-if", "chat", "-json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, _, problems := start(t, tt.args...)
			if code != exitUsage || !strings.Contains(problems, tt.want) {
				t.Errorf("exit %d, %q; want %d and %q: %s", code, problems, exitUsage, tt.want, tt.why)
			}
		})
	}
}
