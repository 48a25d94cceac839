package ascii

import "testing"

func TestAppendLower(t *testing.T) {
	for _, s := range []string{"", "plain", "Mixed-CASE", "@AZ[`az{", "K\u212a \u017fS Ä", "a\xffB"} {
		if got, want := string(AppendLower([]byte("kept:"), s)), "kept:"+Lower(s); got != want {
			t.Errorf("AppendLower(%q) = %q, want %q as Lower folds it", s, got, want)
		}
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
