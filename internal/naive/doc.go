// Package naive is a plain model of the specification: its pseudocode, chapter
// by chapter, with the rulings applied and without optimizations. Tests compare
// the engine with it, benchmarks use it as their baseline, and each of its
// rules can be broken on purpose ([Fault]) to check that the conformance
// vectors detect it.
//
// It shares the data types of package cupel (items, budgets, reports) but no
// strategies: a configuration is a tree of plain structs. Scorers are quadratic
// where the chapters are, and the knapsack is the chapter's dynamic program
// with its keep table.
package naive
