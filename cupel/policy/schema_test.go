package policy_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/policy"
)

// jsonSchema is as much of JSON Schema as the schema of policies uses. A
// keyword that it does not know is a failure of the test, so that none is
// passed over.
type jsonSchema struct {
	root     map[string]any
	patterns map[string]*regexp.Regexp
}

func newJSONSchema(t testing.TB, r *policy.Registry) *jsonSchema {
	t.Helper()
	root, ok := parse(t, string(policy.Schema(r))).(map[string]any)
	if !ok {
		t.Fatal("the schema is no object")
	}
	return &jsonSchema{root, make(map[string]*regexp.Regexp)}
}

func parse(t testing.TB, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func number(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	if i := strings.IndexAny(n.String(), "eE"); i >= 0 && len(n.String())-i > 5 {
		return nil, false // no test needs numbers of a million digits
	}
	return new(big.Rat).SetString(n.String())
}

// check returns what is wrong with v, "" for nothing.
func (s *jsonSchema) check(t testing.TB, schema map[string]any, v any) string {
	t.Helper()
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		if problem := s.keyword(t, schema, keyword, v); problem != "" {
			return keyword + ": " + problem
		}
	}
	return ""
}

func (s *jsonSchema) keyword(t testing.TB, schema map[string]any, keyword string, v any) string {
	t.Helper()
	want := schema[keyword]
	object, isObject := v.(map[string]any)
	list, isList := v.([]any)
	text, isText := v.(string)
	n, isNumber := number(v)
	limit, _ := number(want)
	switch keyword {
	case "$schema", "$id", "$defs", "title", "description", "default":
	case "$ref":
		name, ok := strings.CutPrefix(want.(string), "#/$defs/")
		target, found := s.root["$defs"].(map[string]any)[name].(map[string]any)
		if !ok || !found {
			t.Fatalf("%v leads nowhere", want)
		}
		return s.check(t, target, v)
	case "type":
		_, isBool := v.(bool)
		is := map[string]bool{"object": isObject, "array": isList, "string": isText, "boolean": isBool, "number": isNumber, "integer": isNumber && n.IsInt()}
		if got, known := is[want.(string)]; !known {
			t.Fatalf("unknown type %v", want)
		} else if !got {
			return fmt.Sprintf("%v is no %v", v, want)
		}
	case "const":
		if !reflect.DeepEqual(v, want) {
			return fmt.Sprintf("%v is not %v", v, want)
		}
	case "enum":
		if !slices.ContainsFunc(want.([]any), func(w any) bool { return reflect.DeepEqual(v, w) }) {
			return fmt.Sprintf("%v is not one of %v", v, want)
		}
	case "required":
		for _, name := range want.([]any) {
			if _, ok := object[name.(string)]; isObject && !ok {
				return fmt.Sprintf("%v is missing", name)
			}
		}
	case "properties":
		for _, name := range slices.Sorted(maps.Keys(want.(map[string]any))) {
			if member, ok := object[name]; ok {
				if problem := s.check(t, want.(map[string]any)[name].(map[string]any), member); problem != "" {
					return name + ": " + problem
				}
			}
		}
	case "additionalProperties":
		properties, _ := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if _, ok := properties[name]; ok {
				continue
			}
			if want == false {
				return name + " is not allowed"
			}
			if problem := s.check(t, want.(map[string]any), object[name]); problem != "" {
				return name + ": " + problem
			}
		}
	case "propertyNames":
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if problem := s.check(t, want.(map[string]any), name); problem != "" {
				return problem
			}
		}
	case "items":
		for i, element := range list {
			if problem := s.check(t, want.(map[string]any), element); problem != "" {
				return fmt.Sprintf("%d: %s", i, problem)
			}
		}
	case "minItems":
		if n := new(big.Rat).SetInt64(int64(len(list))); isList && n.Cmp(limit) < 0 {
			return "too few"
		}
	case "minimum":
		if isNumber && n.Cmp(limit) < 0 {
			return "too small"
		}
	case "maximum":
		if isNumber && n.Cmp(limit) > 0 {
			return "too large"
		}
	case "exclusiveMinimum":
		if isNumber && n.Cmp(limit) <= 0 {
			return "too small"
		}
	case "pattern":
		if s.patterns[want.(string)] == nil {
			s.patterns[want.(string)] = regexp.MustCompile(want.(string))
		}
		if isText && !s.patterns[want.(string)].MatchString(text) {
			return fmt.Sprintf("%q does not match", text)
		}
	case "not":
		if s.check(t, want.(map[string]any), v) == "" {
			return "is what it must not be"
		}
	case "allOf":
		for _, each := range want.([]any) {
			if problem := s.check(t, each.(map[string]any), v); problem != "" {
				return problem
			}
		}
	case "oneOf":
		matches := 0
		for _, each := range want.([]any) {
			if s.check(t, each.(map[string]any), v) == "" {
				matches++
			}
		}
		if matches != 1 {
			return fmt.Sprintf("%d forms match", matches)
		}
	default:
		t.Fatalf("the test does not know the keyword %q", keyword)
	}
	return ""
}

