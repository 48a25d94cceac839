// Package eval measures how much of the evidence for a question a selection
// holds. It reads labelled conversations, lets policies select for each of their
// questions within each of some budgets, and says what was found.
//
//	conversations, err := eval.Read(file)
//	result, err := eval.Run(ctx, conversations, eval.Builtin(), []int{500, 1000, 2000})
//	fmt.Print(result.Text())
//
// # Format
//
// A file has one conversation a line, as JSON:
//
//	{"id": "meeting-1",
//	 "items": [{"speaker": "Ada", "content": "Shall we start?", "session": "morning", "time": "2025-03-01T09:00:00Z"}],
//	 "questions": [{"query": "Who opened the meeting?", "evidence": [0]}]}
//
// Speaker, session and time are optional, and fields that are not known are
// ignored. A session is a string or a number; a time is RFC 3339 text or Unix
// seconds, and text of any other form is ignored. Evidence is positions in items,
// each once, at least one.
//
// A turn becomes an item with the content "speaker: content", of
// ceil(characters / 4) + 4 tokens, with the metadata speaker and session, and
// with the time as its timestamp, moved by its position in nanoseconds, so that
// turns of the same time keep their order. A conversation in which no turn has a
// time gets one second a turn.
package eval
