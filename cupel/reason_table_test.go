package cupel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// filled returns data in which every field has a value of its own.
func filled() ReasonData {
	var d ReasonData
	for i := range reasonFields {
		switch v := reasonFields[i].in(&d).(type) {
		case *int:
			*v = i + 100
		case *float64:
			*v = float64(i) + 0.5
		case *string:
			*v = fmt.Sprintf("text %d", i)
		case *ContextKind:
			*v = ContextKind(fmt.Sprintf("kind %d", i))
		}
	}
	return d
}

// TestReasonTable fails for a reason that is not described in full.
func TestReasonTable(t *testing.T) {
	declared, err := os.ReadFile("reason.go")
	if err != nil {
		t.Fatal(err)
	}
	for i := range reasonTable {
		spec := &reasonTable[i]
		t.Run(string(spec.code), func(t *testing.T) {
			if n := bytes.Count(declared, []byte(`ExclusionCode = "`+string(spec.code)+`"`)); n != 1 {
				t.Errorf("reason.go declares the code %d times, want once", n)
			}
			if specOf(spec.code) != spec {
				t.Error("the table has the code twice")
			}
			if spec.meaning == "" || strings.HasSuffix(spec.meaning, ".") || spec.code.Meaning() != spec.meaning {
				t.Errorf("its meaning is %q, want a few words without a full stop", spec.meaning)
			}
			d := filled()
			with, without := NewExclusionReason(spec.code, d), NewExclusionReason(spec.code, ReasonData{})
			text, bare := with.String(), without.String()
			if !strings.HasPrefix(text, string(spec.code)+": ") || strings.HasPrefix(bare, string(spec.code)+": (") {
				t.Errorf("it reads %q", text)
			}
			var names []string
			for f := range with.Fields() {
				names = append(names, f.Name)
				if shown := strings.Contains(text, fmt.Sprint(f.Value)); shown == f.Content {
					t.Errorf("%q shows %s: %v, want %v; contents stay out of texts and all else is in them", text, f.Name, shown, !f.Content)
				}
			}
			if len(names) != len(reasonFields) || !slices.Equal(names[:len(spec.fields)], spec.code.Fields()) {
				t.Errorf("its fields are %q, want those of the code first, and all others that are not zero", names)
			}
			if got := fieldNames(without); !slices.Equal(got, spec.code.Fields()) {
				t.Errorf("without data its fields are %q, want those of the code", got)
			}
		})
	}
	for _, m := range regexp.MustCompile(`(\w+)\s+ExclusionCode = "(.*)"`).FindAllSubmatch(declared, -1) {
		if specOf(ExclusionCode(m[2])) == nil {
			t.Errorf("%s: reasonTable in reason_table.go has no entry for it", m[1])
		}
	}
}

