package cupeltoml

import (
	"errors"
	"fmt"

	"github.com/BurntSushi/toml"
	"github.com/wollax/cupel-go/cupel/policy"
)

// DecodePolicy decodes a policy from TOML, with the types of registry; nil means
// only the built-in ones. It is as strict as [policy.Decode] and reports the
// same paths.
//
// It accepts integers for floats, but not floats for integers. No setting is a
// date or a time.
//
// It returns a [policy.ValidationError] with all problems, or with the position
// at which the text is not valid TOML. It also rejects text that [Parse]
// rejects.
func DecodePolicy(registry *policy.Registry, data []byte) (policy.Policy, error) {
	values, err := Parse(data, policy.MaxBytes)
	if invalid, ok := errors.AsType[*ParseError](err); ok {
		return policy.Policy{}, &policy.ValidationError{Problems: []policy.Problem{{Reason: invalid.Reason, Err: invalid.Err}}}
	}
	c := &converter{integers: integers(registry), nulls: make(map[string]any)}
	c.value(values, "")
	p, err := policy.Decode(registry, c.json)
	if invalid, ok := errors.AsType[*policy.ValidationError](err); ok {
		for i, problem := range invalid.Problems {
			invalid.Problems[i].Reason = c.withoutNull(problem)
		}
	}
	return p, err
}

// maxNested is the maximum nesting of values. The TOML library recurses for
// each level.
const maxNested = 500

// A ParseError reports why [Parse] rejected a text.
type ParseError struct {
	Reason string // such as "is not TOML: …" or "is longer than 1048576 bytes"
	Err    error  // the error of the TOML library, or nil
}

// Error implements error.
func (e *ParseError) Error() string { return "cupeltoml: the text " + e.Reason }

// Unwrap returns the error of the TOML library, or nil.
func (e *ParseError) Unwrap() error { return e.Err }

// Parse parses TOML from an untrusted source into maps, lists, strings, int64,
// float64, booleans and times, in bounded time and memory. It returns a
// [ParseError] if the text is not TOML, is longer than maxBytes, is nested more
// than 500 deep, or has keys whose paths from the root exceed 4 MiB together,
// or maxBytes if that is more. Policies have at most [policy.MaxBytes].
func Parse(data []byte, maxBytes int) (values map[string]any, err error) {
	fail := func(reason string, cause error) error {
		return &ParseError{Reason: reason, Err: cause}
	}
	defer func() {
		if p := recover(); p != nil { // the TOML library's
			values, err = nil, fail(fmt.Sprintf("is not TOML: reading it panicked: %v", p), nil)
		}
	}()
	if len(data) > maxBytes {
		return nil, fail(fmt.Sprintf("is longer than %d bytes", maxBytes), nil)
	}
	// The library builds and keeps every path: 4 MiB of paths take it about a
	// second.
	maxPaths := int64(max(4<<20, maxBytes))
	switch deepest, paths := nesting(data); {
	case deepest > maxNested:
		return nil, fail(fmt.Sprintf("is nested more than %d deep", maxNested), nil)
	case paths > maxPaths:
		return nil, fail(fmt.Sprintf("has keys whose paths have more than %d bytes together", maxPaths), nil)
	}
	if err := toml.Unmarshal(data, &values); err != nil {
		return nil, fail("is not TOML: "+err.Error(), err)
	}
	return values, nil
}
