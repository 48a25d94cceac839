package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/wollax/cupel-go/cupel/strategy"
)

// Schema returns the JSON Schema (draft 2020-12) of the documents that [Decode]
// reads without a registry, for editors and other languages. The schema accepts
// every document that Decode accepts. Decode also rejects mistakes that a schema
// cannot express, such as repeated names and requirements above their caps.
func Schema() []byte { return bytes.Clone(schema()) }

var schema = sync.OnceValue(func() []byte {
	text := rootSchema().text()
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return text
	}
	indented.WriteByte('\n')
	return indented.Bytes()
})

// members is the members of a JSON object, in order: a name, its value, and so
// on.
type members []any

// text returns the object as JSON.
func (m members) text() []byte {
	var b bytes.Buffer
	for i := 0; i < len(m); i += 2 {
		fmt.Fprintf(&b, ",%q:%s", m[i], text(m[i+1]))
	}
	return append(append([]byte("{"), bytes.TrimPrefix(b.Bytes(), []byte(","))...), '}')
}

func text(v any) []byte {
	switch v := v.(type) {
	case members:
		return v.text()
	case []members:
		var b bytes.Buffer
		for _, m := range v {
			b.WriteByte(',')
			b.Write(m.text())
		}
		return append(append([]byte("["), bytes.TrimPrefix(b.Bytes(), []byte(","))...), ']')
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return []byte("null") // no value of a descriptor
	}
	return bytes.TrimSpace(b.Bytes())
}

func ref(name string) members { return members{"$ref", "#/$defs/" + name} }

func rootSchema() members {
	text := func(doc string) members { return members{"type", "string", "description", doc} }
	return members{
		"$schema", "https://json-schema.org/draft/2020-12/schema",
		"$id", "https://github.com/wollax/cupel-go/cupel/policy/schema.json",
		"title", "Cupel policy",
		"description", "How a Cupel pipeline selects: scorers, a slicer, a placer, duplicates and overflow.",
		"type", "object",
		"required", []string{"scorers", "slicer", "placer"},
		"additionalProperties", false,
		"properties", members{
			"name", text("A display name."),
			"description", text("What the policy is for."),
			"scorers", ref("parts"), "slicer", ref("slicer"), "placer", ref("placer"),
			"deduplicate", members{"type", "boolean", "default", true, "description", "Keep only the highest-scored of items with equal content."},
			"fullOnly", members{"type", "boolean", "default", false, "description", "Ignore the smaller forms of items."},
			"overflow", members{"enum", []string{"Throw", "Truncate", "Proceed"}, "default", "Throw",
				"description", "What happens when pinned and sliced items together exceed the target."},
		},
		"$defs", members{
			"parts", members{"type", "array", "minItems", 1, "description", "Scorers, combined by weighted average.",
				"items", members{"allOf", []members{ref("scorer"), {"required", []string{"weight"}}}}},
			"innerScorer", members{"allOf", []members{ref("scorer"), {"not", members{"required", []string{"weight"}}}}},
			"innerSlicer", ref("slicer"),
			"innerPlacer", ref("placer"),
			"scorer", typesSchema(scorers, "weight", members{"type", "number", "exclusiveMinimum", 0, "description", "The scorer's weight. Only the ratios of weights matter."}),
			"slicer", typesSchema(slicers),
			"placer", typesSchema(placers),
		},
	}
}

// typesSchema describes an object of one of the types of a role. place has
// further members, such as the weight.
func typesSchema(r *role, place ...any) members {
	var forms []members
	for _, d := range r.types {
		form := objectSchema(r, d.Fields, append(members{"type", members{"const", d.Name}}, place...))
		forms = append(forms, append(members{"description", d.Doc}, form...))
	}
	return members{"type", "object", "required", []string{"type"}, "oneOf", forms}
}

// objectSchema describes an object with the given fields.
func objectSchema(r *role, fields []strategy.Field, properties members) members {
	var required []string
	schema := members{"additionalProperties", false}
	for _, f := range fields {
		properties = append(properties, f.Name, fieldSchema(r, f))
		if f.Required {
			required = append(required, f.Name)
		}
		if f.Excludes != "" {
			schema = append(schema, "not", members{"required", []string{f.Excludes, f.Name}, "properties", members{f.Name, members{"const", true}}})
		}
	}
	if required != nil {
		schema = append(schema, "required", required)
	}
	return append(schema, "properties", properties)
}

func fieldSchema(r *role, f strategy.Field) members {
	var s members
	switch f.Type {
	case strategy.Number:
		s = members{"type", "number"}
	case strategy.Int:
		s = members{"type", "integer"}
	case strategy.Bool:
		s = members{"type", "boolean"}
	case strategy.Text:
		s = members{"type", "string"}
	case strategy.Kind:
		s = members{"type", "string", "pattern", `\S`}
	case strategy.Enum:
		s = members{"enum", f.Values}
	case strategy.Duration:
		s = members{"type", "string", "pattern", `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`}
	case strategy.Weights:
		s = members{"type", "object", "additionalProperties", members{"type", "number", "minimum", 0}}
		if f.Keys == strategy.Kind {
			s = append(s, "propertyNames", members{"pattern", `\S`})
		}
	case strategy.List:
		s = members{"type", "array", "items", append(members{"type", "object"}, objectSchema(r, f.Fields, nil)...)}
		if f.Required {
			s = append(s, "minItems", 1)
		}
	case strategy.Variant:
		s = typesSchema(variants(f))
	case strategy.Child, strategy.Children:
		s = map[*role]members{scorers: ref("innerScorer"), slicers: ref("innerSlicer"), placers: ref("innerPlacer")}[r]
		if f.Type == strategy.Children {
			s = members{"type", "array", "items", s}
		}
	case strategy.Parts:
		s = ref("parts")
	case strategy.JSON:
		s = members{"type", "object"}
	}
	if f.Range != nil {
		least := "minimum"
		if f.Range.Above {
			least = "exclusiveMinimum"
		}
		s = append(s, least, f.Range.Min)
		if !math.IsInf(f.Range.Max, 1) {
			s = append(s, "maximum", f.Range.Max)
		}
	}
	if f.Default != nil {
		s = append(s, "default", f.Default)
	}
	return append(s, "description", f.Doc)
}
