package cupel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// A report goes to a file or another program as JSON.
func ExampleSelectionReport_MarshalJSON() {
	item, err := cupel.NewContextItem("a long log", 2048,
		cupel.WithKind(cupel.KindToolOutput),
		cupel.WithTimestamp(time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)))
	if err != nil {
		fmt.Println(err)
		return
	}
	report := cupel.SelectionReport{
		Events: []cupel.TraceEvent{{Stage: cupel.StageSlice, DurationMS: 1.4}},
		Excluded: []cupel.ExcludedItem{{
			Item:   item,
			Score:  0.45,
			Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 2048, AvailableTokens: 512}),
		}},
		TotalCandidates:       1,
		TotalTokensConsidered: 2048,
	}
	text, err := json.MarshalIndent(report, "", "  ")
	fmt.Println(string(text), err)
	// Output:
	// {
	//   "events": [
	//     {
	//       "stage": "Slice",
	//       "duration_ms": 1.4,
	//       "item_count": 0
	//     }
	//   ],
	//   "included": [],
	//   "excluded": [
	//     {
	//       "item": {
	//         "content": "a long log",
	//         "tokens": 2048,
	//         "kind": "ToolOutput",
	//         "source": "Chat",
	//         "timestamp": "2025-01-31T12:00:00Z"
	//       },
	//       "score": 0.45,
	//       "reason": {
	//         "reason": "BudgetExceeded",
	//         "item_tokens": 2048,
	//         "available_tokens": 512
	//       }
	//     }
	//   ],
	//   "total_candidates": 1,
	//   "total_tokens_considered": 2048
	// } <nil>
}

// Reports of newer or other implementations may hold reasons and fields that
// are not known here. They are kept.
func ExampleExclusionReason_UnmarshalJSON() {
	var reason cupel.ExclusionReason
	err := json.Unmarshal([]byte(`{"reason": "RankTooLow", "rank": 12}`), &reason)
	fmt.Println(reason, err)

	text, err := json.Marshal(reason)
	fmt.Println(string(text), err)
	// Output:
	// RankTooLow <nil>
	// {"reason":"RankTooLow","rank":12} <nil>
}

// What is read is checked as construction checks it. The error says where the
// mistake is.
func ExampleDecodeError() {
	var items []*cupel.ContextItem
	err := json.Unmarshal([]byte(`[{"content": "hello", "tokens": 2, "kind": " "}]`), &items)
	fmt.Println(err)
	fmt.Println(errors.Is(err, cupel.ErrInvalidItem))

	var budget cupel.ContextBudget
	err = json.Unmarshal([]byte(`{"maxTokens": 8192, "targetTokens": 6000, "reservedSlots": {"Memory": "many"}}`), &budget)
	fmt.Println(err)

	var decodeErr *cupel.DecodeError
	if errors.As(err, &decodeErr) {
		fmt.Println(decodeErr.Path)
	}
	// Output:
	// cupel: invalid JSON: kind must not be blank
	// true
	// cupel: invalid JSON: reservedSlots["Memory"] must be an integer, got a string
	// reservedSlots["Memory"]
}

// What JSON cannot say is an error that names the place, never a silent change.
func ExampleEncodeError() {
	item, err := cupel.NewContextItem("hello", 2, cupel.WithMetadata(map[string]any{"done": make(chan bool)}))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = json.Marshal(item)
	var encodeErr *cupel.EncodeError
	if errors.As(err, &encodeErr) {
		fmt.Println(encodeErr)
	}
	// Output:
	// cupel: cannot write JSON: metadata["done"] cannot be encoded: json: unsupported type: chan bool
}

// A report can be logged as it is: the line holds counts, tokens and times, and
// never what is in an item.
func ExampleSelectionReport_LogValue() {
	item, err := cupel.NewContextItem("the user's secret", 300)
	if err != nil {
		fmt.Println(err)
		return
	}
	report := &cupel.SelectionReport{
		Events:                []cupel.TraceEvent{{Stage: cupel.StageClassify, DurationMS: 0.3, ItemCount: 1}},
		Excluded:              []cupel.ExcludedItem{{Item: item, Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 300})}},
		TotalCandidates:       1,
		TotalTokensConsidered: 300,
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	logger.Info("selected", "context", report)
	// Output:
	// level=INFO msg=selected context.total_candidates=1 context.total_tokens_considered=300 context.included=0 context.included_tokens=0 context.excluded=1 context.excluded_by_reason.BudgetExceeded=1 context.duration_ms.Classify=0.3
}
