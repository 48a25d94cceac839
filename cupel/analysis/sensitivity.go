package analysis

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
)

// ItemStatus says whether a variant includes an item.
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

// PipelineVariant is a pipeline to compare with others.
type PipelineVariant struct {
	Label    string // its name in the result, which must be unique
	Pipeline *cupel.Pipeline
}

// PolicySensitivityOfPipelines runs several pipelines on the same candidates and
// budget and lists the contents on which they disagree. A scorer that several
// pipelines share scores once. Overflow observers are not called.
//
// It fails with an [ArgumentError] for fewer than two variants or a repeated
// label, and with a [VariantError] if a variant fails.
//
// It implements the Policy Sensitivity chapter of the specification.
func PolicySensitivityOfPipelines(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, variants ...PipelineVariant) (*PolicySensitivityReport, error) {
	labels := make([]string, len(variants))
	for i, v := range variants {
		labels[i] = v.Label
	}
	if err := checkLabels(labels); err != nil {
		return nil, err
	}
	result := &PolicySensitivityReport{Variants: make([]VariantReport, len(variants))}
	var prepared *cupel.Prepared
	for i, v := range variants {
		var err error
		if prepared == nil {
			prepared, err = v.Pipeline.Prepare(ctx, items)
		} else {
			prepared, err = prepared.For(ctx, v.Pipeline)
		}
		if err != nil {
			return nil, &VariantError{v.Label, err}
		}
		report, err := prepared.DryRun(ctx, budget)
		if err != nil {
			return nil, &VariantError{v.Label, err}
		}
		result.Variants[i] = VariantReport{v.Label, report}
	}
	result.Diffs = differences(items, result.Variants)
	return result, nil
}

func checkLabels(labels []string) error {
	if len(labels) < 2 {
		return &ArgumentError{"variants", "At least two variants are required for a sensitivity comparison."}
	}
	seen := make(map[string]int, len(labels))
	for i, label := range labels {
		if first, ok := seen[label]; ok {
			return &ArgumentError{fmt.Sprintf("variants[%d].label", i),
				fmt.Sprintf("labels of variants must be unique: variants[%d] and variants[%d] are both %q", first, i, label)}
		}
		seen[label] = i
	}
	return nil
}

// differences lists the contents that some of the variants include and others
// do not.
func differences(items []*cupel.ContextItem, variants []VariantReport) []PolicySensitivityDiffEntry {
	included := make([]map[string]struct{}, len(variants))
	for v, variant := range variants {
		included[v] = make(map[string]struct{}, len(variant.Report.Included))
		for _, i := range variant.Report.Included {
			included[v][items[i.Candidate()].Content()] = struct{}{} // the candidate's content, not its form's
		}
	}
	diffs := []PolicySensitivityDiffEntry{} // [] in JSON, and not null
	seen := make(map[string]struct{}, len(items))
	for _, item := range items {
		content := item.Content()
		if _, ok := seen[content]; ok {
			continue
		}
		seen[content] = struct{}{}
		count := 0
		for v := range variants {
			if _, ok := included[v][content]; ok {
				count++
			}
		}
		if count == 0 || count == len(variants) {
			continue
		}
		entry := PolicySensitivityDiffEntry{Content: content, Statuses: make([]VariantStatus, len(variants))}
		for v, variant := range variants {
			entry.Statuses[v] = VariantStatus{variant.Label, StatusExcluded}
			if _, ok := included[v][content]; ok {
				entry.Statuses[v].Status = StatusIncluded
			}
		}
		diffs = append(diffs, entry)
	}
	return diffs
}
