package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// relevance is the name of the scorer that this command adds to the built-in
// ones, and of the policy that uses only that scorer.
const relevance = "relevance"

// maxQueryBytes is the longest question read from a file. A longer file was
// probably given by mistake.
const maxQueryBytes = 1 << 20

// queryFlags are the flags that give a question.
type queryFlags struct {
	query     string
	queryFile string

	command *cobra.Command
	asked   *question // cached by question
}

func (f *queryFlags) register(command *cobra.Command) {
	f.command = command
	flags := command.Flags()
	flags.StringVarP(&f.query, "query", "q", "", "`question` that the window should help answer; adds relevance to a policy without it (see the README)")
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

// question returns the question from the flags; given is false if there is none.
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
			return nil, usagef("%s: a question may have at most %d bytes", shown(f.queryFile), maxQueryBytes)
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

// readPolicy finds a preset by name, or reads a file, and builds it. A question
// adds relevance to the policy.
func (f *queryFlags) readPolicy(env *Environment, name string) (policy.Policy, *pipeline.Pipeline, error) {
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

// registry returns the presets and strategies of package policy, plus relevance
// to the question.
func (q *question) registry() *policy.Registry {
	registry := policy.NewRegistry()
	// Registering the policy builds its scorer; any question will do for that.
	registering := true
	must(registry.RegisterScorer(relevanceType(func(args strategy.Args) (strategy.Scorer, error) {
		if registering {
			return (&question{given: true, indexes: new(indexes)}).scorer(args)
		}
		return q.scorer(args)
	})))
	must(registry.Register(relevance, relevancePolicy()))
	registering = false
	return registry
}

// relevancePolicy returns the policy that package cupelrelevance recommends.
func relevancePolicy() policy.Policy {
	return policy.Policy{
		Name:        "Relevance",
		Description: "What is relevant to a question, in chronological order; requires --query.",
		Scorers:     []policy.Weighted{{Scorer: policy.Strategy{Type: relevance}, Weight: 1}},
		Slicer:      policy.Strategy{Type: "scoreGreedy"},
		Placer:      policy.Strategy{Type: "chronological"},
	}
}

var languages = []string{"none", "english", "french", "hungarian", "norwegian", "russian", "spanish", "swedish"}

// relevanceType describes the scorer and its settings in a policy.
func relevanceType(build func(settings strategy.Args) (strategy.Scorer, error)) strategy.Descriptor {
	return strategy.Descriptor{
		Name: relevance, Component: "Relevance",
		Doc: "Scores an item by its relevance to the question of --query or --query-file.",
		Fields: []strategy.Field{{Name: "settings", Type: strategy.Object, Doc: "The question and the index.", Fields: []strategy.Field{
			{Name: "query", Type: strategy.Text, Doc: "The question if the flags give none."},
			{Name: "language", Type: strategy.Enum, Values: languages, Default: string(cupelrelevance.LanguageEnglish), Doc: "The language of the stems, or none."},
			{Name: "fields", Type: strategy.Texts, Doc: "What is searched: content, tags or metadata:KEY."},
			{Name: "groups", Type: strategy.Texts, Doc: "The metadata keys that assign an item to a group, such as a session."},
			{Name: "names", Type: strategy.Texts, Doc: "The metadata keys that hold an item's names, such as its speaker."},
			{Name: "gap", Type: strategy.Duration, Default: cupelrelevance.DefaultGap, Doc: "The pause that splits a group."},
		}}},
		Build: func(args strategy.Args) (any, error) {
			return strategy.Built(build(strategy.Get[strategy.Args](args, "settings")))
		},
	}
}

// scorer builds the scorer from its settings.
func (q *question) scorer(settings strategy.Args) (strategy.Scorer, error) {
	wrong := strategy.Problems{Component: "Relevance"}
	text := strategy.Get[string](settings, "query")
	switch {
	case q.given:
		text = q.text
	case strings.TrimSpace(text) == "":
		wrong.Add("settings.query", "", "no question is given; give --query or --query-file, or set one here")
		return nil, wrong.Err()
	}
	index, err := q.index(settings)
	if err != nil {
		return nil, err
	}
	return cupelrelevance.New(index, text)
}

// indexes caches indexes by their settings, so that compared policies share the
// words of their items. The zero value is ready to use.
type indexes struct {
	mu sync.Mutex
	of map[string]*cupelrelevance.Index
}

// indexesWith returns indexes that holds an index for the default settings.
func indexesWith(index *cupelrelevance.Index) *indexes {
	return &indexes{of: map[string]*cupelrelevance.Index{indexKey(strategy.Args{}): index}}
}

// index returns the index for settings.
func (x *indexes) index(settings strategy.Args) (*cupelrelevance.Index, error) {
	key := indexKey(settings)
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

// indexKey identifies the settings of an index, which exclude the query.
func indexKey(settings strategy.Args) string {
	given := make(map[string]any)
	maps.Copy(given, settings.Given)
	delete(given, "query")
	return fmt.Sprintf("%#v", given) // sorted by name
}

// newIndex reports every mistake in the settings.
func newIndex(settings strategy.Args) (*cupelrelevance.Index, error) {
	var opts []cupelrelevance.IndexOption
	wrong := strategy.Problems{Component: "Relevance"}
	// Try one option at a time, so that no mistake hides another.
	add := func(opt cupelrelevance.IndexOption) {
		_, err := cupelrelevance.NewIndex(opt)
		if invalid, ok := errors.AsType[*cupel.InvalidConfigError](err); ok {
			reason := invalid.Reason
			if strings.Contains(reason, "FieldContent") { // the package's own text names its Go constants
				reason = "field must be content, tags or metadata:KEY"
			}
			wrong.Add("settings."+invalid.Field, invalid.Value, reason)
			return
		}
		opts = append(opts, opt)
	}
	if settings.Has("language") {
		add(cupelrelevance.WithLanguage(cupelrelevance.Language(strategy.Get[string](settings, "language"))))
	}
	if settings.Has("fields") {
		var fields []cupelrelevance.Field
		for _, name := range strategy.Get[[]string](settings, "fields") {
			fields = append(fields, cupelrelevance.Field(name))
		}
		add(cupelrelevance.WithFields(fields...))
	}
	if settings.Has("groups") {
		add(cupelrelevance.WithGroups(strategy.Get[[]string](settings, "groups")...))
	}
	if settings.Has("names") {
		add(cupelrelevance.WithNames(strategy.Get[[]string](settings, "names")...))
	}
	if settings.Has("gap") {
		add(cupelrelevance.WithGap(strategy.Get[time.Duration](settings, "gap")))
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return cupelrelevance.NewIndex(opts...)
}

// relevanceShare is the weight of relevance when --query adds it to a policy: a
// multiple of the weight of all its other scorers together. README.md has the
// figures behind it.
const relevanceShare = 32

// ask returns the policy with relevance among its scorers, and with a slicer
// that takes the highest score first: slicers that rank by score per token find
// half as much evidence in small budgets. A policy that already has relevance
// is unchanged.
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
		// Only the ratio of the weights matters, and dividing by 64 is exact.
		for i := range p.Scorers {
			p.Scorers[i].Weight /= 64
		}
		total /= 64
	}
	p.Scorers = append(p.Scorers, policy.Weighted{Scorer: policy.Strategy{Type: relevance}, Weight: relevanceShare * total})
	p.Slicer = byScore(p.Slicer)
	return p
}

// byScore returns the slicer with ScoreGreedy in place of Greedy and Knapsack,
// inside quotas too.
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

// hasRelevance reports whether a scorer is relevance or contains it.
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
