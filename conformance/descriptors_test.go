package conformance

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

var update = flag.Bool("update", false, "write testdata/strategies.txt")

// TestStrategiesAreTheSpecifications compares names, bounds and defaults in the
// descriptors with those of the specification, which testdata/strategies.txt
// keeps. A difference is a mistake in a descriptor unless the specification, or
// the list of what this module adds to it, has changed.
func TestStrategiesAreTheSpecifications(t *testing.T) {
	var b strings.Builder
	var write func(indent string, fields []strategy.Field)
	write = func(indent string, fields []strategy.Field) {
		for _, f := range fields {
			fmt.Fprintf(&b, "%s%s: %s", indent, f.Name, f.Type)
			if f.Required {
				b.WriteString(", required")
			}
			if f.Range != nil {
				fmt.Fprintf(&b, ", %s", f.Range)
			}
			if f.Values != nil {
				fmt.Fprintf(&b, ", one of %s", strings.Join(f.Values, " "))
			}
			if f.Default != nil {
				fmt.Fprintf(&b, ", default %v", f.Default)
			}
			b.WriteByte('\n')
			write(indent+"  ", f.Fields)
			for _, variant := range f.Variants {
				fmt.Fprintf(&b, "%s  %s (%s)\n", indent, variant.Name, variant.Component)
				write(indent+"    ", variant.Fields)
			}
		}
	}
	for _, role := range []struct {
		name string
		list []strategy.Descriptor
	}{{"scorer", scorer.Descriptors()}, {"slicer", slicer.Descriptors()}, {"placer", placer.Descriptors()}} {
		for _, d := range role.list {
			fmt.Fprintf(&b, "%s %s (%s)\n", role.name, d.Name, d.Component)
			write("  ", d.Fields)
		}
	}
	file := filepath.Join("testdata", "strategies.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "the specification, and what the descriptors say")
}

// givenByNoVector are the reasons that no vector can expect, and why. The chapter
// on exclusion reasons reserves them: "Reserved variants MUST NOT be emitted by
// built-in pipeline stages". A vector runs built-in stages alone, and a report
// with such a reason would be a mistake of the engine. What the specification
// does give for them, their JSON, is in cupel/json_golden_test.go.
var givenByNoVector = map[cupel.ExclusionCode]string{
	cupel.ExcludeScoredTooLow:                    "no built-in slicer has a threshold for scores",
	cupel.ExcludeQuotaCapExceeded:                "what the shares of QuotaSlice leave out is BudgetExceeded; caps of count slicers have CountCapExceeded (R31)",
	cupel.ExcludeQuotaRequireDisplaced:           "what a requirement of QuotaSlice displaces is BudgetExceeded",
	cupel.ExcludeFiltered:                        "no built-in stage has predicates of the caller",
	cupel.ExcludeCountRequireCandidatesExhausted: "a requirement without candidates is a shortfall of the report, and excludes nothing (R31)",
}

// TestNothingIsForgotten looks for a vector, an entry in the schema of policies,
// a doc sentence for each setting, and an example of each type of strategy, and
// for a vector and a sentence for each reason.
func TestNothingIsForgotten(t *testing.T) {
	var vectors strings.Builder
	require.NoError(t, fs.WalkDir(Vectors(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Vectors(), path)
		vectors.Write(text)
		return err
	}))
	examples := func(folder string) string {
		files, err := filepath.Glob(filepath.Join("..", "cupel", folder, "*_test.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, "%s has no tests", folder)
		var all strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if strings.Contains(string(text), "\nfunc Example") {
				all.Write(text)
			}
		}
		return all.String()
	}
	var documented func(at string, fields []strategy.Field)
	documented = func(at string, fields []strategy.Field) {
		for _, f := range fields {
			assert.True(t, f.Doc != "" && f.Type != 0, "%s.%s has no doc or no type", at, f.Name)
			documented(at+"."+f.Name, f.Fields)
			for _, variant := range f.Variants {
				documented(at+"."+variant.Name, variant.Fields)
			}
		}
	}
	schema, err := os.ReadFile(filepath.Join("..", "cupel", "policy", "schema.json"))
	require.NoError(t, err)
	for role, list := range map[string][]strategy.Descriptor{"scorer": scorer.Descriptors(), "slicer": slicer.Descriptors(), "placer": placer.Descriptors()} {
		shown := examples(role)
		for _, d := range list {
			name := vectorName(d.Name)
			if role == "placer" {
				name = strings.ReplaceAll(name, "_", "-")
			}
			assert.Contains(t, vectors.String(), `"`+name+`"`, "%s %s has no vector", role, d.Name)
			assert.Contains(t, string(schema), fmt.Sprintf(`"const": %q`, d.Name), "%s %s is not in the schema", role, d.Name)
			assert.True(t, d.Doc != "" && d.Component != "", "%s %s has no doc or no component", role, d.Name)
			documented(d.Name, d.Fields)
			goName := strings.ToUpper(d.Name[:1]) + d.Name[1:]
			assert.Regexp(t, "func Example(New)?"+goName, shown, "%s %s has no example", role, d.Name)
		}
	}
	golden, err := os.ReadFile(filepath.Join("..", "cupel", "json_golden_test.go"))
	require.NoError(t, err)
	for _, code := range cupel.ExclusionCodes() {
		assert.Contains(t, string(golden), fmt.Sprintf(`"reason": %q`, code), "reason %s has no JSON in cupel/json_golden_test.go", code)
		assert.NotEmpty(t, code.Meaning(), code)
		_, exempt := givenByNoVector[code]
		assert.NotEqual(t, exempt, strings.Contains(vectors.String(), `"`+string(code)+`"`), "reason %s has no vector, or one in spite of its exemption: %s", code, givenByNoVector[code])
	}
}
