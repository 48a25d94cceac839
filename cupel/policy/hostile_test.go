package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
)

func TestHostileDocuments(t *testing.T) {
	nested := func(n int) string {
		return document(`{"type":"scaled","weight":1,"inner":`+strings.Repeat(`{"type":"scaled","inner":`, n-1)+`{"type":"recency"}`+strings.Repeat("}", n), "", "", "")
	}
	children := func(n int) string {
		return document("", strings.Repeat(`{"type":"firstOf","children":[`, n)+`{"type":"greedy"}`+strings.Repeat("]}", n), "", "")
	}
	many := func(n int) string {
		return document(`{"type":"recency","weight":1}`+strings.Repeat(`,{"type":"recency","weight":1}`, n-1), "", "", "")
	}
	deepest := "scorers[0]" + strings.Repeat(".inner", 101)
	tests := []struct {
		name, text, want string // want is the beginning of the problems
		why              string
	}{
		{"deep", nested(100), "", "as deep as is allowed"},
		{"too deep", nested(101), deepest + ": strategies are nested more than 100 deep", "one more"},
		{"children too deep", children(101), "slicer" + strings.Repeat(".children[0]", 101) + ": strategies are nested more than 100 deep", "each list counts once"},
		{"deeper than JSON", strings.Repeat(`{"slicer":`, 20_000), "policy: is malformed: invalid character '{' exceeded max depth", "no stack is exhausted"},
		{"many", many(9_998), "", "with slicer and placer, as many as are allowed"},
		{"too many", many(10_001), "policy: a policy has at most 10000 strategies and entries", "reported once, not for each"},
		{"too long", document("", "", "", `,"name":"`+strings.Repeat("x", policy.MaxBytes)+`"`), "policy: is longer than 1048576 bytes", "no real policy is that long"},
		{"two documents", document("", "", "", "") + document("", "", "", ""), "policy: is malformed: invalid character '{' after top-level value", "one policy a text"},
	}
	registry := customRegistry(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := policy.Decode(registry, []byte(tt.text))
			if got := problemsOf(t, err); !strings.HasPrefix(got, tt.want) || tt.want == "" && err != nil || strings.Contains(got, "\n") {
				t.Errorf("problems:\n%.500s\nwant\n%.500s\n%s", got, tt.want, tt.why)
			}
			if strings.Contains(tt.want, "malformed") && !errors.Is(err, cupel.ErrInvalidJSON) {
				t.Errorf("%v does not match ErrInvalidJSON", err)
			}
			if err == nil {
				roundTrip(t, registry, p)
			}
		})
	}
}

func TestErrorsStayBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("{")
	for b.Len() < policy.MaxBytes-100 {
		b.WriteString(`"a":1,"` + strings.Repeat("x", b.Len()%7) + `":2,`)
	}
	b.WriteString(`"scorers":[` + strings.Repeat("1,", 10) + `1]}`)
	for name, text := range map[string]string{
		"names":    b.String(),
		"elements": `{"scorers":[` + strings.Repeat("1,", 500_000) + `1]}`,
		"shares":   `{"slicer":{"type":"quota","entries":[` + strings.Repeat("1,", 500_000) + `1]}}`,
		"counts":   `{"slicer":{"type":"countQuota","entries":[` + strings.Repeat("{},", 300_000) + `{}]}}`,
	} {
		_, err := policy.Decode(nil, []byte(text))
		var invalid *policy.ValidationError
		if !errors.As(err, &invalid) || len(invalid.Problems) > 1000 || len(err.Error()) > 1<<20 {
			t.Errorf("%s: %d problems", name, len(invalid.Problems))
		}
		if name == "names" {
			continue // all are read, to find repeated ones
		}
		allocs := testing.AllocsPerRun(1, func() { _, err = policy.Decode(nil, []byte(text)) })
		if allocs > 200_000 { // looking for problems beyond the limit would take a million, and seconds
			t.Errorf("%s: %v allocations, long after the error is full", name, allocs)
		}
	}
}

// TestCycles builds policies that contain themselves: Go's slices allow it,
// JSON does not.
func TestCycles(t *testing.T) {
	two := make([]policy.Weighted, 2)
	two[0] = policy.Weighted{Scorer: of("scaled", settings{"inner": of("composite", settings{"scorers": two})}), Weight: 1}
	two[1] = two[0]
	entries := make([]settings, 1)
	entries[0] = settings{"kind": "a", "entries": entries}
	const (
		deep = "strategies are nested more than 100 deep"
		many = "a policy has at most 10000 strategies and entries"
	)
	tests := []struct {
		name        string
		policy      policy.Policy
		path        string // the beginning of the path of the problem
		reason      string
		notWritable string
		why         string
	}{
		{"two", with(of("composite", settings{"scorers": two})), "scorers[0].scorers[0].inner.", deep, "cannot be written: " + deep, "a tree of 2^50 leaves"},
		{"wide", policy.Policy{Scorers: make([]policy.Weighted, 1_000_000)}, "", many, "must be a scorer with a type", "far more than a real policy has"},
		{"entries", withSlicer(of("quota", settings{"inner": of("greedy"), "entries": entries})), "slicer.entries[0].entries", "is unknown; want one of kind, require, cap", "cannot be written: " + deep, "lists of settings can contain themselves, too"},
		{"many entries", withSlicer(of("quota", settings{"inner": of("greedy"), "entries": make([]settings, policy.MaxBytes)})), "", many, "cannot be written: " + many, "entries count as strategies do"},
	}
	registry := customRegistry(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var invalid *policy.ValidationError
			if err := tt.policy.Validate(registry); !errors.As(err, &invalid) || len(invalid.Problems) != 1 ||
				!strings.HasPrefix(invalid.Problems[0].Path, tt.path) || invalid.Problems[0].Reason != tt.reason {
				t.Errorf("got %.300v, want %s: %s", err, tt.reason, tt.why)
			}
			_, err := json.Marshal(tt.policy)
			var encode *cupel.EncodeError
			if !errors.As(err, &encode) || encode.Reason != tt.notWritable {
				t.Errorf("writing fails with %.300v", err)
			}
			if err := registry.Register(tt.name, tt.policy); err == nil {
				t.Error("a registry takes it")
			}
		})
	}
}
