package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
cpu: Some Processor
BenchmarkTarget/run-100/engine-2  	 100	 30 ns/op	 8 B/op	 3 allocs/op
BenchmarkTarget/run-100/engine-2  	 100	 10 ns/op	 9 B/op	 3 allocs/op
BenchmarkTarget/run-100/engine-2  	 100	 20 ns/op	 7 B/op	 3 allocs/op
BenchmarkOther/run-100/engine-2  	 100	 1 ns/op
BenchmarkTarget/goroutines-2  	 1	 5 ns/op	 1.1 cpu-speedup	 1.2 engine/cpu
BenchmarkTarget/goroutines-2  	 1	 6 ns/op	 1.9 cpu-speedup	 0.9 engine/cpu
BenchmarkTarget/goroutines-2  	 1	 6 ns/op	 1.85 cpu-speedup	 0.7 engine/cpu
BenchmarkTarget/goroutines-2  	 1	 6 ns/op	 2 cpu-speedup	 0.8 engine/cpu
BenchmarkTarget/goroutines-2  	 1	 6 ns/op	 1.91 cpu-speedup	 0.95 engine/cpu
BenchmarkTarget/run-100/ratios-to-engine-2  	 1	 5 ns/op	 3 report
BenchmarkTarget/run-100/ratios-to-engine-2  	 1	 5 ns/op	 2 report
BenchmarkTarget/run-100/ratios-to-engine-2  	 1	 5 ns/op	 4 report
PASS
`

func TestParse(t *testing.T) {
	m, err := parse(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, unit string
		want       float64
		why        string
	}{
		{"run-100/engine", "ns/op", 10, "the least time"},
		{"run-100/engine", "B/op", 8, "the median of everything else"},
		{"run-100/ratios-to-engine", "report", 2, "the least ratio, in a unit of its own"},
	}
	if got := m.when("goroutines", "engine/cpu", "cpu-speedup"); got != 0.9 {
		t.Errorf("goroutines: got %v, want 0.9: the median of the three rounds in which the machine was near its best", got)
	}
	for _, tt := range tests {
		if got := m.get(tt.name, tt.unit); got != tt.want {
			t.Errorf("%s in %s: got %v, want %v: %s", tt.name, tt.unit, got, tt.want, tt.why)
		}
	}
	if got := machine(m); got != "Measured with linux, Some Processor: the least times and ratios of 5 rounds, and the median of everything else." {
		t.Errorf("machine: %q", got)
	}
}

func TestNothingMeasured(t *testing.T) {
	if _, err := parse(strings.NewReader("PASS\n")); err == nil {
		t.Error("an output without results must be an error: the tables would be empty")
	}
	m, err := parse(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := targetTable(m); err == nil || !strings.Contains(err.Error(), "run-100/null") {
		t.Errorf("got %v, want an error that names what is missing", err)
	}
}

func TestReplace(t *testing.T) {
	text := "a\n<!-- x: generated -->\nold\n<!-- end -->\nb\n"
	got, err := replace(text, map[string]string{"x": "new\n"})
	if want := "a\n<!-- x: generated -->\n\nnew\n\n<!-- end -->\nb\n"; err != nil || got != want {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
	for name, blocks := range map[string]map[string]string{
		"a block that the document asks for is not there": {},
		"a block has no place in the document":            {"x": "", "y": ""},
	} {
		if _, err := replace(text, blocks); err == nil {
			t.Errorf("%s, and that is no error", name)
		}
	}
}

func TestFigures(t *testing.T) {
	for got, want := range map[string]string{
		duration(0): "0", duration(12): "12 ns", duration(1234): "1.23 µs", duration(1e12): "1,000 s",
		round(0.00044): "0.00044", round(2.345): "2.35", round(29.4): "29", round(1973): "1,973", grouped(1234567): "1,234,567",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
