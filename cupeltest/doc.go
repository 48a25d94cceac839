// Package cupeltest tests what a Cupel pipeline selects, and the strategies
// that people write for it.
//
// # The chain
//
// [Should] asserts over a [cupel.SelectionReport] and stops the test at the
// first link that fails:
//
//	report := cupeltest.DryRun(t, pipeline, items, budget)
//	cupeltest.Should(t, report).
//		IncludeItemWithKind(cupel.KindSystemPrompt).
//		ExcludeItemWithReason(cupel.ExcludeBudgetExceeded).
//		HaveBudgetUtilizationAbove(0.7, budget)
//
// [Expect] reports every link that fails, and [That] is for use outside tests:
// its chain ends in Err. The chain has the 13 patterns of the Testing
// Vocabulary chapter with its messages, and some additions, which say that
// they are. Predicates for common questions are [ByContent],
// [ByContentPrefix], [ByTag], [ByKind], [BySource] and [ByKindAndSource].
//
// Scores in messages are in the shortest decimal form. Kinds compare as items
// compare them, without ASCII case, and lists in messages name each kind or
// reason once, in order of first appearance.
//
// # The kit
//
// [TestScorer], [TestSlicer], [TestPlacer] and [TestTraceCollector] hold an
// implementation to the contract of its chapter and report each rule that it
// breaks, in a sentence. Run them under the race detector too:
//
//	func TestByLength(t *testing.T) {
//		cupeltest.TestScorer(t, ByLength{})
//	}
//
// # Helpers
//
// [Item], [Items] and [Budget] build what a test needs and panic on a mistake;
// [DryRun] runs a pipeline; [Deterministic] runs it several times.
//
// The package does not import testing: it speaks to the test through [T],
// which *testing.T, *testing.B and *testing.F implement.
package cupeltest
