package cupeltoml

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestIntegersOfTheSchema: every field that the schema of policies calls an
// integer refuses a float.
func TestIntegersOfTheSchema(t *testing.T) {
	schema, err := os.ReadFile(filepath.Join("..", "cupel", "policy", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"(\w+)": \{[^{}]*"type": "integer"`).FindAllSubmatch(schema, -1)
	if len(found) < 4 {
		t.Fatalf("%d integers found, want at least 4: has the schema another form?", len(found))
	}
	c := &converter{integers: integers(nil)}
	for _, match := range found {
		if name := string(match[1]); !c.isInteger("slicer.inner.entries[0]." + name) {
			t.Errorf("%s is an integer of the schema, and takes floats", name)
		}
	}
	for _, at := range []string{`scorers[0].weights["capCount"]`, "scorers[0].weights.capCount", "slicer.entries[0].cap"} {
		if c.isInteger(at) {
			t.Errorf("%s is a number, and refuses floats", at)
		}
	}
}
