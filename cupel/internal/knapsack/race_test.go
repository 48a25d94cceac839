//go:build race

package knapsack

func init() { thinned = 20 }
