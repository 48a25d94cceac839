package main

import (
	"os"
	"strings"
	"testing"
)

// page reads the page of this repository.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFunctions(t *testing.T) {
	var m module
	err := m.add("a_test.go", []byte(`package a
func TestMain(m *testing.M) {}
func TestA(t *testing.T) {}
func (s suite) TestB(t *testing.T) {}
func ExampleA() {}
func FuzzA(f *testing.F) {}
func BenchmarkA(b *testing.B) {}
func helper() {}
`))
	if want := (module{testCode: 8, tests: 1, examples: 1, fuzz: 1, benchmarks: 1}); err != nil || m != want {
		t.Errorf("got %v, %v, want %v", m, err, want)
	}
}

// TestRefresh writes counts to the page and holds other counts against them.
func TestRefresh(t *testing.T) {
	was := counted{modules: map[string]*module{"": {}, "cupel": {code: 1234}}, vectors: 500, faults: 10, sdks: []string{"- agents made with `an SDK`"}}
	text, err := was.refresh(page(t), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1,234 lines of Go", "in 2 modules", "The 500 vectors in", "\n| root | 0 | 0 | 0 | 0 | 0 |\n| cupel | 1,234 |", "\n\n- agents made with `an SDK`\n- traces go"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	for _, row := range []struct {
		vectors, faults int
		want            string
		why             string
	}{
		{500, 10, "", "nothing changed"},
		{525, 11, "", "less than 5 %, and one of few"},
		{530, 10, "docs/testing.md says 500 conformance vectors, and there are 530: run make testing-page", "more"},
		{470, 10, "docs/testing.md says 500 conformance vectors, and there are 470: run make testing-page", "fewer"},
		{500, 12, "docs/testing.md says 10 planted faults, and there are 12: run make testing-page", "two of few"},
	} {
		now := was
		now.vectors, now.faults = row.vectors, row.faults
		_, err := now.refresh(text, true)
		if err == nil && row.want != "" || err != nil && err.Error() != row.want {
			t.Errorf("got %v, want %q, since %s", err, row.want, row.why)
		}
	}
	if _, err := was.refresh("no page", false); err == nil {
		t.Error("a page without numbers is refreshed")
	}
}

func TestMutantRates(t *testing.T) {
	const output = `package                         killed     drawn         not covered timed out equivalent   time
cupeltest                           80        88  90.9 %           0         0          0  136 s
survived: cupeltest/diff.go:24 diff constant +1: 1
cupel                              114       130  87.7 %           0         0          0   36 s
`
	before := "| mutants that tests kill | 4 of 6 |\n| package | killed |\n|---|\n| cupel/placer | 3 | 4 | 75.0 % | before |\n| cupeltest | 1 | 2 | 50.0 % | before |\n"
	const want = "| mutants that tests kill | 197 of 222 |\n| package | killed |\n|---|\n" +
		"| cupel | 114 | 130 | 87.7 % | today |\n| cupel/placer | 3 | 4 | 75.0 % | before |\n| cupeltest | 80 | 88 | 90.9 % | today |\n"
	if got, err := withRates(before, output, "today"); err != nil || got != want {
		t.Errorf("got %v and\n%s\nwant\n%s", err, got, want)
	}
	if _, err := withRates(before, "nothing\n", "today"); err == nil {
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
