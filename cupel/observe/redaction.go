package observe

import "strings"

// Part is a kind of data about a run that an observer may show outside the process, or
// a set of such kinds.
type Part uint16

// The parts. Besides numbers of tokens, scores and positions, the first four leave the
// process by default.
const (
	PartKind         Part = 1 << iota // kinds of items, and of a slicer's entries
	PartReason                        // names of reasons that Cupel does not define
	PartPipeline                      // the name of the pipeline and the hash of its policy
	PartConversation                  // the id of the conversation
	PartContent
	PartID // of items, as [Redaction.ID] has it
	PartSource
	PartTags
	PartMetadata   // of the keys in [Redaction.Metadata]
	PartGroup      // names of groups, and keys of versions
	PartReasonData // texts in reasons that Cupel does not define
	PartError      // texts of errors, which may quote anything
	PartFields     // what strategies read apart from texts: pins, priorities, times, hints, forms, which items are alike
)

// Redaction decides which texts leave the process in spans, log records, metrics and
// recordings. The zero value shows no text of an item except its kind.
type Redaction struct {
	Show     Part     // in addition to what leaves by default
	ID       string   // the metadata key of the ids of items
	Metadata []string // the keys of metadata that leave
	// Rewrite, if set, returns the replacement for a text that leaves. Concurrent runs
	// call it concurrently.
	Rewrite func(from Part, text string) string
}

// Text returns the text that leaves the process in place of text, in valid UTF-8, and
// false if none may leave.
func (r *Redaction) Text(from Part, text string) (string, bool) {
	if from > PartConversation && r.Show&from == 0 {
		return "", false
	}
	if r.Rewrite != nil {
		text = r.Rewrite(from, text)
	}
	return strings.ToValidUTF8(text, "\uFFFD"), true
}
