// Package cupelsession keeps the window of a conversation from turn to turn.
//
// A provider's prompt cache pays for the beginning of a request that is the same
// as in the request before. A window chosen for each turn by itself changes that
// beginning nearly every time. A [Session] keeps what was sent as it was sent and
// appends what is new. Only when that no longer fits does it break: the chooser, a
// [pipeline.Pipeline] or the preset of package cupelchat/agent, chooses from
// everything for a low-water mark, so that there is room for the turns to come.
//
// [Session.Next] proposes a turn, and [Turn.Commit] makes it the state that the
// next one starts from. Commit takes the [Usage] that the provider reported, which
// [UsageOf] reads from its response. [Fit] and [Session.Body] do this for the
// conversations of package cupelchat.
//
// A turn says what it kept, whether, where and why it breaks, and what it costs, in
// [Turn.Break], [Turn.Cache] and [Turn.Report]; [Config.Trace] shows the same to
// collectors such as those of package cupelotel. What leaves the window goes to
// [Config.Summarize] and [Config.Dropped].
//
// docs/agents.md in the repository is the guide.
package cupelsession
