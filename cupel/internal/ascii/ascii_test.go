package ascii

import (
	"strings"
	"testing"
)

func TestEqualFold(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       bool
		why        string
	}{
		{"same", "message", "message", true, "equal bytes are equal"},
		{"case", "Message", "mESSAGE", true, "only the case of ASCII letters differs"},
		{"length", "message", "messages", false, "a prefix is not the whole"},
		{"kelvin sign", "k", "\u212a", false, "Unicode folds the Kelvin sign to k, ASCII does not"},
		{"long s", "s", "\u017f", false, "Unicode folds the long s to s, ASCII does not"},
		{"umlaut", "ä", "Ä", false, "letters beyond ASCII keep their case"},
		{"brackets", "[", "{", false, "these differ by 0x20 as letters do, but are no letters"},
		{"at and grave", "@", "`", false, "the bytes just before A and a"},
		{"the last letter", "Z", "z", true, "Z folds as A does"},
		{"the first letter", "A", "a", true, "A folds as Z does"},
		{"invalid UTF-8", "a\xff", "A\xff", true, "bytes that are no text match themselves"},
		{"empty", "", "", true, "nothing equals nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := EqualFold(tt.a, tt.b); got != tt.want {
				t.Errorf("EqualFold(%q, %q) = %v, want %v: %s", tt.a, tt.b, got, tt.want, tt.why)
			}
			if got := Lower(tt.a) == Lower(tt.b); got != tt.want {
				t.Errorf("Lower(%q) == Lower(%q) is %v, want %v: %s", tt.a, tt.b, got, tt.want, tt.why)
			}
		})
	}
}

// TestLower looks at every byte, and at the bytes around the letters.
func TestLower(t *testing.T) {
	for c := range 256 {
		s := string([]byte{byte(c)})
		want := s
		if i := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ", byte(c)); i >= 0 {
			want = "abcdefghijklmnopqrstuvwxyz"[i : i+1]
		}
		if got := Lower(s); got != want {
			t.Errorf("Lower(%q) = %q, want %q", s, got, want)
		}
		if got := EqualFold(s, want); !got {
			t.Errorf("EqualFold(%q, %q) is false", s, want)
		}
		if got := string(AppendLower([]byte("A"), "-"+s+"Z"+s)); got != "A-"+want+"z"+want {
			t.Errorf("AppendLower folds %q to %q", "-"+s+"Z"+s, got)
		}
	}
}

func TestLowerDoesNotAllocateWithoutCapitals(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Lower("@[tool-output, größer]") }); n != 0 {
		t.Errorf("Lower allocated %v times for a string without capitals", n)
	}
}

func TestAppendLowerDoesNotAllocateWithRoom(t *testing.T) {
	weights := map[string]int{"custom": 1}
	if n := testing.AllocsPerRun(100, func() {
		var buf [16]byte
		if weights[string(AppendLower(buf[:0], "CuStOm"))] != 1 {
			t.Error("the folded key was not found")
		}
	}); n != 0 {
		t.Errorf("a look-up through AppendLower allocated %v times", n)
	}
}
