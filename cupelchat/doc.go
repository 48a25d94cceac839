// Package cupelchat fits a conversation with a language model into a budget. It
// reads the body of a request as items of package cupel, has them chosen, and
// writes a smaller body that the API accepts.
//
//	conversation, err := cupelchat.Read(body, cupelchat.Anthropic, counter)
//	window, err := conversation.Select(ctx, pipeline, budget)
//	body, err = window.Body()
//
// [Fit] does the same with the parameters of an SDK. [WithEarlier] reads a later state
// of a conversation from where it differs. [Detect] finds the format of a conversation,
// and [Check] says what the API would refuse in one.
//
// # What is chosen
//
// Each message is an item, and so is each tool result. Tool calls and their results
// are a group: all of them are in the window, or none. Long results and messages
// have smaller forms, and an exchange that is over may become a note, one text in
// its place. System prompts, definitions of tools, the first and the last message
// of the user, the calls at the end, and the latest compaction are pinned; see
// [WithPins]. If they do not fit, messages, results and arguments among them are
// shortened. Messages with equal content are not duplicates.
//
// # What is written
//
// If everything is chosen, the result is the input, byte for byte. Otherwise
// messages that were chosen keep their bytes, with the fields that the package does
// not know, and of smaller forms only the text differs. What an API requires of
// the messages as a whole is kept: that the user speaks first and last, that roles
// alternate, that a turn that goes on begins with its thinking. The notes of a
// [Window] say what was restored, dropped or joined for that.
//
// docs/agents.md in the repository is the guide.
//
// # Errors
//
// [Read] and [Detect] fail with an [Error] that has a line and a path, and Read
// with a [cupel.InvalidConfigError] for an option. A message without content and
// calls is an error, and so is a reference to text that the API keeps.
package cupelchat
