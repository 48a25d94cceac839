package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// shop is a small tree whose window is worked out by hand below.
func shop(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(root))
	t.Setenv("PATH", t.TempDir()) // neither git nor go
	for _, f := range []struct{ name, content, time string }{
		{"README.md", "# Shop\n\nA shop.\n\n## Prices\n\nPrices are cents.\n", "2026-01-02T00:00:00Z"},
		{"shop/price.go", "// Package shop sells.\npackage shop\n\n// Price is in cents.\ntype Price int\n", "2026-01-01T00:00:00Z"},
		{"shop/logo.png", "\x89PNG", "2026-01-01T00:00:00Z"},
	} {
		name := filepath.Join(root, filepath.FromSlash(f.name))
		at, err := time.Parse(time.RFC3339, f.time)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(f.content), 0o644), os.Chtimes(name, at, at))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// start runs the program with a width of 100 columns.
func start(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("COLUMNS", "100")
	var out, problems bytes.Buffer
	code = run(t.Context(), args, &out, &problems)
	return code, out.String(), problems.String()
}

const noGit = "coding-agent: git: git is not installed; there are no commits among the candidates, and times are those of the files\n"

// The candidates of the shop, with the question "What is a Price?", which counts
// for nothing here:
//
//	                                  tokens  recency  kind  priority  frequency   sum/4
//	README.md:1 Shop                      10      2/3   0.6         0          1  .56667
//	README.md:5 Shop > Prices             16      2/3   0.6         0          1  .56667
//	shop/price.go:1 package shop          18        0   0.8         1          1  .70000
//	shop/price.go:4 Price                 17        0   0.8       2/3          1  .61667
//
// Tokens are those of -counter bytes, bytes of frame and content by four, rounded
// up: 25+15, 34+28, 37+35 and 30+36. Two items are newer than none, two than two
// others. The priorities are 2, 2, 4 and 3. All have the tag shop.
//
// The pinned items have 90 (356 to 360 bytes) and 9 (17+16 bytes) tokens. Of the
// target of 151 they leave 52, of which code gets 23 and documents 6. The 23 that
// nothing requires are shared by the tokens of the candidates, 35 and 26: code
// may have 36 in all, 18+17, and documents 15, which is 10 and not 16.
//
// The U shape puts the pinned ones outside, .70000 second, .61667 last but one. The
// columns after why have 56 of the 100; from needs 28 and leaves 28.
const wantReport = `Question: What is a Price?
Candidates: 6 items, 160 tokens
  SystemPrompt  1  90 tokens
  Message       1   9 tokens
  Code          2  35 tokens
  Document      2  26 tokens

Window, in the order of the prompt: 5 items, 144 tokens
  #  kind          tokens  score  why     from                          first line
  1  SystemPrompt      90  1.000  Pinned  system prompt                 You are a coding agent at w…
  2  Code              18  0.700  Scored  shop/price.go:1 package shop  // Package shop sells.
  3  Document          10  0.567  Scored  README.md:1 Shop              # Shop
  4  Code              17  0.617  Scored  shop/price.go:4 Price         // Price is in cents.
  5  Message            9  1.000  Pinned  question                      What is a Price?

Left out, best scores first: 1 item, 16 tokens
  kind      tokens  score  from                       why
  Document      16  0.567  README.md:5 Shop > Prices  BudgetExceeded: 16 tokens requested, 7 availa…

Reasons
  in   Scored: 3 items, 45 tokens
  in   Pinned: 2 items, 99 tokens
  out  BudgetExceeded: 1 item, 16 tokens

Budget: 202 tokens; the window uses 144 of at most 151 (95.4%)
  [SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSMMMMCCCCCCCCCCCCCCCCCDDDDD...------------------------]
  S  SystemPrompt    90  44.6%   1 item
  M  Message          9   4.5%   1 item
  C  Code            35  17.3%  2 items
  D  Document        10   5.0%   1 item
  .  free             7   3.5%
  -  for the answer  51  25.2%
`

