package repocontext

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// gitIn returns a function that runs git in a folder, untouched by anybody's
// settings. The test is skipped when git is missing.
func gitIn(t *testing.T, root string) func(when string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: commits and their times cannot be tested")
	}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.Setenv(name, os.DevNull)
	}
	return func(when string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+when, "GIT_COMMITTER_DATE="+when,
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

const (
	firstDay  = "2026-01-10T10:00:00Z"
	secondDay = "2026-01-20T12:00:00Z"
	thirdDay  = "2026-01-30T14:00:00Z"
)

// repository is a small history: two commits and a merge, an ignored file and a
// new one.
func repository(t *testing.T) string {
	t.Helper()
	root := writeTree(t, map[string]string{
		".gitignore":   "/build/\nsecret.md\n",
		"README.md":    "# Shop\n\nA shop.\n",
		"price/p.go":   "package price\n\ntype PriceList int\n",
		"old/gone.go":  "package old\n",
		"ünï cödé.md":  "# Ü\n\ntext\n",
		"build/out.md": "# Out\n\nmade\n",
		"secret.md":    "# Secret\n\nkey\n",
	})
	git := gitIn(t, root)
	git(firstDay, "init", "-q", "-b", "main")
	git(firstDay, "add", ".")
	git(firstDay, "commit", "-q", "-m", "Open the shop")

	git(secondDay, "checkout", "-q", "-b", "side")
	write(t, root, "price/p.go", "package price\n\n// PriceList is new.\ntype PriceList int\n")
	git(secondDay, "rm", "-q", "old/gone.go")
	git(secondDay, "commit", "-q", "-a", "-m", "Explain the PriceList\n\nIt was asked for.\n:100644 100644 a b M\n")

	git(thirdDay, "checkout", "-q", "main")
	git(thirdDay, "merge", "-q", "--no-ff", "-m", "Merge", "side")
	write(t, root, "new.md", "# New\n\nnot committed\n")
	return root
}

func TestGitGivesTimesAndCommits(t *testing.T) {
	root := repository(t)
	c := collect(t, root, Options{})

	var commits []*cupel.ContextItem
	times := make(map[string]time.Time)
	for _, it := range c.Items {
		if it.Kind() == cupel.KindMemory {
			commits = append(commits, it)
			continue
		}
		times[Origin(it)], _ = it.Timestamp()
	}
	at := func(day string) time.Time {
		when, err := time.Parse(time.RFC3339, day)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	want := map[string]time.Time{
		"README.md:1 Shop":       at(firstDay),
		"price/p.go:3 PriceList": at(secondDay), // not the merge: it changed nothing
		"ünï cödé.md:1 Ü":        at(firstDay),  // git would quote the name
		"new.md:1 New":           fileTime,      // git knows no time yet
	}
	for origin, when := range want {
		if got, ok := times[origin]; !ok || !got.Equal(when) {
			t.Errorf("%s: time %v, want %v", origin, got, when)
		}
	}
	if len(times) != len(want) {
		t.Errorf("items %v, want %v: what git ignores is left out", times, want)
	}
	wantLines(t, "notes", c.Notes, []string{
		"left out .gitignore: neither Go nor Markdown",
		"left out build/ and 1 more: ignored by git", // and secret.md
	})

	if len(commits) != 2 {
		t.Fatalf("%d commits, want the 2 that are no merges", len(commits))
	}
	newest := commits[0]
	if got, want := newest.Content(), "Explain the PriceList\n\nIt was asked for.\n:100644 100644 a b M\n\nD old/gone.go\nM price/p.go"; got != want {
		t.Errorf("content:\n%s\nwant:\n%s", got, want)
	}
	if got, want := newest.Tags(), []string{"explain", "pricelist", "old", "price", "PriceList"}; !slices.Equal(got, want) {
		t.Errorf("tags %q, want %q", got, want)
	}
	if when, _ := newest.Timestamp(); !when.Equal(at(secondDay)) || newest.Source() != cupel.SourceTool {
		t.Errorf("time %v, source %s", when, newest.Source())
	}
	if got := Origin(newest); len(got) != len("commit 123456789abc of 2026-01-20") || !strings.HasSuffix(got, " of 2026-01-20") {
		t.Errorf("origin %q", got)
	}
	if got, want := commits[1].Content(), "Open the shop\n\nA .gitignore\nA README.md\nA old/gone.go\nA price/p.go\nA ünï cödé.md"; got != want {
		t.Errorf("content:\n%s\nwant:\n%s", got, want)
	}
}

func TestGitBelowTheTop(t *testing.T) {
	root := repository(t)
	items := collect(t, filepath.Join(root, "price"), Options{}).Items
	if got := Origin(items[0]); got != "p.go:3 PriceList" {
		t.Errorf("first item from %q: paths are relative to the root given", got)
	}
	if when, _ := items[0].Timestamp(); when.Format(time.RFC3339) != secondDay {
		t.Errorf("time %v, want that of the last commit", when)
	}
	if len(items) != 3 {
		t.Errorf("items %q, want one declaration and two commits", origins(items))
	}
}

func TestGitIgnoresWhoCallsIt(t *testing.T) {
	root := repository(t)
	want := origins(collect(t, root, Options{}).Items)
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "elsewhere")) // as in a hook
	t.Setenv("GIT_INDEX_FILE", filepath.Join(t.TempDir(), "index"))
	wantLines(t, "origins", origins(collect(t, root, Options{}).Items), want)
}

