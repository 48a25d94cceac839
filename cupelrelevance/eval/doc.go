// Package eval measures how much of the evidence for a question a selection
// includes. It reads labelled conversations, runs policies for each question at
// each of several budgets, and reports the results.
//
//	conversations, err := eval.Read(file)
//	result, err := eval.Run(ctx, conversations, eval.Builtin(), []int{500, 1000, 2000})
//	fmt.Print(result.Text())
//
// # Format
//
// A file has one JSON conversation per line:
//
//	{"id": "meeting-1",
//	 "items": [{"speaker": "Ada", "content": "Shall we start?", "session": "morning", "time": "2025-03-01T09:00:00Z"}],
//	 "questions": [{"query": "Who opened the meeting?", "evidence": [0]}]}
//
// Speaker, session and time are optional; unknown fields are ignored. A session
// is a string or a number; a time is RFC 3339 text or Unix seconds, and other
// text is ignored. Evidence is a non-empty list of distinct positions in items.
//
// A turn becomes an item with the content "speaker: content", ceil(characters /
// 4) + 4 tokens, and the metadata speaker and session. Its timestamp is the
// time plus its position in nanoseconds, so that turns of the same time keep
// their order. If no turn has a time, turns are one second apart.
package eval
