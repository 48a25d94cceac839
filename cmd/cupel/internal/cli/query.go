package cli

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// relevance is the name of the scorer that policies have here beside the
// built-in ones, and of the policy that has nothing but it.
const relevance = "relevance"

// maxQueryBytes is the longest question that is read from a file. Longer texts
// are files given by mistake.
const maxQueryBytes = 1 << 20

// queryFlags are the flags that ask a question.
type queryFlags struct {
	query     string
	queryFile string

	command *cobra.Command
	asked   *question // what the flags say, once somebody wanted to know
}

func (f *queryFlags) register(command *cobra.Command) {
	f.command = command
	flags := command.Flags()
	flags.StringVarP(&f.query, "query", "q", "", "the question that the window is for: a policy without relevance gets it, as the README says")
	flags.StringVar(&f.queryFile, "query-file", "", "`file` with the question, or - for standard input")
	command.MarkFlagsMutuallyExclusive("query", "query-file")
	must(command.MarkFlagFilename("query-file"))
}

// question is what relevance is measured against.
type question struct {
	text  string
	given bool
	*indexes
}

// question returns the question of the flags, which may be that there is none.
func (f *queryFlags) question(env *Environment) (*question, error) {
	if f.asked != nil {
		return f.asked, nil
	}
	text, from := f.query, "--query"
	if f.command.Flags().Changed("query-file") {
		r, done, err := open(env, f.queryFile)
		if err != nil {
			return nil, err
		}
		defer done()
		data, err := io.ReadAll(io.LimitReader(r, maxQueryBytes+1))
		switch {
		case err != nil:
			return nil, usagef("%s: %w", shown(f.queryFile), err)
		case len(data) > maxQueryBytes:
			return nil, usagef("%s: a question may have up to %d bytes", shown(f.queryFile), maxQueryBytes)
		}
		text, from = strings.TrimSpace(string(data)), shown(f.queryFile)
	}
	given := f.command.Flags().Changed("query") || f.command.Flags().Changed("query-file")
	if given && strings.TrimSpace(text) == "" {
		return nil, usagef("%s: the question is blank", from)
	}
	f.asked = &question{text, given, new(indexes)}
	return f.asked, nil
}

// readPolicy finds a preset by its name, or reads a file, and builds it. With a
// question it has relevance to it.
func (f *queryFlags) readPolicy(env *Environment, name string) (policy.Policy, *cupel.Pipeline, error) {
	asked, err := f.question(env)
	if err != nil {
		return policy.Policy{}, nil, err
	}
	registry := asked.registry()
	p, err := findPolicy(env, registry, name)
	if err != nil {
		return p, nil, err
	}
	if asked.given {
		p = ask(p)
	}
	pipeline, err := p.Pipeline(policy.Environment{Registry: registry, Clock: env.Clock})
	if err != nil {
		return p, nil, usagef("%s: %w", name, err)
	}
	return p, pipeline, nil
}

// registry returns the presets and strategies of package policy, and relevance
// to the question.
func (q *question) registry() *policy.Registry {
	registry := policy.NewRegistry()
	// Registering the policy builds its scorer, for which any question will do.
	registering := true
	must(registry.RegisterScorer(relevance, func(args policy.Args[cupel.Scorer]) (cupel.Scorer, error) {
		if registering {
			return (&question{given: true, indexes: new(indexes)}).scorer(args)
		}
		return q.scorer(args)
	}))
	must(registry.Register(relevance, relevancePolicy()))
	registering = false
	return registry
}

// relevancePolicy returns the policy that package cupelrelevance recommends.
func relevancePolicy() policy.Policy {
	return policy.Policy{
		Name:        "Relevance",
		Description: "What a question is about, in the order of time; needs --query.",
		Scorers:     []policy.Weighted{{Scorer: policy.Strategy{Type: relevance}, Weight: 1}},
		Slicer:      policy.Strategy{Type: "scoreGreedy"},
		Placer:      policy.Strategy{Type: "chronological"},
	}
}

// relevanceSettings are the settings that a policy may give the scorer.
type relevanceSettings struct {
	Query    string    `json:"query"`    // counts where no other question is asked
	Language *string   `json:"language"` // of the stems, or "none"
	Fields   *[]string `json:"fields"`
	Groups   *[]string `json:"groups"`
	Names    *[]string `json:"names"`
	Gap      *string   `json:"gap"` // as time.ParseDuration reads it
}

// scorer is the factory of the scorer.
func (q *question) scorer(args policy.Args[cupel.Scorer]) (cupel.Scorer, error) {
	settings, err := policy.DecodeSettings[relevanceSettings](args.Settings)
	if err != nil {
		return nil, err
	}
	if len(args.Children) > 0 {
		return nil, errors.New("relevance has no children; it scores items by their text")
	}
	text := settings.Query
	switch {
	case q.given:
		text = q.text
	case strings.TrimSpace(text) == "":
		return nil, policy.Invalid(policy.Problem{Path: "query", Reason: "there is no question to be relevant to; give --query or --query-file, or write one here"})
	}
	index, err := q.index(settings)
	if err != nil {
		return nil, err
	}
	return cupelrelevance.New(index, text)
}

// indexes are indexes by their settings: policies that are compared share one,
// and the words of their items with it. The zero value is ready.
type indexes struct {
	mu sync.Mutex
	of map[string]*cupelrelevance.Index
}

