package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// newStrategies returns the help topic about what policies are made of.
func newStrategies() *cobra.Command {
	var b strings.Builder
	b.WriteString("The types of strategies that policies use, with their settings.\n")
	scorers, slicers, placers := (&question{indexes: new(indexes)}).registry().Descriptors()
	for _, role := range []struct {
		title string
		types []strategy.Descriptor
	}{{"Scorers", scorers}, {"Slicers", slicers}, {"Placers", placers}} {
		fmt.Fprintf(&b, "\n%s:\n", role.title)
		for _, d := range role.types {
			fmt.Fprintf(&b, "  %s\n      %s\n", d.Name, d.Doc)
			writeFields(&b, "      ", d.Fields)
		}
	}
	return &cobra.Command{Use: "strategies", Short: "List the strategies of policies, with their settings", Long: b.String()}
}

func writeFields(b *strings.Builder, indent string, fields []strategy.Field) {
	for _, f := range fields {
		fmt.Fprintf(b, "%s%s: %s", indent, f.Name, f.Type)
		if f.Range != nil {
			fmt.Fprintf(b, " %s", f.Range)
		}
		if f.Values != nil {
			fmt.Fprintf(b, ", one of %s", strings.Join(f.Values, " "))
		}
		switch {
		case f.Required:
			b.WriteString(", required")
		case f.Default != nil:
			fmt.Fprintf(b, ", default %v", f.Default)
		}
		fmt.Fprintf(b, ". %s\n", f.Doc)
		writeFields(b, indent+"  ", f.Fields)
		for _, variant := range f.Variants {
			fmt.Fprintf(b, "%s  %s: %s\n", indent, variant.Name, variant.Doc)
			writeFields(b, indent+"    ", variant.Fields)
		}
	}
}
