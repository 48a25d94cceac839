package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func fixture(t *testing.T, equivalent string) *settings {
	t.Helper()
	name := filepath.Join(t.TempDir(), "equivalent.txt")
	if err := os.WriteFile(name, []byte(equivalent), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("testdata/fixture")
	if err != nil {
		t.Fatal(err)
	}
	return &settings{root: root, patterns: []string{"./..."}, seeds: []uint64{1}, n: 1000, least: 70, short: true, equivalent: name, workers: 2}
}

func measure(t *testing.T, s *settings) (string, bool) {
	t.Helper()
	var out strings.Builder
	ok, err := s.measure(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), ok
}

// TestFixture measures a package whose mutants are all known.
func TestFixture(t *testing.T) {
	got, ok := measure(t, fixture(t, `
# A comment.
./fixture.go Clamp
boundary: n < low
Both give low.

./fixture.go Clamp
drop right of ||: n > high || high < low
Not so: high may be less than low. No test shows it.
`))
	got = regexp.MustCompile(` +\d+ s\n`).ReplaceAllString(got, " N s\n")
	const want = `package                         killed     drawn         not covered timed out equivalent   time
.                                   45        61  73.8 %           3         1          2 N s
left out: TestBroken of fixture fails or crashes with the mutants of . compiled in and switched off
survived: ./fixture.go:20 Clamp boundary: n > high
survived: ./fixture.go:20 Clamp boundary: high < low
survived: ./fixture.go:31 Sum arithmetic *: total * step
survived: ./fixture.go:36 Find remove assignment: at, err = -1, errors.New("not found")
survived: ./fixture.go:36 Find constant +1: -1
survived: ./fixture.go:43 Find return zero 1: return at, err
survived: ./fixture.go:48 Twice return zero 1: return Find(list, 2*wanted)
survived: ./fixture.go:53 Half return zero 0: return d/(2*time.Nanosecond) | 0
survived: ./fixture.go:53 Half bits |: d/(2*time.Nanosecond) | 0
survived: ./fixture.go:53 Half arithmetic /: d/(2*time.Nanosecond)
survived: ./fixture.go:53 Half constant +1: (2*time.Nanosecond)
survived: ./fixture.go:53 Half constant +1: 0
not covered: ./fixture.go:58 Idle remove assignment: b = append(make([]byte, 0, 16), b...)
not covered: ./fixture.go:58 Idle constant +1: 0
not covered: ./fixture.go:59 Idle return zero 0: return b
survived: ./fixture.go:72 Drain return zero 0: return n
`
	if got != want || !ok {
		t.Errorf("all is well: %t; got\n%s\nwant\n%s", ok, got, want)
	}
}

func TestAlsoOtherTests(t *testing.T) {
	s := fixture(t, "")
	s.also = []string{"./user"}
	s.patterns = []string{"."}
	got, _ := measure(t, s)
	for _, want := range []string{
		"survived: ./fixture.go:53 Half arithmetic /: d/(2*time.Nanosecond), killed by ./user\n",
		"survived: ./fixture.go:53 Half constant +1: 0, killed by ./user\n",
		"survived: ./fixture.go:20 Clamp boundary: n > high\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("not there: %s\n%s", want, got)
		}
	}
}

func TestFailures(t *testing.T) {
	s := fixture(t, `
./fixture.go Half
constant +1: 0
Nothing looks at it.

./fixture.go Clamp
boundary: n < low
Both give low.

./fixture.go Clamp
boundary: n <= low
Was there once.

./fixture.go Clamp
negate: n < low
Not so.`)
	s.patterns = []string{"."}
	s.least = 75
	got, ok := measure(t, s)
	const want = `
FAILED: listed as equivalent, but there is no such mutant: ./fixture.go Clamp boundary: n <= low
FAILED: .: 4 of 63 mutants are listed as equivalent; at most 5 % may be
FAILED: .: 73.3 % of the mutants are killed, less than 75 %
FAILED: listed as equivalent, but killed: ./fixture.go:17 Clamp negate: n < low
`
	if ok || !strings.HasSuffix(got, want) {
		t.Errorf("all is well: %t; got\n%s\nwant at its end\n%s", ok, got, want)
	}
	for _, text := range []string{
		"./fixture.go Clamp\nboundary: n < low",
		"./fixture.go\nboundary: n < low\nNo function.",
		"./fixture.go Clamp\nx: y\nOnce.\n\n./fixture.go Clamp\nx: y\nTwice.",
	} {
		if _, err := readEquivalent(fixture(t, text).equivalent); err == nil {
			t.Errorf("no error for\n%s", text)
		}
	}
}

func TestSample(t *testing.T) {
	s := fixture(t, "")
	pkgs, err := load(t.Context(), s.root, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	p := pkgs[0]
	if p.discarded != 3 {
		t.Errorf("%d mutants do not compile, want the 3 of Shadow that need the type int", p.discarded)
	}
	one, again, two := p.sample([]uint64{1}, 10, nil), p.sample([]uint64{1}, 10, nil), p.sample([]uint64{2}, 10, nil)
	if len(one) != 10 || !slices.Equal(one, again) || slices.Equal(one, two) {
		t.Errorf("drawn %d and %d with one seed, %d with another", len(one), len(again), len(two))
	}
	pooled := p.sample([]uint64{1, 2}, 10, nil)
	for _, m := range slices.Concat(one, two) {
		if !slices.Contains(pooled, m) {
			t.Errorf("pooled seeds lack %s", m)
		}
	}
	equivalent := map[string]string{one[0].key(): "drawn with ten others"}
	if drawn := p.sample([]uint64{1}, 10, equivalent); len(drawn) != 11 || !slices.Contains(drawn, one[0]) {
		t.Errorf("drawn %d, want ten and an equivalent one", len(drawn))
	}
}
