package main

import (
	"fmt"
	"math"
	"strings"
)

// target is a row of the table of targets.
type target struct {
	work, reach string
	measure     func(m *measurements) []check
}

// check is one figure of a row and what it may be at most.
type check struct {
	text        string
	value, most float64
}

// times is a check of a ratio.
func times(text string, value, most float64) check {
	return check{fmt.Sprintf(text, round(value)), value, most}
}

// atLeast is a check of a figure that is to be large.
func atLeast(text string, value, least float64) check {
	return check{fmt.Sprintf(text, round(value)), -value, -least}
}

var worstCases = []string{"equal-density", "subset-sum", "equal-weight", "proportional"}

var targets = []target{
	{"100 items, Composite(Recency, Priority, Kind), Greedy, UShaped", "≤ 25 µs, ≤ 12 allocations; untraced = null collector, to the allocation",
		func(m *measurements) []check {
			engine, null := "run-100/engine", "run-100/null"
			return []check{
				{duration(m.time(engine)), m.time(engine), 25e3},
				{fmt.Sprintf("%.0f allocations", m.get(engine, "allocs/op")), m.get(engine, "allocs/op"), 12},
				{fmt.Sprintf("%.0f with the null collector", m.get(null, "allocs/op")), math.Abs(m.get(null, "allocs/op") - m.get(engine, "allocs/op")), 0},
			}
		}},
	{"the same with a full DiagnosticTraceCollector report", "≤ 2.5 times the untraced run",
		func(m *measurements) []check {
			const ratios = "run-100/ratios-to-engine"
			return []check{
				times("%s times at level Stage", m.get(ratios, "report-Stage"), 2.5),
				times("%s times at level Item", m.get(ratios, "report-Item"), 2.5),
				times("%s times for DryRun", m.get(ratios, "dry-run"), 2.5),
			}
		}},
	{"1,000 items, an observer of times, counts and counts by reason", "≤ 1.1 times the untraced run, nothing allocated for an item",
		func(m *measurements) []check {
			allocations := m.get("run-1000/reasons", "allocs/op") - m.get("run-1000/engine", "allocs/op")
			return []check{
				times("%s times", m.get("run-1000/ratios-to-engine", "reasons"), 1.1),
				{fmt.Sprintf("%+.0f allocations", allocations), allocations, 10},
			}
		}},
	{"10,000 items, Composite(Recency, Priority, Kind, Frequency with 3 of 50 tags)", "≥ 300 times the naive model; ≤ 10 sorts",
		func(m *measurements) []check {
			run := m.time("run-10000/engine")
			return []check{
				atLeast("%s times the model", m.time("run-10000/naive")/run, 300),
				times("%s sorts", run/m.time("run-10000/sort"), 10),
			}
		}},
	{"1,000,000 items, the same", "≤ 18 sorts; ≤ 400 bytes of garbage an item; ≤ 2.5 s",
		func(m *measurements) []check {
			run, garbage := m.time("run-1000000/engine"), m.get("run-1000000/engine", "B/op")/1e6
			return []check{
				times("%s sorts", run/m.time("run-1000000/sort"), 18),
				{fmt.Sprintf("%.0f bytes an item", garbage), garbage, 400},
				{duration(run), run, 2.5e9},
			}
		}},
	{"Frequency alone, 1,000,000 items with 3 of 50 tags; 20,000 items with 20 of 200 tags", "≤ 5 sorts; ≥ 100 times the naive model",
		func(m *measurements) []check {
			return []check{
				times("%s sorts", m.time("frequency-1000000/engine")/m.time("frequency-1000000/sort"), 5),
				atLeast("%s times the model", 100*m.time("frequency-20000/naive-of-2000")/m.time("frequency-20000/engine"), 100),
			}
		}},
	{"Frequency, 30 of 5,000 tags: 100,000 items with all tags as frequent; 20,000 items with tags by Zipf's law", "≥ 6 and ≥ 20 times as fast as stamping the items in each tag's list",
		func(m *measurements) []check {
			faster := func(row string) float64 { return m.time(row+"/lists") / m.time(row+"/engine") }
			return []check{
				atLeast("%s times", faster("frequency-many-tags"), 6),
				atLeast("%s times by Zipf's law", faster("frequency-zipf"), 20),
			}
		}},
	{"counting the tokens of a word of 50 MB", "≤ 3 times the time of prose; heap ≤ 4 times the text",
		func(m *measurements) []check {
			const word = "tokens-50MB/word"
			return []check{
				times("%s times prose", m.time(word)/m.time("tokens-50MB/prose"), 3),
				times("heap %s times the text", m.get(word, "heap/text"), 4),
			}
		}},
	{"Scaled(Scaled(Recency)), 10,000 items", "within 3 times of Recency alone",
		func(m *measurements) []check {
			return []check{times("%s times", m.time("scaled-10000/engine")/m.time("scaled-10000/recency"), 3)}
		}},
	{"Knapsack, 10,000 items, 128,000 tokens, bucket 100", "≥ 8 times the plain DP with a bit table",
		func(m *measurements) []check {
			var checks []check
			for _, c := range []string{"continuous", "ranks", "six-values"} {
				row := "knapsack-100-" + c
				checks = append(checks, atLeast("%s times for "+spaced(c), m.time(row+"/table")/m.time(row+"/engine"), 8))
			}
			return checks
		}},
	{"Knapsack, bucket 1 (a table of 1.28 billion cells): continuous scores, ranks", "≤ 30 ms, ≤ 20 MB, the DP's exact choice",
		func(m *measurements) []check { return within(m, 30e6, 20e6, "continuous", "ranks") }},
	{"the same with six distinct values", "≤ 100 ms, ≤ 64 MB",
		func(m *measurements) []check { return within(m, 100e6, 64e6, "six-values") }},
	{"Knapsack, worst cases, while the plain DP's bit table would fit 256 MiB", "never slower than it by more than 1.3 times",
		func(m *measurements) []check {
			var checks []check
			for _, bucket := range []string{"100", "1"} {
				for _, c := range worstCases {
					row := "knapsack-" + bucket + "-" + c
					checks = append(checks, times("%s times for "+spaced(c)+", bucket "+bucket, m.time(row+"/engine")/m.time(row+"/table"), 1.3))
				}
			}
			return checks
		}},
	{"the same beyond, with a table of 5.12 billion cells", "bounded documented memory, ≤ 2.5 times the plain DP's cell count rate, cancellable",
		func(m *measurements) []check {
			var checks []check
			for _, c := range worstCases {
				const more = 4 // times the cells of the table at 128,000 tokens
				engine := "knapsack-beyond-" + c + "/engine"
				checks = append(checks, times("%s times for "+spaced(c), m.time(engine)/(more*m.time("knapsack-1-"+c+"/table")), 2.5))
			}
			return checks
		}},
	{"Quota, CountQuota, CountConstrainedKnapsack at 10,000 items", "within 2 times of their inner slicer",
		func(m *measurements) []check {
			over := func(wrapper, inner string) check {
				return times("%s times for "+spaced(wrapper), m.get("wrappers-10000/ratios-to-"+inner, wrapper), 2)
			}
			return []check{
				over("quota-greedy", "greedy"), over("count-quota-greedy", "greedy"), over("count-quota-greedy-dropping", "greedy"),
				over("quota-knapsack", "knapsack"), over("count-constrained-knapsack", "knapsack"), over("count-constrained-knapsack-dropping", "knapsack"),
			}
		}},
	{"10,000 items with groups, smaller forms and versions, four scorers as above; Greedy, ScoreGreedy, Knapsack", "≤ 2 times the same items without",
		func(m *measurements) []check {
			var checks []check
			for _, mixture := range []string{"pairs", "variants", "versions", "mixed"} {
				for _, slicer := range []string{"greedy", "scoregreedy", "knapsack"} {
					row := "units-10000/" + mixture + "-" + slicer + "/ratios-to-plain"
					checks = append(checks, times("%s times for "+mixture+" with "+slicer, m.get(row, "units"), 2))
				}
			}
			return checks
		}},
	{"writing a report of 30 MB as JSON, against json.Marshal of plain structs", "MarshalJSON ≤ 1.5 times; json.Marshal, which scans that result again, at most 1.5 more; ≤ 2 times the bytes allocated",
		func(m *measurements) []check {
			const ratios = "json/write/ratios-to-plain"
			all, again := m.get(ratios, "engine"), m.get(ratios, "ready")
			return []check{
				times("%s times for MarshalJSON", m.get(ratios, "method"), 1.5),
				{fmt.Sprintf("%s for json.Marshal, %s of it for scanning again", round(all), round(again)), all - again, 1.5},
				times("%s times the bytes", m.get("json/write/engine", "B/op")/m.get("json/write/plain", "B/op"), 2),
			}
		}},
	{"reading it with json.Unmarshal", "≤ 1.5 times; ≤ 2 times the bytes allocated",
		func(m *measurements) []check {
			return []check{
				times("%s times", m.get("json/read/ratios-to-plain", "engine"), 1.5),
				times("%s times the bytes", m.get("json/read/engine", "B/op")/m.get("json/read/plain", "B/op"), 2),
			}
		}},
	{"reading 106 MB of items with the command, against json.Unmarshal into plain structs", "≤ 2 times",
		func(m *measurements) []check {
			return []check{times("%s times", m.time("items/cupel")/m.time("items/plain"), 2)}
		}},
	{"two goroutines on one warm pipeline", "≥ 0.85 of the speed-up of a pure CPU loop",
		func(m *measurements) []check {
			// While others keep the machine busy there is no second processor to gain.
			return []check{
				atLeast("%s of it", m.when("goroutines", "engine/cpu", "cpu-speedup"), 0.85),
				atLeast("which is %s", m.when("goroutines", "cpu-speedup", "cpu-speedup"), 1.5),
			}
		}},
}

