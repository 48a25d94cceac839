package repocontext

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
)

func TestCollectNamesWhatItLeavesOut(t *testing.T) {
	without(t)
	root := writeTree(t, map[string]string{
		"a.md":               "# A\n\none\n",
		"binary.md":          "# A\n\n\x00\x01\n",
		"binary.go":          "package p\x00",
		"blank.md":           " \n\t\n",
		"large.md":           strings.Repeat("x", maxFileBytes+1),
		"largest.md":         strings.Repeat("x", maxFileBytes),
		"picture.png":        "\x89PNG",
		"script":             "#!/bin/sh\n",
		".hidden/h.md":       "# H\n\none\n",
		"sub/testdata/t.go":  "package t\n",
		"sub/vendor/v/v.go":  "package v\n",
		"node_modules/n.md":  "# N\n\none\n",
		"_skipped/s.go":      "package s\n",
		".git/config.md":     "# C\n\none\n",
		"sub/deep/er/est.md": "# E\n\none\n",
	})
	c := collect(t, root, Options{})
	wantLines(t, "origins", origins(c.Items), []string{"a.md:1 A", "largest.md:1", "sub/deep/er/est.md:1 E"})
	wantLines(t, "notes", c.Notes, []string{
		"git: git is not installed; there are no commits among the candidates, and times are those of the files",
		"left out .hidden/ and 4 more: in a folder that is hidden, test data or vendored",
		"left out binary.go and 1 more: binary, to judge by its zero bytes",
		"left out blank.md: empty",
		"left out large.md: larger than 1 MiB",
		"left out picture.png and 1 more: neither Go nor Markdown",
	})

	largest := c.Items[1]
	if len(largest.Content()) > maxItemBytes+64 || !strings.HasSuffix(largest.Content(), "\n[cut here: 1040384 more bytes]") {
		t.Errorf("content of %d bytes that ends in %q", len(largest.Content()), largest.Content()[len(largest.Content())-40:])
	}
	whole := len("--- largest.md:1 ---\n") + maxFileBytes
	if n, ok := largest.OriginalTokens(); !ok || n != (whole+3)/4 {
		t.Errorf("original tokens %d, %v; want those of the whole, %d", n, ok, (whole+3)/4)
	}
	if _, ok := c.Items[0].OriginalTokens(); ok {
		t.Error("an item that was not cut has original tokens")
	}
}

func TestCollectOddNamesAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("these names and links cannot be made on Windows")
	}
	without(t)
	root := writeTree(t, map[string]string{
		"sub/a.md":       "# A\n\none\n",
		"line\nbreak.md": "# L\n\none\n",
		"esc\x1b[2J.go":  "package p\n\nfunc F() {}\n",
	})
	for link, target := range map[string]string{"loop": ".", "sub/up": "..", "self": "self", "sub/out.md": "/etc/hostname", "dangling.go": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"esc\uFFFD[2J.go:3 F",
		"line\uFFFDbreak.md:1 L",
		"sub/a.md:1 A",
	}
	// Not every file system takes names that are not UTF-8.
	if err := os.WriteFile(root+"/caf\xe9.md", []byte("# C\n\none\n"), 0o644); err == nil {
		want = slices.Insert(want, 0, "caf\uFFFD.md:1 C")
	}
	// The link to the root is resolved, those inside are not.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{root, link, root + "/sub/.."} {
		c := collect(t, from, Options{})
		wantLines(t, "origins", origins(c.Items), want)
		wantLines(t, "notes", c.Notes[1:], []string{"left out dangling.go and 4 more: a symbolic link, which is not followed"})
	}
}