func TestSchemaAgreesWithDecode(t *testing.T) {
	schema := newJSONSchema(t, nil)
	for _, tt := range rightDocuments {
		if problem := schema.check(t, schema.root, parse(t, tt.text)); problem != "" {
			t.Errorf("%s: Decode takes it, the schema says %s", tt.name, problem)
		}
	}
	for _, p := range []policy.Policy{complete(), policy.DocumentQa(), withSlicer(of("countConstrainedKnapsack", settings{"entries": []settings{{"kind": "a"}}}))} {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if problem := schema.check(t, schema.root, parse(t, string(text))); problem != "" {
			t.Errorf("the schema refuses %s: %s", text, problem)
		}
	}
	for _, tt := range wrongDocuments {
		problem := schema.check(t, schema.root, parse(t, tt.text))
		if (problem == "") != tt.beyondSchema {
			t.Errorf("%s: Decode refuses it, the schema says %q; beyond the schema: %t", tt.name, problem, tt.beyondSchema)
		}
	}
}

// TestSchemaFindsEachMistake takes the mistakes of a document one by one: a
// document with several would hide those that the schema does not see.
func TestSchemaFindsEachMistake(t *testing.T) {
	scorer := func(s string) string { return document(s, "", "", "") }
	slicer := func(s string) string { return document("", s, "", "") }
	curve := func(s string) string { return scorer(`{"type":"decay","weight":1,"curve":` + s + `}`) }
	tests := []string{
		document("", "", "", `,"name":1`), document("", "", "", `,"description":null`), document("", "", "", `,"deduplicate":0`), document("", "", "", `,"overflow":"Ignore"`), document("", "", "", `,"budget":1`),
		scorer(`{"type":"recency"}`), scorer(`{"weight":1}`), scorer(`{"type":"Recency","weight":1}`), scorer(`{"type":"recency","weight":0}`), scorer(`{"type":"recency","weight":"NaN"}`), scorer(`{"type":"recency","weight":1,"weights":{}}`),
		scorer(`{"type":"kind","weight":1,"weights":{"a":-1}}`), scorer(`{"type":"kind","weight":1,"weights":{"":1}}`), scorer(`{"type":"kind","weight":1,"weights":null}`), scorer(`{"type":"kind","weight":1,"caseInsensitive":true}`),
		scorer(`{"type":"tag","weight":1}`), scorer(`{"type":"tag","weight":1,"weights":{"a":"1"}}`), scorer(`{"type":"tag","weight":1,"weights":{},"caseInsensitive":null}`),
		scorer(`{"type":"composite","weight":1}`), scorer(`{"type":"composite","weight":1,"scorers":[]}`), scorer(`{"type":"composite","weight":1,"scorers":[{"type":"recency"}]}`),
		scorer(`{"type":"scaled","weight":1}`), scorer(`{"type":"scaled","weight":1,"inner":{"type":"recency","weight":1}}`), scorer(`{"type":"scaled","weight":1,"inner":{}}`),
		scorer(`{"type":"metadataTrust","weight":1}`), scorer(`{"type":"metadataTrust","weight":1,"defaultScore":1.01}`), scorer(`{"type":"metadataTrust","weight":1,"defaultScore":-0.01}`),
		scorer(`{"type":"metadataKey","weight":1,"key":"a","value":"b"}`), scorer(`{"type":"metadataKey","weight":1,"key":"a","boost":1}`), scorer(`{"type":"metadataKey","weight":1,"value":"b","boost":1}`), scorer(`{"type":"metadataKey","weight":1,"key":"a","value":"b","boost":0}`),
		scorer(`{"type":"decay","weight":1}`), scorer(`{"type":"decay","weight":1,"curve":{"type":"window","maxAge":"1h"},"nullTimestampScore":2}`),
		curve(`{}`), curve(`{"type":"window"}`), curve(`{"type":"window","maxAge":"1"}`), curve(`{"type":"window","maxAge":"-1h"}`), curve(`{"type":"window","maxAge":"1h","halfLife":"1h"}`), curve(`{"type":"exponential","halfLife":""}`), curve(`{"type":"exponential"}`),
		curve(`{"type":"step"}`), curve(`{"type":"step","windows":[]}`), curve(`{"type":"step","windows":[{"maxAge":"1h"}]}`), curve(`{"type":"step","windows":[{"score":1}]}`), curve(`{"type":"step","windows":[{"maxAge":"1h","score":1.5}]}`), curve(`{"type":"step","windows":[{"maxAge":"1h","score":1,"a":1}]}`),
		slicer(`{}`), slicer(`{"type":"greedy","a":1}`), slicer(`{"type":"knapsack","bucketSize":0}`), slicer(`{"type":"knapsack","bucketSize":1.5}`), slicer(`{"type":"knapsack","memoryLimit":0}`), slicer(`{"type":"knapsack","autoBucket":1}`), slicer(`{"type":"knapsack","topUp":"true"}`), slicer(`{"type":"knapsack","bucketSize":1,"autoBucket":true}`), slicer(`{"type":"scoreGreedy","bucketSize":1}`), slicer(`{"type":"knapsack","inner":{"type":"greedy"}}`),
		slicer(`{"type":"quota"}`), slicer(`{"type":"quota","inner":{"type":"greedy"},"entries":{}}`), slicer(`{"type":"quota","inner":{"type":"greedy"},"entries":[{"require":1}]}`), slicer(`{"type":"quota","inner":{"type":"greedy"},"entries":[{"kind":" "}]}`), slicer(`{"type":"quota","inner":{"type":"greedy"},"entries":[{"kind":"a","cap":101}]}`), slicer(`{"type":"quota","inner":{"type":"greedy"},"scarcity":"Throw"}`),
		slicer(`{"type":"countQuota"}`), slicer(`{"type":"countQuota","inner":{"type":"greedy"},"entries":[{"kind":"a","requireCount":-1}]}`), slicer(`{"type":"countQuota","inner":{"type":"greedy"},"entries":[{"kind":"a","capCount":0.5}]}`), slicer(`{"type":"countQuota","inner":{"type":"greedy"},"scarcity":"throw"}`),
		slicer(`{"type":"countConstrainedKnapsack","inner":{"type":"greedy"}}`), slicer(`{"type":"countConstrainedKnapsack","bucketSize":-1}`), slicer(`{"type":"countConstrainedKnapsack","bucketSize":1,"autoBucket":true,"topUp":true}`), slicer(`{"type":"countConstrainedKnapsack","entries":[{"kind":"a","cap":1}]}`),
		document("", "", `{"type":"random"}`, ""), document("", "", `{"type":"uShaped","a":1}`, ""), document("", "", `{}`, ""),
		`{"slicer":{"type":"greedy"},"placer":{"type":"uShaped"}}`, `{"scorers":[{"type":"recency","weight":1}],"placer":{"type":"uShaped"}}`, `{"scorers":[{"type":"recency","weight":1}],"slicer":{"type":"greedy"}}`,
	}
	schema := newJSONSchema(t, nil)
	for _, text := range tests {
		if schema.check(t, schema.root, parse(t, text)) == "" {
			t.Errorf("the schema takes %s", text)
		}
		_, err := policy.Decode(nil, []byte(text))
		if problems := problemsOf(t, err); problems == "" || strings.Contains(problems, "\n") {
			t.Errorf("Decode finds not one mistake in %s:\n%s", text, problems)
		}
	}
}

var update = flag.Bool("update", false, "write schema.json")

// TestSchemaFile compares the file that editors load with the schema. It is
// written by go test ./policy -run TestSchemaFile -update.
func TestSchemaFile(t *testing.T) {
	if *update {
		if err := os.WriteFile("schema.json", policy.Schema(nil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile("schema.json")
	if err != nil || !bytes.Equal(file, policy.Schema(nil)) {
		t.Errorf("schema.json is not what Schema returns, %v: write it with -update", err)
	}
}
