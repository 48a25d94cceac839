// Package naive is a plain model of the specification and of docs/spec/units.md:
// their pseudocode, chapter by chapter, with the rulings applied and without
// optimizations. Tests compare the engine with it, and benchmarks use it as
// their baseline. It knows nothing of near copies.
//
// It shares the data types of package cupel (items, budgets, reports) but no
// strategies: a configuration is a tree of plain structs. Scorers are quadratic
// where the chapters are, and the knapsack is the chapter's dynamic program
// with its keep table. An item without a group is a unit of one.
package naive
