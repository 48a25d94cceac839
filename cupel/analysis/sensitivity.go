package analysis

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
)

// ItemStatus states whether a variant includes an item.
type ItemStatus string

// The statuses.
const (
	StatusIncluded ItemStatus = "Included"
	StatusExcluded ItemStatus = "Excluded"
)

// PolicySensitivityReport is the result of several variants for the same
// candidates and budget.
//
// It implements the Policy Sensitivity chapter of the specification.
type PolicySensitivityReport struct {
	// Variants are the results, in the order given.
	Variants []VariantReport `json:"variants"`
	// Diffs are the contents on which at least two variants disagree, in order
	// of first appearance among the candidates.
	Diffs []PolicySensitivityDiffEntry `json:"diffs"`
}

// VariantReport is the result of one variant.
type VariantReport struct {
	Label  string                 `json:"label"`
	Report *cupel.SelectionReport `json:"report"`
}

// PolicySensitivityDiffEntry is a content that some variants include and others
// do not.
type PolicySensitivityDiffEntry struct {
	// Content identifies the item. A content that several candidates share counts
	// as included if one of them is.
	Content string `json:"content"`
	// Statuses are one for each variant, in the order given.
	Statuses []VariantStatus `json:"statuses"`
}

// VariantStatus is the status of an item in one variant.
type VariantStatus struct {
	Label  string     `json:"label"`
	Status ItemStatus `json:"status"`
}

// PolicyVariant is a policy to compare with others.
type PolicyVariant struct {
	Label  string // its name in the result, which must be unique
	Policy policy.Policy
}

// PipelineVariant is a pipeline to compare with others.
type PipelineVariant struct {
	Label    string // its name in the result, which must be unique
	Pipeline *pipeline.Pipeline
}

// DryRunWithPolicy builds a pipeline from a policy and returns the report of a
// dry run. env supplies the values that building the policy needs. It fails with
// a [policy.ValidationError] if the policy is invalid, and as
// [pipeline.Pipeline.DryRun] does, with the partial report and the error.
//
// It implements DryRunWithPolicy of the Policy Sensitivity chapter.
func DryRunWithPolicy(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, p policy.Policy, env policy.Environment) (*cupel.SelectionReport, error) {
	pipeline, err := p.Pipeline(env)
	if err != nil {
		return nil, err
	}
	return pipeline.DryRun(ctx, items, budget)
}

// PolicySensitivity compares policies as [PolicySensitivityOfPipelines] compares
// pipelines. env supplies the values that building the policies needs.
//
// It fails as [PolicySensitivityOfPipelines] does; the error in a [VariantError]
// is a [policy.ValidationError] if the policy is invalid.
//
// It implements the Policy Sensitivity chapter of the specification.
func PolicySensitivity(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, env policy.Environment, variants ...PolicyVariant) (*PolicySensitivityReport, error) {
	pipelines := make([]PipelineVariant, len(variants))
	for i, v := range variants {
		p, err := v.Policy.Pipeline(env)
		if err != nil {
			return nil, &VariantError{v.Label, err}
		}
		pipelines[i] = PipelineVariant{v.Label, p}
	}
	return PolicySensitivityOfPipelines(ctx, items, budget, pipelines...)
}

// PolicySensitivityOfPipelines runs several pipelines on the same candidates and
// budget and lists the contents on which they disagree. Overflow observers are not
// called.
//
// It fails with an [ArgumentError] for fewer than two variants or a repeated
// label, and with a [VariantError] if a variant fails.
//
// It implements the Policy Sensitivity chapter of the specification.
func PolicySensitivityOfPipelines(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, variants ...PipelineVariant) (*PolicySensitivityReport, error) {
	if err := checkLabels(variants); err != nil {
		return nil, err
	}
	result := &PolicySensitivityReport{}
	for _, v := range variants {
		report, err := v.Pipeline.DryRun(ctx, items, budget)
		if err != nil {
			return nil, &VariantError{v.Label, err}
		}
		result.Variants = append(result.Variants, VariantReport{v.Label, report})
	}
	result.Diffs = differences(items, result.Variants)
	return result, nil
}

func checkLabels(variants []PipelineVariant) error {
	if len(variants) < 2 {
		return argumentError("variants", "At least two variants are required for a sensitivity comparison.")
	}
	for i, v := range variants {
		if slices.ContainsFunc(variants[:i], func(earlier PipelineVariant) bool { return earlier.Label == v.Label }) {
			return argumentError(fmt.Sprintf("variants[%d].label", i), "labels of variants must be unique, got %q twice", v.Label)
		}
	}
	return nil
}

// differences lists the contents that some of the variants include and others
// do not.
func differences(items []*cupel.ContextItem, variants []VariantReport) []PolicySensitivityDiffEntry {
	statuses := make(map[string][]VariantStatus) // by content
	for _, item := range items {
		list := make([]VariantStatus, len(variants))
		for v, variant := range variants {
			list[v] = VariantStatus{variant.Label, StatusExcluded}
		}
		statuses[item.Content()] = list
	}
	for v, variant := range variants {
		for _, i := range variant.Report.Included {
			statuses[items[i.Candidate].Content()][v].Status = StatusIncluded // the candidate's content, not its form's
		}
	}
	diffs := []PolicySensitivityDiffEntry{} // [] in JSON, and not null
	for _, item := range items {
		content := item.Content()
		list := statuses[content]
		if slices.ContainsFunc(list, func(s VariantStatus) bool { return s.Status != list[0].Status }) {
			diffs = append(diffs, PolicySensitivityDiffEntry{content, list})
		}
		delete(statuses, content) // it comes once
	}
	return diffs
}
