package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes a small repository.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFunctions(t *testing.T) {
	var m module
	err := m.functions("a_test.go", []byte(`package a
func TestMain(m *testing.M) {}
func TestA(t *testing.T) {}
func (s suite) TestB(t *testing.T) {}
func ExampleA() {}
func FuzzA(f *testing.F) {}
func BenchmarkA(b *testing.B) {}
func helper() {}
`))
	if want := (module{Tests: 1, Examples: 1, Fuzz: 1, Benchmarks: 1}); err != nil || m != want {
		t.Errorf("got %+v, %v, want %+v", m, err, want)
	}
}

func TestStale(t *testing.T) {
	was := counted{Vectors: 500, Faults: 10}
	for _, row := range []struct {
		now  counted
		want string
		why  string
	}{
		{counted{Vectors: 500, Faults: 10}, "", "nothing changed"},
		{counted{Vectors: 525, Faults: 11}, "", "less than 5 %, and one of few"},
		{counted{Vectors: 530, Faults: 10}, "docs/testing.md says 500 conformance vectors, and there are 530: run make testing-page", "more"},
		{counted{Vectors: 470, Faults: 10}, "docs/testing.md says 500 conformance vectors, and there are 470: run make testing-page", "fewer"},
		{counted{Vectors: 500, Faults: 12}, "docs/testing.md says 10 planted faults, and there are 12: run make testing-page", "two of few"},
	} {
		err := stale(was, row.now)
		if err == nil && row.want != "" || err != nil && err.Error() != row.want {
			t.Errorf("got %v, want %q, since %s", err, row.want, row.why)
		}
	}
}

func TestMutantRates(t *testing.T) {
	root := tree(t, map[string]string{"out.txt": `package                         killed     drawn         not covered timed out equivalent   time
cupeltest                           80        88  90.9 %           0         0          0  136 s
survived: cupeltest/diff.go:24 diff constant +1: 1
cupel                              114       130  87.7 %           0         0          0   36 s
`, "none.txt": "nothing\n"})
	m := measured{Mutants: []rate{{"cupeltest", 1, 2, "before"}, {"cupel/placer", 3, 4, "before"}}}
	if err := m.mutants(filepath.Join(root, "out.txt"), "today"); err != nil {
		t.Fatal(err)
	}
	want := []rate{{"cupel", 114, 130, "today"}, {"cupel/placer", 3, 4, "before"}, {"cupeltest", 80, 88, "today"}}
	for i, r := range want {
		if len(m.Mutants) != len(want) || m.Mutants[i] != r {
			t.Fatalf("got %v, want %v", m.Mutants, want)
		}
	}
	if m.Killed() != 197 || m.Drawn() != 222 {
		t.Errorf("%d of %d", m.Killed(), m.Drawn())
	}
	if err := m.mutants(filepath.Join(root, "none.txt"), "today"); err == nil {
		t.Error("an output without rates is read")
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{7: "7", 1234: "1,234", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// TestPage holds that the page of this repository is what its numbers make. That
// they are not old is for make lint to check: work in progress may add tests.
func TestPage(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	known, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	want, err := render(known)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "docs", "testing.md"))
	if err != nil || string(got) != want || strings.Contains(want, "<no value>") {
		t.Errorf("docs/testing.md is not what the numbers make: run make testing-page (%v)", err)
	}
}