// indexesWith returns indexes of which that without settings is known.
func indexesWith(index *cupelrelevance.Index) *indexes {
	return &indexes{of: map[string]*cupelrelevance.Index{relevanceSettings{}.key(): index}}
}

// index returns the index for settings.
func (x *indexes) index(settings relevanceSettings) (*cupelrelevance.Index, error) {
	key := settings.key()
	x.mu.Lock()
	defer x.mu.Unlock()
	if known := x.of[key]; known != nil {
		return known, nil
	}
	index, err := newIndex(settings)
	if err != nil {
		return nil, err
	}
	if x.of == nil {
		x.of = make(map[string]*cupelrelevance.Index)
	}
	x.of[key] = index
	return index, nil
}

// key tells settings of indexes apart. The query is none of them.
func (s relevanceSettings) key() string {
	s.Query = ""
	text, err := json.Marshal(s)
	must(err)
	return string(text)
}

// newIndex fails with a policy.ValidationError with everything that is wrong.
func newIndex(settings relevanceSettings) (*cupelrelevance.Index, error) {
	var opts []cupelrelevance.IndexOption
	var problems []policy.Problem
	// One option at a time, so that one mistake does not hide another.
	add := func(opt cupelrelevance.IndexOption) {
		_, err := cupelrelevance.NewIndex(opt)
		if invalid, ok := errors.AsType[*cupel.InvalidConfigError](err); ok {
			reason := invalid.Reason
			// Those of the package are about its constants.
			switch {
			case invalid.Field == "language":
				reason = "language must be none, english, french, hungarian, norwegian, russian, spanish or swedish"
			case strings.Contains(reason, "FieldContent"):
				reason = "field must be content, tags or metadata:KEY"
			}
			if invalid.Value != "" {
				reason += ", got " + invalid.Value
			}
			problems = append(problems, policy.Problem{Path: invalid.Field, Reason: reason, Err: err})
			return
		}
		opts = append(opts, opt)
	}
	if settings.Language != nil {
		add(cupelrelevance.WithLanguage(cupelrelevance.Language(*settings.Language)))
	}
	if settings.Fields != nil {
		fields := make([]cupelrelevance.Field, len(*settings.Fields))
		for i, name := range *settings.Fields {
			fields[i] = cupelrelevance.Field(name)
		}
		add(cupelrelevance.WithFields(fields...))
	}
	if settings.Groups != nil {
		add(cupelrelevance.WithGroups(*settings.Groups...))
	}
	if settings.Names != nil {
		add(cupelrelevance.WithNames(*settings.Names...))
	}
	if settings.Gap != nil {
		gap, err := time.ParseDuration(*settings.Gap)
		if err != nil {
			problems = append(problems, policy.Problem{Path: "gap", Reason: `must be a duration such as "1h30m", got ` + strconv.Quote(*settings.Gap), Err: err})
		} else {
			add(cupelrelevance.WithGap(gap))
		}
	}
	if err := policy.Invalid(problems...); err != nil {
		return nil, err
	}
	return cupelrelevance.NewIndex(opts...)
}

// relevanceShare is how much relevance counts when --query adds it to a policy:
// this many times as much as all its other scorers together. README.md has the
// figures behind it.
const relevanceShare = 4

// ask returns the policy with relevance among its scorers, and with a slicer that
// takes the highest score first: those that look at the score for each token
// find half as much in small budgets. A policy that has relevance already is
// left as it is.
func ask(p policy.Policy) policy.Policy {
	total := 0.0
	for _, s := range p.Scorers {
		if hasRelevance(s.Scorer) {
			return p
		}
		total += s.Weight
	}
	p.Scorers = slices.Clone(p.Scorers)
	if sum := total + float64(relevanceShare*total); math.IsInf(sum, 1) && !math.IsInf(total, 1) {
		// What counts is how the weights compare: an eighth of each is exact.
		for i := range p.Scorers {
			p.Scorers[i].Weight /= 8
		}
		total /= 8
	}
	p.Scorers = append(p.Scorers, policy.Weighted{Scorer: policy.Strategy{Type: relevance}, Weight: relevanceShare * total})
	p.Slicer = byScore(p.Slicer)
	return p
}

// byScore returns the slicer with ScoreGreedy in the place of Greedy and
// Knapsack. Quotas around them stay.
func byScore(s policy.Strategy) policy.Strategy {
	switch s.Type {
	case "greedy", "knapsack":
		return policy.Strategy{Type: "scoreGreedy"}
	case "quota", "countQuota":
		if inner, ok := s.Settings["inner"].(policy.Strategy); ok {
			s.Settings = maps.Clone(s.Settings)
			s.Settings["inner"] = byScore(inner)
		}
	}
	return s
}

// hasRelevance reports whether a scorer is relevance, or has it inside.
func hasRelevance(s policy.Strategy) bool {
	if s.Type == relevance {
		return true
	}
	for _, setting := range s.Settings {
		switch inside := setting.(type) {
		case policy.Strategy:
			if hasRelevance(inside) {
				return true
			}
		case []policy.Strategy:
			if slices.ContainsFunc(inside, hasRelevance) {
				return true
			}
		case []policy.Weighted:
			if slices.ContainsFunc(inside, func(part policy.Weighted) bool { return hasRelevance(part.Scorer) }) {
				return true
			}
		}
	}
	return false
}