func fieldNames(r ExclusionReason) []string {
	var names []string
	for f := range r.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// TestReasonsSurvive: the data of any code, with zeros that were read and with
// fields that nothing here knows.
func TestReasonsSurvive(t *testing.T) {
	tests := []struct {
		name, wire, text, log string
		why                   string
	}{
		{"own code", `{"reason":"TeamBudget","kind":"Memory","cap":3}`, "TeamBudget: kind=Memory, cap=3",
			`reason=TeamBudget kind=Memory cap=3`, "a team's own slicer says why"},
		{"zeros", `{"reason":"TeamBudget","cap":0,"count":0}`, "TeamBudget: cap=0, count=0",
			`reason=TeamBudget cap=0 count=0`, "a zero that was read was said"},
		{"no data", `{"reason":"Later"}`, "Later", `reason=Later`, "there need not be any"},
		{"spelling", `{"reason":"Later","score":1.50}`, "Later: score=1.5", `reason=Later score=1.5`, "numbers are kept as they are spelled"},
		{"spelled zero", `{"reason":"Later","score":0.0,"cap":0e1}`, "Later: score=0, cap=0", `reason=Later score=0 cap=0`, "a zero is one however it is spelled"},
		{"other type", `{"reason":"Later","cap":"high"}`, "Later", `reason=Later`, "the name means nothing for this code"},
		{"unknown field", `{"reason":"Later","cap":3,"team":{"id":7}}`, "Later: cap=3", `reason=Later cap=3`, "JSON keeps it"},
		{"contents", `{"reason":"Later","deduplicated_against":"secret"}`, "Later", `reason=Later`, "texts and logs have no contents"},
		{"more than the code names", `{"reason":"Filtered","filter_name":"spam","threshold":0.5}`, "Filtered: spam (threshold=0.5)",
			`reason=Filtered filter_name=spam threshold=0.5`, "what is there is said"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r ExclusionReason
			if err := json.Unmarshal([]byte(tt.wire), &r); err != nil {
				t.Fatal(err)
			}
			if got := r.String(); got != tt.text {
				t.Errorf("it reads %q, want %q: %s", got, tt.text, tt.why)
			}
			var line strings.Builder
			slog.New(slog.NewTextHandler(&line, nil)).Info("out", slog.Any("", r))
			if got := line.String(); !strings.HasSuffix(got, "msg=out "+tt.log+"\n") {
				t.Errorf("the log has %q, want %q: %s", got, tt.log, tt.why)
			}
			again, err := json.Marshal(r)
			if err != nil || string(again) != tt.wire {
				t.Errorf("it is written back as %s, %v; want %s: %s", again, err, tt.wire, tt.why)
			}
			var twice ExclusionReason
			if err := json.Unmarshal(again, &twice); err != nil || !r.Equal(twice) {
				t.Errorf("after a round trip it is %v, %v; want %v", twice, err, r)
			}
		})
	}
}

func TestReasonEqual(t *testing.T) {
	base := NewExclusionReason("Own", filled())
	if !base.Equal(NewExclusionReason("Own", filled())) {
		t.Error("reasons with the same data are not equal")
	}
	if base.Equal(NewExclusionReason("Other", filled())) {
		t.Error("reasons with other codes are equal")
	}
	for i := range reasonFields {
		d := filled()
		switch v := reasonFields[i].in(&d).(type) {
		case *int:
			*v++
		case *float64:
			*v = math.NaN()
		case *string:
			*v += "."
		case *ContextKind:
			*v += "."
		}
		other := NewExclusionReason("Own", d)
		if base.Equal(other) || !other.Equal(other) {
			t.Errorf("%s: equal to another %v, to itself %v; want false and true", reasonFields[i].name, base.Equal(other), other.Equal(other))
		}
	}
	survivor, err := NewContextItem("x", 1)
	if err != nil {
		t.Fatal(err)
	}
	deduplicated := NewExclusionReason(ExcludeDeduplicated, ReasonData{DeduplicatedAgainst: "x", Survivor: survivor})
	if !deduplicated.Equal(NewExclusionReason(ExcludeDeduplicated, ReasonData{DeduplicatedAgainst: "x"})) {
		t.Error("the survivor is not in JSON, and must not make reasons differ")
	}
	var unknown ExclusionReason
	if err := json.Unmarshal([]byte(`{"reason":"Own","x":1}`), &unknown); err != nil || unknown.Equal(ExclusionReason{Code: "Own"}) {
		t.Errorf("an unknown field makes no difference (%v)", err)
	}
}

func TestUnknownCodeHasNoMeaning(t *testing.T) {
	if code := ExclusionCode("Own"); code.Meaning() != "" || code.Fields() != nil {
		t.Errorf("a code of the caller's means %q and has %q; want nothing", code.Meaning(), code.Fields())
	}
	if codes := ExclusionCodes(); len(codes) != len(reasonTable) || codes[0] != ExcludeBudgetExceeded {
		t.Errorf("the codes are %v", codes)
	}
}
