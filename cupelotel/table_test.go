package cupelotel_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTelemetryTable holds the table of attributes in docs/telemetry.md against the
// comments of attributes.go. -update writes it.
func TestTelemetryTable(t *testing.T) {
	const file, begin, end = "../docs/telemetry.md", "<!-- attributes -->\n", "<!-- end of attributes -->\n"
	if _, err := os.Stat("../go.work"); err != nil {
		t.Skip("the table is outside of the module, in the repository")
	}
	doc, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(doc), begin)
	old, after, ended := strings.Cut(rest, end)
	require.True(t, found && ended, "%s has no table between %q and %q", file, begin, end)
	table := attributeTable(t)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+table+end+after), 0o644))
		return
	}
	assert.Equal(t, old, table, "go test -run TestTelemetryTable -update writes %s", file)
}

// The parts of a comment in attributes.go: where a group is, the names before the
// description of an attribute, its type with its unit, and what is code in a text.
var (
	groupFacts = regexp.MustCompile(`(?m)^\ton: +(.+)\n\tverbosity: +(.+)\n\tcost: +(.+)$`)
	ownName    = regexp.MustCompile(`(?:Key|Prefix)$`)
	ownNames   = regexp.MustCompile(`^(?:\w+(?:Key|Prefix)(?:, | and )?)+ (?:is |are )?`)
	typeOf     = regexp.MustCompile(` \(((?:int|string|double|bool|map)(?:\[\])?(?:, [^)]+)?)\)`)
	quoted     = regexp.MustCompile(`\[([^\]]+)\]|"([^"]*)"|(cupel(?:\.[a-z_]+)+(?:\.\*)?)`)
)

// attributeTable writes the table that the comments of attributes.go make.
func attributeTable(t *testing.T) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "attributes.go", nil, parser.ParseComments)
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("| on | verbosity | attribute | type | | cost |\n|---|---|---|---|---|---|\n")
	for _, d := range parsed.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST || !ownName.MatchString(group.Specs[0].(*ast.ValueSpec).Names[0].Name) {
			continue
		}
		facts := groupFacts.FindStringSubmatch(group.Doc.Text())
		if facts == nil {
			t.Errorf("attributes.go: a group does not say what it is on, at which verbosity and at what cost:\n%s", group.Doc.Text())
			continue
		}
		on, verbosity, cost := facts[1], facts[2], facts[3]
		for i := 0; i < len(group.Specs); {
			spec := group.Specs[i].(*ast.ValueSpec)
			names := []string{attributeName(spec)}
			for i++; i < len(group.Specs) && group.Specs[i].(*ast.ValueSpec).Doc == nil; i++ { // described together
				names = append(names, attributeName(group.Specs[i].(*ast.ValueSpec)))
			}
			text := strings.Join(strings.Fields(spec.Doc.Text()), " ")
			kind := typeOf.FindStringSubmatch(text)
			if kind == nil || !ownNames.MatchString(text) {
				t.Errorf("attributes.go: a comment is not %q: %s", "XKey is what it is (type).", text)
				continue
			}
			text = typeOf.ReplaceAllString(ownNames.ReplaceAllString(text, ""), "")
			text = quoted.ReplaceAllString(strings.ToUpper(text[:1])+text[1:], "`$1$2$3`")
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", quoted.ReplaceAllString(on, "`$3`"), verbosity, strings.Join(names, ", "), kind[1], text, cost)
			on, verbosity, cost = "", "", ""
		}
	}
	return b.String()
}

// attributeName returns the name that a constant of attributes.go has as its value.
func attributeName(spec *ast.ValueSpec) string {
	suffix := ""
	if spec.Type == nil { // a prefix
		suffix = "*"
	}
	name, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
	return "`" + name + suffix + "`"
}
