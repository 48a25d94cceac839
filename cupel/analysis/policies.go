package analysis

import (
	"context"
	"reflect"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
)

// DryRunWithPolicy builds a pipeline from a policy and returns the report of a dry
// run. env supplies what the policy needs to be built. It fails with a
// [policy.ValidationError] if the policy is invalid, and as
// [cupel.Pipeline.DryRun] does, with the partial report and the error.
//
// It implements DryRunWithPolicy of the Policy Sensitivity chapter.
func DryRunWithPolicy(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, p policy.Policy, env policy.Environment) (*cupel.SelectionReport, error) {
	pipeline, err := p.Pipeline(env)
	if err != nil {
		return nil, err
	}
	return pipeline.DryRun(ctx, items, budget)
}

// PolicyVariant is a policy to compare with others.
type PolicyVariant struct {
	Label  string // its name in the result, which must be unique
	Policy policy.Policy
}

// PolicySensitivity compares policies as [PolicySensitivityOfPipelines] compares
// pipelines. env supplies what the policies need to be built. Policies whose
// Scorers are equal share one scorer, which scores once.
//
// It fails as [PolicySensitivityOfPipelines] does; the error in a [VariantError]
// is a [policy.ValidationError] if the policy is invalid.
//
// It implements the Policy Sensitivity chapter of the specification.
func PolicySensitivity(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, env policy.Environment, variants ...PolicyVariant) (*PolicySensitivityReport, error) {
	labels := make([]string, len(variants))
	for i, v := range variants {
		labels[i] = v.Label
	}
	if err := checkLabels(labels); err != nil {
		return nil, err
	}
	pipelines := make([]PipelineVariant, len(variants))
	for i, v := range variants {
		config, err := v.Policy.Config(env)
		if err != nil {
			return nil, &VariantError{v.Label, err}
		}
		for j, earlier := range variants[:i] {
			if reflect.DeepEqual(earlier.Policy.Scorers, v.Policy.Scorers) {
				config.Scorer = pipelines[j].Pipeline.Config().Scorer
				break
			}
		}
		pipeline, err := cupel.New(config)
		if err != nil {
			return nil, &VariantError{v.Label, err}
		}
		pipelines[i] = PipelineVariant{v.Label, pipeline}
	}
	return PolicySensitivityOfPipelines(ctx, items, budget, pipelines...)
}