func TestCollectUnreadable(t *testing.T) {
	without(t)
	root := writeTree(t, map[string]string{"a.md": "# A\n\none\n", "b.md": "# B\n\none\n", "shut/c.md": "# C\n\none\n"})
	for _, name := range []string{"b.md", "shut"} {
		name = filepath.Join(root, name)
		if err := os.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(name, 0o755) }) // so that it can be removed
	}
	if f, err := os.Open(filepath.Join(root, "b.md")); err == nil {
		_ = f.Close()
		t.Skip("this user may read everything: unreadable files cannot be tested")
	}
	c := collect(t, root, Options{})
	wantLines(t, "origins", origins(c.Items), []string{"a.md:1 A"})
	wantLines(t, "notes", c.Notes[1:], []string{"left out b.md and 1 more: cannot be read"})
}

// entry is a file of a kind that is hard to make.
type entry struct {
	fs.DirEntry
	mode fs.FileMode
}

func (e entry) Type() fs.FileMode { return e.mode }
func (e entry) IsDir() bool       { return false }

func TestCollectBounds(t *testing.T) {
	root := writeTree(t, map[string]string{"a.md": "# A\n\none\n"})
	tests := []struct {
		name, why string
		c         collector
		file      string
		mode      fs.FileMode
		want      string
	}{
		{"pipe", "reading it would wait for ever", collector{}, "a.md", fs.ModeNamedPipe, "left out a.md: not a regular file"},
		{"files", "a tree of millions", collector{files: maxFiles}, "a.md", 0, "left out a.md: beyond the first 20000"},
		{"bytes", "a tree of gigabytes", collector{bytes: maxTreeBytes}, "a.md", 0, "left out a.md: beyond the first 64 MiB"},
		{"gone", "removed between the look at the folder and the file", collector{}, "gone.md", 0, "left out gone.md: cannot be read"},
		{"allowed", "the last one that fits", collector{files: maxFiles - 1, bytes: maxTreeBytes - 10}, "a.md", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.file(filepath.Join(root, tt.file), tt.file, entry{mode: tt.mode})
			if got := strings.Join(tt.c.leftOut.notes(), "\n"); got != tt.want {
				t.Errorf("notes %q, want %q: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestCollectFails(t *testing.T) {
	root := writeTree(t, map[string]string{"a.md": "# A\n\none\n"})
	for _, name := range []string{filepath.Join(root, "nowhere"), filepath.Join(root, "a.md"), root + "\x00"} {
		if c, err := Collect(t.Context(), name, Options{}); err == nil {
			t.Errorf("%q is no folder, but has %d items", name, len(c.Items))
		}
	}
	empty := t.TempDir()
	if c := collect(t, empty, Options{}); len(c.Items) != 0 {
		t.Errorf("an empty folder has %d items", len(c.Items))
	}
}

func TestCollectTwiceIsTheSame(t *testing.T) {
	root := repository(t)
	first, second := collect(t, root, Options{}), collect(t, root, Options{})
	wantLines(t, "notes", second.Notes, first.Notes)
	if len(first.Items) != len(second.Items) {
		t.Fatalf("%d items, then %d", len(first.Items), len(second.Items))
	}
	for i, a := range first.Items {
		b := second.Items[i]
		pa, _ := a.Priority()
		pb, _ := b.Priority()
		ta, _ := a.Timestamp()
		tb, _ := b.Timestamp()
		if a.Content() != b.Content() || Origin(a) != Origin(b) || a.Tokens() != b.Tokens() || !slices.Equal(a.Tags(), b.Tags()) || pa != pb || !ta.Equal(tb) {
			t.Errorf("item %d is %q, then %q", i, Origin(a), Origin(b))
		}
	}
}

func TestCollectCountsAsItIsTold(t *testing.T) {
	without(t)
	root := writeTree(t, map[string]string{"a.md": "# A\n\none\n"})
	c := collect(t, root, Options{CountTokens: func(text string) int { return 1000 + len(text) }})
	if got, want := c.Items[0].Tokens(), 1000+len("--- a.md:1 A ---\n# A\n\none"); got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
}

func TestFindRoot(t *testing.T) {
	tests := []struct {
		name, why string
		files     []string
		from      string
		want      string
	}{
		{"workspace", "the root of an archive, above the module of the example", []string{"go.work", "examples/x/go.mod"}, "examples/x", "."},
		{"repository", "the root of any repository", []string{".git/HEAD", "a/b/c.md"}, "a/b", "."},
		{"nearest", "an archive in a repository is a tree of its own", []string{".git/HEAD", "a/go.work", "a/b/c.md"}, "a/b", "a"},
		{"module", "a single module without either", []string{"go.mod", "a/b.go"}, "a", "."},
		{"inner module", "the nearest module", []string{"go.mod", "a/go.mod", "a/b/c.go"}, "a/b", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for _, name := range tt.files {
				write(t, root, name, "x")
			}
			if got, want := FindRoot(filepath.Join(root, tt.from)), filepath.Join(root, tt.want); got != want {
				t.Errorf("%s, want %s: %s", got, want, tt.why)
			}
		})
	}
}

func TestCut(t *testing.T) {
	line := strings.Repeat("é", 30) + "\n"
	long := strings.Repeat(line, 1+maxItemBytes/len(line))
	got := cut(long)
	head, note, _ := strings.Cut(got, "\n[cut here: ")
	if !strings.HasPrefix(long, head+"\n") || len(head) > maxItemBytes || len(head) < maxItemBytes-len(line) {
		t.Errorf("%d bytes are kept: not up to the last line that fits", len(head))
	}
	if want := strconv.Itoa(len(long)-len(head)) + " more bytes]"; note != want {
		t.Errorf("note %q, want %q", note, want)
	}
	if one := cut(strings.Repeat("é", maxItemBytes)); !utf8.ValidString(one) {
		t.Error("a rune is cut in two")
	}
	if fits := strings.Repeat("x", maxItemBytes); cut(fits) != fits {
		t.Error("what fits is cut")
	}
}

func TestConversation(t *testing.T) {
	items, err := Conversation("Why \xff?", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(items) != 2 || items[0].Kind() != cupel.KindSystemPrompt || items[1].Kind() != cupel.KindMessage || !items[0].Pinned() || !items[1].Pinned() {
		t.Fatalf("items %v, want a pinned system prompt and a pinned message", origins(items))
	}
	if got, want := items[1].Content(), "Why \uFFFD?"; got != want {
		t.Errorf("question %q, want %q", got, want)
	}
	if got, want := items[1].Tokens(), (len("--- question ---\nWhy \uFFFD?")+3)/4; got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
	for _, blank := range []string{"", " \n"} {
		if items, err := Conversation(blank, nil); err != nil || len(items) != 1 {
			t.Errorf("without a question: %d items, %v; want the system prompt alone", len(items), err)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(stackGo))
	f.Add([]byte("# A\n\n```\n# B\n```\nC\n---\n\ntext"))
	f.Add([]byte("---\n"))
	f.Add([]byte("package p\n//line x:1\nfunc (((x) F() {}"))
	f.Add([]byte("package p\nfunc (*[]int) F(\xff) {}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file := sourceFile{path: "x/y.go", content: content, time: fileTime}
		declarations, _ := file.declarations()
		for _, d := range append(declarations, file.sections()...) {
			if len(content) == 0 {
				continue
			}
			items, err := finish([]draft{d}, estimateTokens)
			if err != nil {
				t.Fatal(err)
			}
			it := items[0]
			if !utf8.ValidString(it.Content()) || !utf8.ValidString(Origin(it)) || strings.ContainsAny(Origin(it), "\n\x1b\x00") {
				t.Errorf("%q from %q is not text", it.Content(), Origin(it))
			}
			if it.NumTags() > maxTags || it.Tokens() <= 0 || len(it.Content()) > maxItemBytes+64 {
				t.Errorf("%d tags, %d tokens, %d bytes", it.NumTags(), it.Tokens(), len(it.Content()))
			}
		}
	})
}