func within(m *measurements, ns, bytes float64, cases ...string) []check {
	var checks []check
	for _, c := range cases {
		engine := "knapsack-1-" + c + "/engine"
		checks = append(checks,
			check{duration(m.time(engine)) + " for " + spaced(c), m.time(engine), ns},
			check{fmt.Sprintf("%.1f MB", m.get(engine, "B/op")/1e6), m.get(engine, "B/op"), bytes})
	}
	return checks
}

// targetTable writes the table of targets.
func targetTable(m *measurements) (table string, err error) {
	defer catchMissing(&err)
	var b strings.Builder
	b.WriteString("| work | to reach | measured | holds |\n|---|---|---|---|\n")
	for _, t := range targets {
		var texts []string
		holds := "yes"
		for _, c := range t.measure(m) {
			texts = append(texts, c.text)
			if c.value > c.most {
				holds = "**no**"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.work, t.reach, strings.Join(texts, ", "), holds)
	}
	return b.String(), nil
}

func spaced(name string) string { return strings.ReplaceAll(name, "-", " ") }

// round shows two or three digits.
func round(x float64) string {
	switch {
	case x < 0.1:
		return fmt.Sprintf("%.2g", x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return grouped(int(x))
}

// grouped writes thousands apart.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// duration shows nanoseconds in a unit that suits them.
func duration(ns float64) string {
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= 1000*u.ns {
			return grouped(int(ns/u.ns)) + " " + u.name
		}
		if ns >= u.ns {
			return fmt.Sprintf("%.3g %s", ns/u.ns, u.name)
		}
	}
	if ns == 0 {
		return "0"
	}
	return fmt.Sprintf("%.0f ns", ns)
}
