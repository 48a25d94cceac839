package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// measurements are the results of a benchmark by name, such as
// "run-100/engine", and unit, such as "ns/op".
type measurements struct {
	values map[string]map[string][]float64
	header []string // what the output says about the machine
	runs   int      // of each benchmark, at most
}

// parse reads what go test -bench prints.
func parse(r io.Reader) (*measurements, error) {
	m := &measurements{values: make(map[string]map[string][]float64)}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		for _, key := range []string{"goos: ", "goarch: ", "cpu: "} {
			if value, ok := strings.CutPrefix(line, key); ok && !slices.Contains(m.header, strings.TrimSpace(value)) {
				m.header = append(m.header, strings.TrimSpace(value))
			}
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "BenchmarkTarget/") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "BenchmarkTarget/")
		if dash := strings.LastIndex(name, "-"); dash > 0 { // the number of processors
			name = name[:dash]
		}
		units := m.values[name]
		if units == nil {
			units = make(map[string][]float64)
			m.values[name] = units
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			units[fields[i+1]] = append(units[fields[i+1]], value)
			m.runs = max(m.runs, len(units[fields[i+1]]))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(m.values) == 0 {
		return nil, fmt.Errorf("no results of BenchmarkTarget")
	}
	return m, nil
}

// get returns the median, of times and their ratios the least, which is what is
// left when nothing else disturbs the machine. It panics with a missingError when nothing of that
// name was measured: half a table would be worse than none.
func (m *measurements) get(name, unit string) float64 {
	values := slices.Sorted(slices.Values(m.values[name][unit]))
	if len(values) == 0 {
		panic(missingError{name, unit, slices.Sorted(maps.Keys(m.values))})
	}
	if unit == "ns/op" || strings.Contains(name, "/ratios-to-") {
		return values[0]
	}
	return values[len(values)/2]
}

func (m *measurements) time(name string) float64 { return m.get(name, "ns/op") }

type missingError struct {
	name, unit string
	known      []string
}

func (e missingError) Error() string {
	return fmt.Sprintf("nothing was measured as %s in %s; there are %s", e.name, e.unit, strings.Join(e.known, ", "))
}

// undisturbed is how near to its greatest value a unit must come for a round to
// count in when.
const undisturbed = 0.95

// when returns the median of the rounds in which another unit came near its
// greatest value.
func (m *measurements) when(name, unit, other string) float64 {
	m.get(name, unit) // or nothing was measured
	others := m.values[name][other]
	var values []float64
	for i, value := range m.values[name][unit] {
		if others[i] >= undisturbed*slices.Max(others) {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// catchMissing turns the panic of get into an error.
func catchMissing(err *error) {
	switch e := recover().(type) {
	case nil:
	case missingError:
		*err = e
	default:
		panic(e)
	}
}
