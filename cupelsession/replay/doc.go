// Package replay measures policies for context windows on recorded conversations:
// how much they keep of the values that the next step needs, and what they cost. It
// needs no labels and no model.
//
//	measure, err := replay.NewMeasure(replay.Baselines(), []float64{0.15, 0.25})
//	table := replay.NewTable(measure.Plan())
//	for sample, err := range measure.Samples(ctx, replay.Scan("agents.jsonl", file, nil)) {
//		err = table.Add(&sample)
//	}
//	fmt.Print(table.Result().Text())
//
// # The measure
//
// Each message of the assistant is a step. At each step, the policy chooses a
// window from everything said before it. The budget is the system prompts plus a
// share of the rest of the conversation, but at least the system prompts and the
// newest unit. A unit is a message, or an assistant's message with calls and all
// their results. The tokens of a message are ceil(characters / 4) of its text, plus
// 4.
//
// The values of a step are the strings of at least 4 characters and the numbers
// of at least 3 digits in the arguments of its calls. If an agent never calls
// anything, they are the identifiers in its text. A value counts if an earlier
// message has it and neither a system prompt nor the newest unit does, since
// these are always sent.
//
//   - Support is the share of the values that are in the window.
//   - Grounded support is the share that the window has as a word, and either
//     after its JSON key or argument name, which begins at most 40 characters
//     before it, or next to 12 characters that came before or after it in the
//     conversation. A list of bare words has support but tells a model
//     nothing.
//   - Cost is what the windows cost with a prompt cache, as a share of what it
//     costs to send everything each time. The longest prefix of the window that
//     equals the window before costs 0.1 a token, the rest 1.25.
//   - Caches are the costs with the prompt caches of providers, with [WithCache].
//   - Breaks is the share of the steps that do not send all of the window before
//     at the start of the new one.
//   - Task is the share of the steps whose window has the user's first message
//     whole, among those in which it fits with the system prompts and the
//     newest unit.
//   - Recent is the share of the steps whose window has the newest three units
//     whole.
//   - Fill is the share of the budget that is used, over the steps in which not
//     everything fits.
//
// All conversations are measured in the form of OpenAI's Chat Completions. A
// window that is a request is compared message by message, and a unit is whole if
// all its messages are there unchanged. The API must accept the window, as
// [cupelchat.Check] checks. [Baselines] choose units, and each unit is compared as
// a whole.
package replay
