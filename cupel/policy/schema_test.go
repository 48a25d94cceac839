package policy_test

import (
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// object is a JSON object of the schema.
type object = map[string]any

// schemaOf returns the JSON Schema (draft 2020-12) of the documents that Decode
// reads with a registry. It accepts every document that Decode accepts. Decode also
// rejects mistakes that a schema cannot express, such as repeated names.
func schemaOf(t testing.TB, r *policy.Registry) string {
	t.Helper()
	scorers, slicers, placers := r.Descriptors()
	fields := []strategy.Field{
		{Name: "name", Type: strategy.Text, Doc: "A display name."},
		{Name: "description", Type: strategy.Text, Doc: "What the policy is for."},
		{Name: "scorers", Type: strategy.Parts, Required: true},
		{Name: "deduplicate", Type: strategy.Bool, Default: true, Doc: "Keep only the highest-scored of items with equal content."},
		{Name: "nearDuplicates", Type: strategy.Number, Default: 0.0, Range: strategy.Unit, Doc: "Drop items at least this share of whose text a newer item has. 0 disables it."},
		{Name: "overflow", Type: strategy.Enum, Values: []string{"Throw", "Truncate", "Proceed"}, Default: "Throw", Doc: "What happens when pinned and sliced items together exceed the target."},
	}
	root := objectSchema(ref("innerScorer"), fields, object{"slicer": ref("slicer"), "placer": ref("placer")})
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://github.com/wollax/cupel-go/cupel/policy/schema.json"
	root["title"] = "Cupel policy"
	root["description"] = "How a Cupel pipeline selects: scorers, a slicer, a placer, duplicates and overflow."
	root["required"] = []string{"scorers", "slicer", "placer"}
	weight := object{"weight": object{"type": "number", "exclusiveMinimum": 0, "description": "The scorer's weight. Only the ratios of weights matter."}}
	root["$defs"] = object{
		"parts": object{"type": "array", "minItems": 1, "description": "Scorers, combined by weighted average.",
			"items": object{"allOf": []object{ref("scorer"), {"required": []string{"weight"}}}}},
		"innerScorer": object{"allOf": []object{ref("scorer"), {"not": object{"required": []string{"weight"}}}}},
		"scorer":      typesSchema(ref("innerScorer"), scorers, weight),
		"slicer":      typesSchema(ref("slicer"), slicers, nil),
		"placer":      typesSchema(ref("placer"), placers, nil),
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

// typesSchema describes an object of one of several types.
func typesSchema(child object, types []strategy.Descriptor, siblings object) object {
	var forms []object
	for _, d := range types {
		form := objectSchema(child, d.Fields, object{"type": object{"const": d.Name}}, siblings)
		form["description"] = d.Doc
		forms = append(forms, form)
	}
	return object{"type": "object", "required": []string{"type"}, "oneOf": forms}
}

// objectSchema describes an object with the given fields, and those of siblings.
func objectSchema(child object, fields []strategy.Field, siblings ...object) object {
	var required []string
	properties := make(object)
	schema := object{"type": "object", "additionalProperties": false, "properties": properties}
	for _, more := range siblings {
		maps.Copy(properties, more)
	}
	for _, f := range fields {
		properties[f.Name] = fieldSchema(child, f)
		if f.Required {
			required = append(required, f.Name)
			schema["required"] = required
		}
		if f.Excludes != "" {
			schema["not"] = object{"required": []string{f.Excludes, f.Name}, "properties": object{f.Name: object{"const": true}}}
		}
	}
	return schema
}

func fieldSchema(child object, f strategy.Field) object {
	array := func(items object) object { return object{"type": "array", "items": items} }
	s := map[strategy.Type]object{
		strategy.Number:   {"type": "number"},
		strategy.Int:      {"type": "integer"},
		strategy.Bool:     {"type": "boolean"},
		strategy.Text:     {"type": "string"},
		strategy.Kind:     {"type": "string", "pattern": `\S`},
		strategy.Enum:     {"enum": f.Values},
		strategy.Duration: {"type": "string", "pattern": `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`},
		strategy.Weights:  {"type": "object", "additionalProperties": object{"type": "number", "minimum": 0}},
		strategy.Texts:    array(object{"type": "string"}),
		strategy.Object:   objectSchema(child, f.Fields),
		strategy.List:     array(objectSchema(child, f.Fields)),
		strategy.Variant:  typesSchema(child, f.Variants, nil),
		strategy.Child:    maps.Clone(child),
		strategy.Children: array(child),
		strategy.Parts:    ref("parts"),
	}[f.Type]
	if f.Keys == strategy.Kind {
		s["propertyNames"] = object{"pattern": `\S`}
	}
	if f.Required && s["type"] == "array" {
		s["minItems"] = 1
	}
	if f.Range != nil {
		least := "minimum"
		if f.Range.Above {
			least = "exclusiveMinimum"
		}
		s[least] = f.Range.Min
		if !math.IsInf(f.Range.Max, 1) {
			s["maximum"] = f.Range.Max
		}
	}
	if f.Default != nil {
		s["default"] = f.Default
	}
	if f.Doc != "" {
		s["description"] = f.Doc
	}
	return s
}

var update = flag.Bool("update", false, "write schema.json")

// TestSchemaFile compares the file that editors load with the schema. It is
// written by go test ./policy -run TestSchemaFile -update.
func TestSchemaFile(t *testing.T) {
	schema := schemaOf(t, nil)
	if *update {
		if err := os.WriteFile("schema.json", []byte(schema), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile("schema.json")
	if err != nil || string(file) != schema {
		t.Errorf("schema.json is out of date, %v: write it with -update", err)
	}
}
