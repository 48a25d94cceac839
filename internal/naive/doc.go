// Package naive is a model of the specification: its pseudocode, chapter by
// chapter, with the rulings applied, and nothing cleverer. Tests compare the
// engine with it, benchmarks take it as their baseline, and each of its rules
// can be broken on purpose ([Fault]) to show that the conformance vectors
// notice.
//
// It shares the contract types of package cupel (items, budgets, reports) and
// no strategy: a configuration is a tree of plain structs. Scorers are
// quadratic where the chapters are, and the knapsack is the chapter's dynamic
// program with its keep table.
package naive
