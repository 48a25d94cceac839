package cupel

import (
	"fmt"
	"runtime/debug"

	"github.com/wollax/cupel-go/cupel/internal/value"
)

// TokenCounter counts the tokens of a text as a model would see it.
//
// CountTokens returns a number that is at least 0, or an error, for example of a
// service that counts over the network. Several goroutines may call it at
// once. [HeuristicCounter] estimates; companion modules such as cupeltiktoken
// count exactly.
type TokenCounter interface {
	CountTokens(text string) (int, error)
}

// NewItemFrom is [NewContextItem] with the size that counter counts for
// content. It fails as NewContextItem does, before counting except for a
// variant that is too large; with an [InvalidConfigError] if counter is nil; and
// with a [StrategyError] that names counter if it fails, panics or returns a
// negative number.
func NewItemFrom(counter TokenCounter, content string, opts ...ItemOption) (*ContextItem, error) {
	it := itemDraft{content: content, kind: KindMessage, source: SourceChat}
	problems := append(it.apply(opts), it.finish(false)...)
	if value.IsNil(counter) {
		problems = append(problems, &InvalidConfigError{Component: "NewItemFrom", Field: "counter", Reason: "a token counter is required here, for example cupel.HeuristicCounter{}"})
	}
	if len(problems) > 0 {
		return nil, join(problems)
	}
	n, err := countTokens(counter, it.content)
	if err != nil {
		return nil, err
	}
	it.tokens = n
	if problems := it.finish(true); len(problems) > 0 {
		return nil, join(problems)
	}
	return (*ContextItem)(&it), nil
}

func countTokens(counter TokenCounter, text string) (n int, err error) {
	failed := StrategyError{Role: "token counter", Strategy: value.TypeName(counter), Reason: "failed"}
	defer func() {
		if v := recover(); v != nil {
			failed.Reason, failed.Err = "panicked", &PanicError{Value: v, Stack: debug.Stack()}
			err = &failed
		}
	}()
	n, err = counter.CountTokens(text)
	switch {
	case err != nil && value.IsNil(err):
		failed.Reason += " with a nil " + value.TypeName(err)
		return 0, &failed
	case err != nil:
		failed.Err = err
		return 0, &failed
	case n < 0:
		failed.Reason = fmt.Sprintf("returned %d tokens", n)
		return 0, &ContractError{failed}
	}
	return n, nil
}

// HeuristicCounter estimates the tokens of a text without a vocabulary. It cuts
// the text where the tokenizers of current models do, at words, numbers,
// punctuation and white space, and adds up the usual number of tokens of each
// piece. It takes time linear in the text and does not allocate.
//
// On the samples of this package's tests, in testdata/tokens, the estimates
// divided by the counts of cl100k_base are
//
//	            median   lowest   highest
//	English      1.03     1.01      1.06
//	code         1.04     0.97      1.12
//	CJK          0.98     0.75      1.16
//	JSON         1.03     1.00      1.12
//
// For other scripts, docs/benchmarks.md in the repository has a table: estimates are
// 0.77 to 1.29 times the count of cl100k_base, and 0.89 to 3.15 times that of
// o200k_base, which has longer tokens for these scripts.
//
// Give a budget of estimates a margin, with [WithEstimationSafetyMargin].
// Estimates may be off by more for rare characters and for text that is not
// language, such as Base64 and hashes.
//
// The zero HeuristicCounter is ready to use.
type HeuristicCounter struct{}

// CountTokens implements [TokenCounter]. It never fails. Any text that is not
// empty has at least one token.
func (HeuristicCounter) CountTokens(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	e := estimate{rest: text}
	for e.rest != "" {
		e.piece()
	}
	return max(1, (e.milli+500)/1000), nil
}
