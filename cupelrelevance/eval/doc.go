// Package eval measures how much of the evidence for a question a selection
// includes. It reads labeled conversations, runs policies for each question at
// each of several budgets, and reports the results.
//
//	m, err := eval.NewMeasure(eval.Builtin(), []int{500, 1000, 2000})
//	table := eval.NewTable(m.Plan())
//	for sample, err := range m.Samples(ctx, eval.Scan(name, file, nil)) {
//		...
//		err = table.Add(&sample)
//	}
//	fmt.Print(table.Result().Text())
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
// is a string or a number. Evidence is a non-empty list of distinct positions in
// items.
//
// A time is Unix seconds, RFC 3339 text, or a date as people write it in English,
// optionally with a clock time and an offset: "1:56 pm on 8 May, 2023",
// "2023/05/08 (Mon) 13:56", "Mon, 8 May 2023 13:56:00 +0200". It is in UTC
// without an offset, and midnight without a clock time. Text in another form, or
// an ambiguous date (5/6/2023 is in May or in June), is not a time; Time.Unread
// keeps it.
//
// A turn becomes an item with the content "speaker: content", ceil(characters /
// 4) + 4 tokens, and the metadata speaker and session. Its timestamp is the
// time plus its position in nanoseconds, so that turns of the same time keep
// their order. If no turn has a time, turns are one second apart.
//
// # How far to trust the figures
//
// Questions of one conversation depend on each other, so a hundred questions about
// five conversations say little about a sixth. Intervals and tests therefore treat
// each conversation as a unit: the interval of a recall is computed for a ratio of
// sums over conversations, and [WithAgainst] compares two policies by the
// differences within each conversation. Prefer a policy when the difference is
// unlikely to be chance (p below 0.05), on data that was not used to choose
// settings; of twenty policies without merit, one is below that by chance.
package eval
