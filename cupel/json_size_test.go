package cupel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestWireSizeIsClose: the expected size of a report must not be far off, or its
// text is copied while it grows, or takes memory that it does not need.
func TestWireSizeIsClose(t *testing.T) {
	long := strings.Repeat("all work and no play ", 500)
	var tags []string
	metadata := map[string]any{}
	for i := range 100 {
		tags = append(tags, fmt.Sprintf("tag number %d", i))
		metadata[fmt.Sprintf("key number %d", i)] = fmt.Sprintf("value number %d", i)
	}
	made := func(content string, opts ...ItemOption) *ContextItem {
		it, err := NewContextItem(content, 1, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	for name, one := range map[string]SelectionReport{
		"contents":  {Included: []IncludedItem{{Item: made(long), Reason: IncludeScored}}},
		"excluded":  {Excluded: []ExcludedItem{{Item: made(long), Reason: NewExclusionReason(ExcludeScoredTooLow, ReasonData{})}}},
		"survivors": {Excluded: []ExcludedItem{{Item: made("a"), Reason: deduplicated(made(long))}}},
		"messages":  {Events: []TraceEvent{{Stage: StageScore, Message: long}}},
		"tags":      {Included: []IncludedItem{{Item: made("a", WithTags(tags...)), Reason: IncludeScored}}},
		"metadata":  {Included: []IncludedItem{{Item: made("a", WithMetadata(metadata)), Reason: IncludeScored}}},
		"short":     {Included: []IncludedItem{{Item: made("a"), Reason: IncludeScored}}, Excluded: []ExcludedItem{{Item: made("b"), Reason: NewExclusionReason(ExcludeScoredTooLow, ReasonData{})}}, Events: []TraceEvent{{Stage: StageScore, Message: "done"}}},
	} {
		var r SelectionReport
		for range 50 {
			r.Events, r.Included, r.Excluded = append(r.Events, one.Events...), append(r.Included, one.Included...), append(r.Excluded, one.Excluded...)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if size := r.wireSize(); size < len(text)*4/5 || size > len(text)*5/2 {
			t.Errorf("%s: %d bytes are expected, and there are %d", name, size, len(text))
		}
	}
}
