// Package cupelchat fits a conversation with a language model into a budget. It
// reads the body of a request as items of package cupel, lets a chooser select some of
// them, and writes a smaller body that the API accepts.
//
//	counter := cupel.HeuristicCounter{}
//	budget, err := cupel.NewContextBudget(60_000, 60_000)
//	request, err := cupelchat.Fit(ctx, params, cupelchat.Anthropic, agent.New(counter), budget, counter)
//	answer, err := client.Messages.New(ctx, request.Params)
//	params.Messages = append(params.Messages, answer.ToParam()) // the whole history
//
// A [Request] is a fitted request with its report and notes. [Read] gives a
// [Conversation], with its items; [Conversation.Select] gives a [Window], which writes
// a body. [WithEarlier] reads only what differs from an earlier state, [Detect] finds
// the format, and [Check] lists what the API would refuse.
//
// # Reading
//
// Each message is an item, and so is each tool result. Tool calls and their results
// are a group: the window has all of them or none. Long results and messages have
// smaller forms, and a finished exchange may become a note, a short text in its place.
// System prompts, definitions of tools, the first and the last message of the user,
// the calls at the end, and the latest compaction are pinned; see [WithPins]. If they
// do not fit, messages, results and arguments among them are shortened. Messages with
// equal content are not duplicates.
//
// # Writing
//
// If everything is chosen, the result is the input, byte for byte. Otherwise the chosen
// messages keep their bytes, including fields that the package does not know, and
// smaller forms change only the text. The result keeps to the API's rules for the
// messages as a whole: the user speaks first and last, roles alternate, and a turn that
// continues begins with its thinking. The notes of a Window name everything that was
// restored, dropped or joined to keep these rules. docs/agents.md in the repository is
// the guide.
//
// # Errors
//
// [Read] and [Detect] fail with an [Error] that has a line and a path, and Read with a
// [cupel.InvalidConfigError] for an option. A message without content and calls is an
// error, and so is a reference to text that the API keeps.
package cupelchat
