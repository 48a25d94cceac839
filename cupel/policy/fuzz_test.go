package policy_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
)

// FuzzDecode checks of every text that it is refused with a ValidationError,
// or is a policy that can be built, written, and read back as the same one, and
// that the schema takes it.
func FuzzDecode(f *testing.F) {
	for _, tt := range wrongDocuments {
		f.Add([]byte(tt.text))
	}
	for _, tt := range rightDocuments {
		f.Add([]byte(tt.text))
	}
	for _, p := range []policy.Policy{complete(), customPolicy()} {
		text, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("{\"name\":\"\xff\"}"))
	f.Add([]byte(`{"scorers":[`))
	registry := customRegistry(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := policy.Decode(registry, data)
		if err != nil {
			var invalid *policy.ValidationError
			if !errors.As(err, &invalid) || len(invalid.Problems) == 0 || !errors.Is(err, cupel.ErrInvalidConfig) {
				t.Fatalf("%T %v", err, err)
			}
			if !json.Valid(data) && len(data) <= policy.MaxBytes && !errors.Is(err, cupel.ErrInvalidJSON) {
				t.Fatalf("what is no JSON fails with %v", err)
			}
			_ = err.Error()
			return
		}
		if _, err := p.Pipeline(policy.Environment{Registry: registry, Clock: atNoon}); err != nil {
			t.Fatalf("a policy that was read cannot be built: %v", err)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatalf("a policy that was read cannot be written: %v", err)
		}
		back, err := policy.Decode(registry, text)
		if err != nil || !reflect.DeepEqual(back, p) {
			t.Fatalf("%+v was written as %s and read as %+v, %v", p, text, back, err)
		}
	})
}
