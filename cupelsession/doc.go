// Package cupelsession keeps the window of a conversation from turn to turn, so that the
// provider's prompt cache finds the beginning of each request.
//
//	session, err := cupelsession.New(agent.New(counter), cupelsession.Config{Cache: cupelsession.AnthropicCache})
//	for { // each turn of the agent
//		request, err := cupelsession.Fit(ctx, session, params, cupelchat.Anthropic, budget, counter)
//		answer, err := client.Messages.New(ctx, request.Params)
//		usage, err := request.Answered(answer) // commits the turn
//		params.Messages = append(params.Messages, answer.ToParam())
//	}
//
// A window chosen afresh for each turn changes the beginning of the request nearly every
// time, and the cache is lost. A [Session] sends again what it sent before and appends
// new items. When these no longer fit, it breaks: the chooser, a [pipeline.Pipeline] or
// the preset of package cupelchat/agent, chooses from everything up to a low-water mark,
// which leaves room for later turns.
//
// [Session.Next] proposes a [Turn], and [Turn.Commit] makes it the state from which the
// next one starts. Commit takes the [Usage] that the provider reported; [UsageOf] reads
// it from the response. [Fit] does both for the conversations of package cupelchat.
//
// [Turn.Break], [Turn.Cache] and [Turn.Report] state what a turn kept, why it breaks, and
// what it costs; [Config.Trace] reports the same to collectors such as those of package
// cupelotel. Items that leave the window go to [Config.Summarize] and [Config.Dropped].
//
// docs/agents.md in the repository is the guide.
package cupelsession
