// Package cupeltest helps test what a Cupel pipeline selects, and custom
// strategies.
//
// # The chain
//
// [Should] makes assertions about a [cupel.SelectionReport] and stops the test
// at the first failure:
//
//	report, _ := cupeltest.Run(t, pipeline, items, budget)
//	cupeltest.Should(t, report).
//		IncludeItemWithKind(cupel.KindSystemPrompt).
//		ExcludeItemWithReason(cupel.ExcludeBudgetExceeded).
//		HaveBudgetUtilizationAbove(0.7, budget)
//
// [Expect] reports every failure, and [That] works outside tests. The chain has the 13
// patterns of the specification's Testing Vocabulary chapter, with its messages, and
// some additions; ASSERTIONS.md lists them with the exact text of each failure.
// Common predicates are [ByContent], [ByContentPrefix], [ByTag] and [ByKind].
//
// Messages show scores in the shortest decimal form, shortened in the first line, and
// list each kind or reason once, in order of first appearance. Kinds are compared under
// ASCII case folding, as in package cupel.
//
// # The kit
//
// [TestScorer], [TestSlicer] and [TestPlacer] check that an implementation keeps its
// contract, and report each rule that it breaks. They take a function that makes the
// implementation, since some faults show only in the first call. RULES.md has the rules;
// [Except] leaves some out by name. Run them under the race detector too:
//
//	func TestByLength(t *testing.T) {
//		cupeltest.TestScorer(t, func() strategy.Scorer { return ByLength{} })
//	}
//
// # Helpers
//
// [Item], [Items] and [Budget] build test data and panic on a mistake; [Run] runs a
// pipeline.
//
// The package does not import testing: it reports to the test through [T],
// which *testing.T, *testing.B and *testing.F implement.
package cupeltest
