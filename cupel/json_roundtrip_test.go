package cupel

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/compat"
)

// checkRoundTrip: data is refused with a DecodeError, or what it says is
// written and read to the same.
func checkRoundTrip[T any, P interface {
	*T
	json.Unmarshaler
	json.Marshaler
}](t *testing.T, data []byte) {
	t.Helper()
	var first, second T
	if err := P(&first).UnmarshalJSON(data); err != nil {
		if _, ok := compat.AsType[*DecodeError](err); !ok {
			t.Fatalf("%T is no DecodeError: %v", err, err)
		}
		if !reflect.ValueOf(first).IsZero() {
			t.Fatalf("reading failed and left %+v behind", first)
		}
		return
	}
	if strings.TrimSpace(string(data)) == "null" {
		return
	}
	text, err := P(&first).MarshalJSON()
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	if err := P(&second).UnmarshalJSON(text); err != nil {
		t.Fatalf("what was written cannot be read: %v\n%s", err, text)
	}
	again, err := P(&second).MarshalJSON()
	if err != nil || !bytes.Equal(text, again) {
		t.Fatalf("wrote\n%s\nand then, %v\n%s", text, err, again)
	}
	if through, err := json.Marshal(first); err != nil || !json.Valid(through) {
		t.Fatalf("encoding/json wrote %s, %v", through, err)
	}
}

// addSeeds adds the rows of the tables.
func addSeeds(f *testing.F) {
	f.Helper()
	for _, tt := range goldens {
		f.Add([]byte(tt.text))
	}
	for _, tt := range malformed {
		if len(tt.text) < 1000 {
			f.Add([]byte(tt.text))
		}
	}
}

func FuzzItemJSON(f *testing.F) {
	addSeeds(f)
	f.Fuzz(checkRoundTrip[ContextItem])
}

func FuzzBudgetJSON(f *testing.F) {
	addSeeds(f)
	f.Fuzz(checkRoundTrip[ContextBudget])
}

func FuzzReportJSON(f *testing.F) {
	addSeeds(f)
	f.Fuzz(checkRoundTrip[SelectionReport])
}

func FuzzReasonJSON(f *testing.F) {
	addSeeds(f)
	f.Fuzz(checkRoundTrip[ExclusionReason])
}
