package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Schema returns the JSON Schema (draft 2020-12) of the documents that [Decode]
// reads with a registry, for editors and other languages. A nil registry has only
// the built-in types. The schema accepts every document that Decode accepts.
// Decode also rejects mistakes that a schema cannot express, such as repeated
// names and requirements above their caps.
func Schema(registry *Registry) []byte {
	var w jsonwire.Writer
	writeSchema(&w, rootSchema(registry))
	text, _ := w.Result() // nothing in a descriptor fails
	var indented bytes.Buffer
	_ = json.Indent(&indented, text, "", "  ") // text is JSON
	indented.WriteByte('\n')
	return indented.Bytes()
}

// members is the members of a JSON object, in order: a name, its value, and so
// on.
type members []any

func writeSchema(w *jsonwire.Writer, v any) {
	switch v := v.(type) {
	case members:
		w.Object(func() {
			for i := 0; i < len(v); i += 2 {
				w.Key(fmt.Sprint(v[i]))
				writeSchema(w, v[i+1])
			}
		})
	case []members:
		w.Array(len(v), func(i int) { writeSchema(w, v[i]) })
	default:
		w.Any(v)
	}
}

func ref(name string) members { return members{"$ref", "#/$defs/" + name} }

func rootSchema(registry *Registry) members {
	return members{
		"$schema", "https://json-schema.org/draft/2020-12/schema",
		"$id", "https://github.com/wollax/cupel-go/cupel/policy/schema.json",
		"title", "Cupel policy",
		"description", "How a Cupel pipeline selects: scorers, a slicer, a placer, duplicates and overflow.",
		"type", "object",
		"required", required(document.Fields),
		"additionalProperties", false,
		"properties", properties(whole, document.Fields),
		"$defs", members{
			"parts", members{"type", "array", "minItems", 1, "description", "Scorers, combined by weighted average.",
				"items", members{"allOf", []members{ref("scorer"), {"required", []string{"weight"}}}}},
			"innerScorer", members{"allOf", []members{ref("scorer"), {"not", members{"required", []string{"weight"}}}}},
			"innerSlicer", ref("slicer"),
			"innerPlacer", ref("placer"),
			"scorer", typesSchema(scorers, scorers.all(registry), "weight", members{"type", "number", "exclusiveMinimum", 0, "description", "The scorer's weight. Only the ratios of weights matter."}),
			"slicer", typesSchema(slicers, slicers.all(registry)),
			"placer", typesSchema(placers, placers.all(registry)),
		},
	}
}

// typesSchema describes an object of one of several types. place has further
// members, such as the weight.
func typesSchema(r *role, types []strategy.Descriptor, place ...any) members {
	var forms []members
	for _, d := range types {
		form := objectSchema(r, d.Fields, append(members{"type", members{"const", d.Name}}, place...))
		forms = append(forms, append(members{"description", d.Doc}, form...))
	}
	return members{"type", "object", "required", []string{"type"}, "oneOf", forms}
}

// objectSchema describes an object with the given fields, after those of place.
func objectSchema(r *role, fields []strategy.Field, place members) members {
	schema := members{"additionalProperties", false}
	for _, f := range fields {
		if f.Excludes != "" {
			schema = append(schema, "not", members{"required", []string{f.Excludes, f.Name}, "properties", members{f.Name, members{"const", true}}})
		}
	}
	if names := required(fields); names != nil {
		schema = append(schema, "required", names)
	}
	return append(schema, "properties", append(place, properties(r, fields)...))
}

func required(fields []strategy.Field) (names []string) {
	for _, f := range fields {
		if f.Required {
			names = append(names, f.Name)
		}
	}
	return names
}

func properties(r *role, fields []strategy.Field) (all members) {
	for _, f := range fields {
		all = append(all, f.Name, fieldSchema(r, f))
	}
	return all
}

func fieldSchema(r *role, f strategy.Field) members {
	s := slices.Clone(typeOf[f.Type].schema)
	inner := r.of(f)
	child := ref("inner" + strings.ToUpper(inner.name[:1]) + inner.name[1:])
	if inner != r { // a strategy of the policy itself
		child = ref(inner.name)
	}
	switch f.Type {
	case strategy.Enum:
		s = members{"enum", f.Values}
	case strategy.Weights:
		if f.Keys == strategy.Kind {
			s = append(s, "propertyNames", members{"pattern", `\S`})
		}
	case strategy.Object:
		s = append(members{"type", "object"}, objectSchema(r, f.Fields, nil)...)
	case strategy.List:
		s = members{"type", "array", "items", append(members{"type", "object"}, objectSchema(r, f.Fields, nil)...)}
	case strategy.Variant:
		s = typesSchema(inner, inner.types)
	case strategy.Child:
		s = child
	case strategy.Children:
		s = members{"type", "array", "items", child}
	default: // in the table
	}
	if f.Required && (f.Type == strategy.List || f.Type == strategy.Texts || f.Type == strategy.Children) {
		s = append(s, "minItems", 1)
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
	if d, ok := f.Default.(time.Duration); ok {
		s = append(s, "default", durationText(d))
	} else if f.Default != nil {
		s = append(s, "default", f.Default)
	}
	if f.Doc != "" {
		s = append(s, "description", f.Doc)
	}
	return s
}
