package cli

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/internal/english"
)

// whereFlags are the flags of newWhere.
type whereFlags struct {
	selectionFlags
	printFlags
	rows           int
	steps, session bool
}

// newWhere returns the command that finds the fate of a value.
func newWhere(env *Environment) *cobra.Command {
	var flags whereFlags
	command := &cobra.Command{
		Use:   "where [FILE] VALUE",
		Short: "Show where a value is, whether it is sent, and how to keep it",
		Long: `where finds a value, such as a path, a number or an error, and shows the sent part of
each place. For a lost value it names the messages that took its room, and a budget, a
--pin and a --rule that keep it; all of them were tried.

VALUE is a text, or a pattern for the names, paths, numbers, URLs, quotations and
errors in the candidates, and for the last part of a path: * matches any text, and ?
one character.

The windows of --steps and --session count four characters as a token, as cupel
replay does.`,
		Example: `  cupel where chat.json 'crypto.chal*' -b 20k
  cupel where chat.json src/crypto.go -b 20k --session`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("give a value, such as a path or a number, or a pattern")
			}
			return filesBy("items")(command, args[:len(args)-1])
		},
		RunE: func(command *cobra.Command, args []string) error {
			return flags.run(command.Context(), env, args[len(args)-1])
		},
	}
	flags.selectionFlags.register(command)
	flags.printFlags.register(command)
	requireFlag(command, "items")
	rowsFlag(command, &flags.rows)
	command.Flags().BoolVar(&flags.steps, "steps", false, "show at which assistant message the value is lost, if each window is chosen by itself")
	command.Flags().BoolVar(&flags.session, "session", false, "show at which assistant message the value is lost in a session")
	return command
}

// whereAnswer is the fate of some values. where --json prints it.
type whereAnswer struct {
	Tokens int    `json:"tokens"` // of the window
	Facts  []fact `json:"facts"`

	of *selection
}

// fact is the fate of a value.
type fact struct {
	Value  string  `json:"value"`
	Sent   bool    `json:"sent"`
	Places []place `json:"places"`
	// Displaced names what has the room of a value that is not sent.
	Displaced []string                 `json:"displaced_by,omitempty"`
	Smallest  *analysis.SmallestBudget `json:"smallest_budget,omitempty"` // that sends it
	Pin       int                      `json:"pin,omitempty"`             // a message, from 1, whose pin keeps it
	Rule      string                   `json:"rule,omitempty"`            // that keeps it
	Steps     []replay.Followed        `json:"steps,omitempty"`
}

// place is a message, or an item, that has a value.
type place struct {
	Message int    `json:"message,omitempty"` // from 1
	Name    string `json:"name"`
	Fate    string `json:"fate"`
	Tokens  int    `json:"tokens"` // that are sent of it, or of the one text of its exchange
	Full    int    `json:"full_tokens"`

	at int
}

// The sent parts of a place.
const (
	fateWhole   = "sent whole"
	fateOutline = "sent in an outline"
	fateLost    = "lost in an outline"
	fateOut     = "out"
)

func (f *whereFlags) run(ctx context.Context, env *Environment, pattern string) error {
	s, err := f.read(ctx, env)
	if err != nil {
		return err
	}
	if s.Conversation == nil && (f.steps || f.session) {
		return usagef("--steps and --session are for conversations, and these are items (%s)", s.Format)
	}
	values, err := findFacts(s.Items, pattern)
	if err != nil {
		return err
	}
	report, err := s.report(ctx, s.budget)
	if err != nil {
		return s.selecting(ctx, err)
	}
	now := analysis.NewLedger(report, s.Items)
	exchanges := exchangesOf(now)
	answer := &whereAnswer{Tokens: tokensIn(report), of: s}
	most := len(values)
	if f.rows > 0 {
		most = min(most, f.rows)
	}
	for _, value := range values[:most] {
		found := fact{Value: value, Sent: s.sends(now, value), Places: s.placesOf(now, value, exchanges)}
		if len(values) <= mostTraced {
			if err := s.remedies(ctx, now, &found); err != nil {
				return err
			}
			if f.steps || f.session {
				if found.Steps, err = f.follow(ctx, env, s.budget.MaxTokens(), value); err != nil {
					return err
				}
			}
		}
		answer.Facts = append(answer.Facts, found)
	}
	return f.print(env, answer, func(p *terminal.Printer) { answer.print(p, f.rows, len(values)-most) })
}