func TestReport(t *testing.T) {
	root := shop(t)
	for range 2 { // and the same again
		code, stdout, stderr := start(t, "-root", root, "-question", "What is a Price?", "-relevance=false", "-budget", "202", "-reserve", "51", "-vet", "0", "-counter", "bytes")
		if code != exitOK {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
		if stdout != wantReport {
			t.Errorf("output:\n%s\nwant:\n%s", stdout, wantReport)
		}
		if want := noGit + "coding-agent: left out shop/logo.png: neither Go nor Markdown\n"; stderr != want {
			t.Errorf("standard error:\n%s\nwant:\n%s", stderr, want)
		}
	}
}

func TestRowsOfWhatIsLeftOut(t *testing.T) {
	root := shop(t)
	// Only the pinned items fit.
	args := []string{"-root", root, "-question", "What is a Price?", "-relevance=false", "-budget", "99", "-reserve", "0", "-vet", "0", "-counter", "bytes", "-n"}
	row := "  Code          17  0.617  shop/price.go:4 Price         PinnedOverride: pinned items took its place\n"
	for _, tt := range []struct{ n, want, why string }{
		{"0", "Left out, best scores first: 4 items, 61 tokens\n  and 4 more (-n -1 shows all)\n", "no table"},
		{"1", "  kind  tokens  score  from                          why\n" +
			"  Code      18  0.700  shop/price.go:1 package shop  PinnedOverride: pinned items took its place\n" +
			"  and 3 more (-n -1 shows all)\n", "the best one"},
		{"4", row, "all of them, and no line about more"},
		{"-1", row, "all of them"},
	} {
		t.Run(tt.n, func(t *testing.T) {
			code, stdout, stderr := start(t, append(args, tt.n)...)
			if code != exitOK || !strings.Contains(stdout, tt.want) {
				t.Errorf("exit code %d, %s\noutput without %q, %s:\n%s", code, stderr, tt.want, tt.why, stdout)
			}
			if all := tt.n == "4" || tt.n == "-1"; all == strings.Contains(stdout, " more (") {
				t.Errorf("output:\n%s", stdout)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	root := shop(t)
	code, stdout, stderr := start(t, "-root", root, "-question", "What is a Price?", "-budget", "202", "-reserve", "51", "-vet", "0", "-counter", "bytes", "-json")
	if code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	var report cupel.SelectionReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Included) != 5 || len(report.Excluded) != 1 || report.TotalCandidates != 6 || report.TotalTokensConsidered != 160 {
		t.Errorf("report of %d in, %d out, %d candidates, %d tokens", len(report.Included), len(report.Excluded), report.TotalCandidates, report.TotalTokensConsidered)
	}
	if !strings.HasPrefix(stdout, "{\n  \"") || !strings.HasSuffix(stdout, "\n}\n") {
		t.Error("the JSON is not indented")
	}
}

func TestFullIsAPrompt(t *testing.T) {
	root := shop(t)
	if err := os.WriteFile(filepath.Join(root, "evil.md"), []byte("# Evil\x1b[2J\n\n\tPrice\u202e\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := start(t, "-root", root, "-question", "What is a Price?", "-vet", "0", "-full")
	if code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{
		"--- README.md:5 Shop > Prices ---\n## Prices\n\nPrices are cents.\n\n",
		"--- shop/price.go:4 Price ---\n// Price is in cents.\ntype Price int\n\n",
		"# Evil\\x1b[2J\n\n\tPrice\\u202e\n\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("output without %q:\n%s", want, stdout)
		}
	}
	if !strings.HasPrefix(stdout, "--- system prompt ---\nYou are ") || !strings.HasSuffix(stdout, "\n\n--- question ---\nWhat is a Price?\n\n") {
		t.Errorf("the prompt does not go from the system prompt to the question:\n%s", stdout)
	}
}

func TestEmptyFolder(t *testing.T) {
	shop(t) // for its environment
	code, stdout, stderr := start(t, "-root", t.TempDir(), "-vet", "0")
	if code != exitOK || stderr != noGit {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"Candidates: 2 items, ", "\nLeft out: nothing\n", "  in   Pinned: 2 items, "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("output without %q:\n%s", want, stdout)
		}
	}
}

func TestMistakes(t *testing.T) {
	root := shop(t)
	tests := []struct {
		name, why string
		args      []string
		code      int
		stderr    string // its last line
	}{
		{"unknown flag", "typed wrong", []string{"-bugdet", "1"}, exitUsage, "flag provided but not defined: -bugdet"},
		{"no number", "typed wrong", []string{"-budget", "many"}, exitUsage, `invalid value "many" for flag -budget: parse error`},
		{"argument", "a question without its flag", []string{"why?"}, exitUsage, `unexpected argument "why?"; the question goes after -question, in quotes`},
		{"unknown counter", "typed wrong", []string{"-counter", "gpt4"}, exitUsage, `unknown counter "gpt4"; it is heuristic, bytes, an encoding such as o200k_base, or a model such as gpt-4o`},
		{"items and a report", "standard output is one thing", []string{"-items", "-", "-json"}, exitUsage, "-items - prints the candidates alone, and goes with none of -json, -full, -what-if and -inspect"},
		{"items and a comparison", "standard output is one thing", []string{"-items", "-", "-what-if", "chat"}, exitUsage, "-items - prints the candidates alone, and goes with none of -json, -full, -what-if and -inspect"},
		{"force without items", "nothing to replace", []string{"-force"}, exitUsage, "-force is for the files of -items and -inspect, and there is none"},
		{"force on standard output", "nothing to replace", []string{"-force", "-items", "-"}, exitUsage, "-force is for the files of -items and -inspect, and there is none"},
		{"page on standard output", "a file with that name helps nobody", []string{"-inspect", "-"}, exitUsage, "-inspect writes a file, and - is none; give it a name such as context.html"},
		{"two in one file", "the second would replace the first", []string{"-items", "a/../b", "-inspect", "b", "-force"}, exitUsage, "-items and -inspect name the same file, and one would replace the other"},
		{"two forms", "one output at a time", []string{"-json", "-full"}, exitUsage, "-json and -full exclude each other"},
		{"negative budget", "the library says what is wrong", []string{"-budget", "-1"}, exitUsage, "cupel: invalid budget: maxTokens must be at least 0, got -1"},
		{"large target", "the library says what is wrong", []string{"-budget", "10", "-target", "11"}, exitUsage, "cupel: invalid budget: targetTokens must be at most maxTokens (10), got 11"},
		{"large reserve", "the library says what is wrong", []string{"-budget", "10", "-reserve", "11"}, exitUsage, "cupel: invalid budget: outputReserve must be at most maxTokens (10), got 11"},
		{
			"small budget", "what is pinned must fit", []string{"-root", root, "-question", "What is a Price?", "-budget", "98", "-reserve", "0", "-vet", "0", "-counter", "bytes"}, exitFailure,
			"cupel: Pinned items require 99 tokens, but only 98 are available; the system prompt and the question are pinned: raise -budget, lower -reserve, or ask in fewer words",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := start(t, tt.args...)
			lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
			if want := "coding-agent: " + tt.stderr; code != tt.code || lines[len(lines)-1] != want || stdout != "" {
				t.Errorf("exit code %d, want %d, because %s\nstandard error %q\nwant it to end in %q\noutput %q", code, tt.code, tt.why, stderr, want, stdout)
			}
		})
	}
	code, _, stderr := start(t, "-root", root+"/no\x1bwhere", "-vet", "0")
	if code != exitFailure || strings.Contains(stderr, "\x1b") || !strings.Contains(stderr, `no\x1bwhere`) {
		t.Errorf("no folder: exit code %d, standard error %q", code, stderr)
	}
}

func TestHelp(t *testing.T) {
	code, stdout, stderr := start(t, "-h")
	if code != exitOK || stdout != "" {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
	for _, name := range []string{"budget", "counter", "force", "full", "items", "json", "n", "question", "relevance", "reserve", "root", "target", "vet", "width"} {
		if !strings.Contains(stderr, "\n  -"+name) {
			t.Errorf("the help does not mention -%s:\n%s", name, stderr)
		}
	}
}

// full is a device without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatFails(t *testing.T) {
	root := shop(t)
	for _, form := range []string{"-json", "-full", "-n=1"} {
		var problems bytes.Buffer
		code := run(t.Context(), []string{"-root", root, "-vet", "0", form}, full{}, &problems)
		if code != exitFailure || !strings.HasSuffix(problems.String(), "coding-agent: no space left\n") {
			t.Errorf("%s: exit code %d, %s", form, code, problems.String())
		}
	}
}

func TestInterrupted(t *testing.T) {
	root := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, problems bytes.Buffer
	if code := run(ctx, []string{"-root", root}, &out, &problems); code != exitFailure || out.Len() > 0 {
		t.Errorf("exit code %d, output %q", code, out.String())
	}
}

// TestThisRepository runs the program on the tree that it is a part of, as make
// run does, but for go vet, which has tests of its own.
func TestThisRepository(t *testing.T) {
	code, stdout, stderr := start(t, "-vet", "0")
	if code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"SystemPrompt", "Message", "Code", "Document", "BudgetExceeded"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("output without %s", want)
		}
	}
	for line := range strings.Lines(stdout) {
		if n := width(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if _, again, _ := start(t, "-vet", "0"); again != stdout {
		t.Error("a second run prints something else")
	}
}