func TestWithoutGit(t *testing.T) {
	files := map[string]string{"a.md": "# A\n\none\n"}
	tests := []struct {
		name, why string
		prepare   func(t *testing.T, root string)
		note      string
		items     int
	}{
		{
			name: "not installed", why: "a machine with Go alone",
			prepare: func(t *testing.T, _ string) {
				t.Helper()
				without(t)
			},
			note:  "git: git is not installed; there are no commits among the candidates, and times are those of the files",
			items: 1,
		},
		{
			name: "no repository", why: "a plain source archive",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				gitIn(t, root)
			},
			note:  "git: fatal: not a git repository (or any of the parent directories): .git; there are no commits among the candidates, and times are those of the files",
			items: 1,
		},
		{
			name: "no commit", why: "a repository that has just been made",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				gitIn(t, root)(firstDay, "init", "-q")
			},
			note:  "git: nothing is committed yet; there are no commits among the candidates, and times are those of the files",
			items: 1,
		},
		{
			name: "no file", why: "an archive unpacked where the repository around it ignores it",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				gitIn(t, root)(firstDay, "init", "-q")
				write(t, root, ".git/info/exclude", "*\n")
			},
			note:  "git: it knows no file here; there are no commits among the candidates, and times are those of the files",
			items: 1,
		},
		{
			name: "damaged", why: "a repository that git cannot read",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				git := gitIn(t, root)
				git(firstDay, "init", "-q")
				git(firstDay, "add", ".")
				git(firstDay, "commit", "-q", "-m", "One")
				if err := os.RemoveAll(filepath.Join(root, ".git", "objects")); err != nil {
					t.Fatal(err)
				}
			},
			note:  "git: ",
			items: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := writeTree(t, files)
			tt.prepare(t, root)
			c := collect(t, root, Options{})
			if len(c.Notes) == 0 || !strings.HasPrefix(c.Notes[0], tt.note) {
				t.Errorf("notes %q, want one that begins with %q: %s", c.Notes, tt.note, tt.why)
			}
			if len(c.Items) != tt.items {
				t.Errorf("items %q, want %d", origins(c.Items), tt.items)
			}
			if when, _ := c.Items[0].Timestamp(); !when.Equal(fileTime) {
				t.Errorf("time %v, want that of the file", when)
			}
		})
	}
}

func TestParseLog(t *testing.T) {
	const whole = "h1\x001768040000\x00One\n\x00\n:000000 100644 0 1 A\x00a\x00:000000 100644 0 1 D\x00A\x00\x00" +
		"h2\x0060\x00Two\x00\n:100644 100644 0 1 M\x00b\x00\x00" +
		"h3\x000\x00\x00"
	upTo := func(end string) string {
		head, _, _ := strings.Cut(whole, end)
		return head
	}
	tests := []struct {
		name, why, log string
		want           []string
	}{
		{"whole", "fields in turn, changes by path, a commit without message and changes at the end", whole,
			[]string{"h1 One D:A A:a", "h2 Two M:b", "h3 "}},
		{"empty", "no commit", "", nil},
		{"cut in a hash", "what is not complete is left out", whole[:1], nil},
		{"cut behind a path", "what is there is taken", upTo("\x00:000000 100644 0 1 D"), []string{"h1 One A:a"}},
		{"cut in front of a path", "a change without a path is none", upTo("a\x00:"), []string{"h1 One"}},
		{"cut behind a change", "nor is one without anything", upTo("\x00a\x00:"), []string{"h1 One"}},
		{"rubbish", "no time, no commit", "a\x00b\x00c\x00d", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for c := range parseLog(tt.log) {
				line := c.hash + " " + c.message
				for _, change := range c.changes {
					line += " " + change.status + ":" + change.path
				}
				got = append(got, line)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestCommitWithManyFiles(t *testing.T) {
	c := commit{hash: "0123456789abcdef", time: fileTime, message: "Do\nmuch"}
	for i := range maxChanges + 5 {
		c.changes = append(c.changes, change{"M", "d/" + string(rune('a'+i)) + "\n.go"})
	}
	d := c.draft()
	if !strings.HasSuffix(d.content, "\nand 5 more files") || strings.Count(d.content, "\nM ") != maxChanges {
		t.Errorf("content:\n%s", d.content)
	}
	if strings.Contains(d.content, "\n.go") {
		t.Error("a line break in a name breaks the line")
	}
	if got, want := d.origin, "commit 0123456789ab of 2026-01-02"; got != want {
		t.Errorf("origin %q, want %q", got, want)
	}
}

func TestFirstLineOr(t *testing.T) {
	failed := errors.New("exit status 1")
	for _, tt := range []struct{ text, want string }{
		{"\n fatal: no\nmore\n", "fatal: no"},
		{" \n", "exit status 1"},
		{"\x1b[31mred", "\uFFFD[31mred"},
		{strings.Repeat("é", 100), strings.Repeat("é", 60) + "…"},
		{"x" + strings.Repeat("é", 100), "x" + strings.Repeat("é", 59) + "…"},
	} {
		if got := firstLineOr(tt.text, failed); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