// mostTraced is for how many values remedies are searched.
const mostTraced = 4

// findFacts returns the value that contents have, or the facts that match a pattern, in
// the order of the candidates.
func findFacts(items []*cupel.ContextItem, pattern string) ([]string, error) {
	if strings.TrimSpace(pattern) == "" {
		return nil, usagef("give a value, such as a path or a number, or a pattern")
	}
	for _, item := range items {
		if says(item.Content(), pattern) {
			return []string{pattern}, nil
		}
	}
	matches := globs(pattern)
	var found []string
	seen := make(map[string]bool)
	for _, item := range items {
		for value := range cupelreduce.Facts(item.Content()) {
			base := value[strings.LastIndexByte(value, '/')+1:]
			if !seen[value] && (matches(value) || matches(base)) && says(item.Content(), value) {
				found = append(found, value)
			}
			seen[value] = true
		}
	}
	if found == nil {
		return nil, usagef("no candidate has %q; a pattern such as 'crypto.*' finds names, paths, numbers and errors that begin so", pattern)
	}
	return found, nil
}

// says reports whether a text has a value as a word.
func says(text, value string) bool {
	for range cupelreduce.Find(text, value) {
		return true
	}
	return false
}

// marks are the marks in forms for omitted text.
var marks = regexp.MustCompile(`… \+\d+( bytes…)?|\[(earlier|left out)[\]:]|; (shortened|results left out)\]|\[shortened from \d+ tokens?\]`)

const ellipsis = "…"

// placesOf returns the places of a value, and the sent parts of them. If an exchange
// became one text, the tokens are those of the exchange.
func (s *selection) placesOf(window *analysis.Ledger, value string, exchanges map[string]exchange) []place {
	places := []place{}
	for i, item := range s.Items {
		if !says(item.Content(), value) {
			continue
		}
		p := place{Message: messageNumber(item), Name: named(item, i), Fate: fateOut, Full: item.Tokens(), at: i}
		if e := &window.Entries[i]; e.Place > 0 {
			p.Fate, p.Tokens = fateLost, e.Tokens
			if x, ok := exchanges[item.Group()]; ok && e.Form > 0 {
				p.Tokens, p.Full = x.sent, x.full
			}
			switch {
			case e.Form == 0:
				p.Fate = fateWhole
			case says(marks.ReplaceAllString(sentOf(e), ellipsis), value):
				p.Fate = fateOutline
			}
		}
		places = append(places, p)
	}
	return places
}

// sends reports whether a value is sent from one of its places.
func (s *selection) sends(window *analysis.Ledger, value string) bool {
	return slices.ContainsFunc(s.placesOf(window, value, nil), func(p place) bool { return p.Fate == fateWhole || p.Fate == fateOutline })
}

// remedies finds the candidates in the room of a lost value, and the means to
// keep it.
func (s *selection) remedies(ctx context.Context, now *analysis.Ledger, f *fact) error {
	smallest, err := s.smallest(ctx, func(at *analysis.Ledger) bool { return s.sends(at, f.Value) })
	if err != nil {
		return selecting(err)
	}
	f.Smallest = &smallest
	if f.Sent {
		return nil
	}
	for _, p := range f.newest() {
		// What is no message or does not fit has no such window.
		if then, err := s.ifPinned(ctx, p.at); err == nil && s.sends(then, f.Value) {
			f.Pin, f.Displaced = s.numberOf(p.at), namesOf(s.Items, cupelinspect.Losers(now, then, p.at))
			break
		}
	}
	f.Rule = s.ruleFor(ctx, f)
	return ctx.Err()
}

// toolName matches the names of tools that need no escapes in a rule.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)

