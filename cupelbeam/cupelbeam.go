// Package cupelbeam measures policies on corpora of conversations with Apache Beam. It
// runs the measure of package replay as a pipeline and gives the same table, bit for bit.
//
//	p, s := beam.NewPipelineWithRoot()
//	output, err := cupelbeam.Replay(s, cupelbeam.Spec{
//		Policies: []cupelbeam.Policy{{Name: "newest"}, {Name: "agent", Low: 0.6}},
//		Shares:   []float64{0.25},
//	}, []string{"month/*.jsonl"})
//	cupelbeam.Write(s, "samples.jsonl", 4, output.Samples) // in four files; then run p
//
// A [Spec] lists each [Policy] and the budgets. The pipeline reads JSON Lines, measures
// each conversation, and adds up the samples; an [Output] has its collections. The runner
// decides where this happens: Prism runs in the process, Flink and others on a cluster.
// If a worker fails, the runner repeats the lost work; Flink repeats the stage. The
// command cupel-beam does all of this.
//
// Beam's SDK does not compile for Linux on 32-bit processors.
package cupelbeam

import (
	"fmt"
	"time"

	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// Spec describes a measurement. Workers build it again, so it is data.
type Spec struct {
	Policies []Policy
	Shares   []float64 // budgets as shares of a conversation, as [replay.NewMeasure] takes them
}

// Policy names a policy of package replay, the preset agent, or a policy in JSON.
type Policy struct {
	Name string // NAME@0.5 is in a session, as in [replay.Named]
	JSON string // of a [policy.Policy]; "" for a name that is known
}

// Measure builds the measure.
func (s *Spec) Measure() (*replay.Measure, error) {
	policies := make([]replay.Policy, len(s.Policies))
	for i, p := range s.Policies {
		var err error
		if policies[i], err = replay.Named(p.Name, p.build); err != nil {
			return nil, fmt.Errorf("cupelbeam: policy %q: %w", p.Name, err)
		}
	}
	return replay.NewMeasure(policies, s.Shares)
}

// build returns the policy without a session.
func (p *Policy) build(name string) (replay.Policy, error) {
	if name == "agent" {
		return replay.Choosing(name, agent.New(replay.Characters{})), nil
	}
	registry := policy.NewRegistry()
	found, err := registry.Lookup(name)
	if p.JSON != "" {
		found, err = policy.Decode(registry, []byte(p.JSON))
	}
	if err != nil {
		return replay.Policy{}, err
	}
	pipeline, err := found.Pipeline(policy.Environment{Registry: registry, Clock: func() time.Time { return time.Unix(0, 0) }})
	return replay.Choosing(name, pipeline), err
}