// ruleFor returns a rule by tool that keeps a value, or "".
func (s *selection) ruleFor(ctx context.Context, f *fact) string {
	tried := map[string]bool{}
	for _, p := range f.newest() {
		tool := textOf(s.Items[p.at], "tool")
		if s.Conversation == nil || !toolName.MatchString(tool) || tried[tool] {
			continue
		}
		tried[tool] = true
		candidates, err := withRules(s.Candidates, []cupelchat.Rule{{Tool: tool, Keep: true}})
		if err != nil {
			continue // its name is no pattern
		}
		with := &selection{candidates, s.chooser, s.budget}
		if then, err := with.ledger(ctx, s.budget); err == nil && with.sends(then, f.Value) {
			return "keep tool=" + tool
		}
	}
	return ""
}

// mostPlaces is how many places are tried to keep a value.
const mostPlaces = 6

// newest returns the last places, the newest first.
func (f *fact) newest() []place {
	newest := slices.Clone(f.Places[max(len(f.Places)-mostPlaces, 0):])
	slices.Reverse(newest)
	return newest
}

// follow finds the fate of a value from one step of the conversation to the
// next.
func (f *whereFlags) follow(ctx context.Context, env *Environment, budget int, value string) (steps []replay.Followed, err error) {
	p, err := replayed(env, cmp.Or(f.policy, agentPolicy), f.session)
	if err != nil {
		return nil, err
	}
	err = followIn(ctx, env, []string{f.items}, p, budget, value, func(_ *replay.Conversation, followed []replay.Followed) {
		steps = append(steps, followed...)
	})
	return steps, err
}

// followIn follows a value through the conversations of files.
func followIn(ctx context.Context, env *Environment, names []string, p replay.Policy, budget int, value string, add func(*replay.Conversation, []replay.Followed)) error {
	for c, err := range scanned(env, names, nil, replay.Scan) {
		if err != nil {
			return measuringError[*replay.ReadError](err)
		}
		var steps []replay.Followed
		for step, err := range replay.Follow(ctx, &c, p, budget, value) {
			if err != nil {
				return selecting(fmt.Errorf("%s:%d: %w", c.File, c.Line, err))
			}
			steps = append(steps, step)
		}
		add(&c, steps)
	}
	return nil
}

// print writes it for people, with at most some places of each value.
func (w *whereAnswer) print(p *terminal.Printer, rows, more int) {
	p.Line("%s: %d tokens of a budget of %d", w.of.name, w.Tokens, w.of.budget.MaxTokens())
	for i := range w.Facts {
		w.Facts[i].print(p, rows, len(w.of.Items))
	}
	if more > 0 {
		p.Paragraph("… and %d more values; --rows 0 shows all", more)
	}
}

func (f *fact) print(p *terminal.Printer, rows, messages int) {
	fate := "is lost"
	if f.Sent {
		fate = "is sent"
	}
	p.Paragraph("%s %s. It appears in %d of %s:", f.Value, fate, len(f.Places), english.Plural(messages, "candidate"))
	var table [][]any
	for _, place := range f.Places {
		table = append(table, []any{place.Name, place.Fate, place.Tokens, place.Full})
	}
	printSome(p, []string{"WHERE", "FATE", "TOKENS", "OF"}, table, rows)
	if len(f.Displaced) > 0 {
		p.Line("Its room went to %s.", listed(f.Displaced))
	}
	if f.Smallest != nil { // not too many values were found
		p.Line("%s", smallestText(f.Smallest, "sends it"))
	}
	if f.Pin > 0 {
		p.Line("--pin %d keeps it.", f.Pin)
	}
	if f.Rule != "" {
		p.Line("--rule '%s' keeps it.", f.Rule)
	}
	f.printSteps(p)
}

// printSteps prints the steps at which the value went, and came back.
func (f *fact) printSteps(p *terminal.Printer) {
	if len(f.Steps) == 0 {
		return
	}
	kept := 0
	var went []string
	for i, step := range f.Steps {
		if step.Kept {
			kept++
		} else if i == 0 || f.Steps[i-1].Kept {
			went = append(went, fmt.Sprintf("message %d", step.Message))
		}
	}
	p.Line("%d of the %d windows after it was said have it.", kept, len(f.Steps))
	if went != nil {
		p.Line("It went at %s.", listed(went))
	}
}
