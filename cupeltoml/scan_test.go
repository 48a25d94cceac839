package cupeltoml

import "testing"

func TestNesting(t *testing.T) {
	tests := []struct {
		name, text string
		deepest    int
		why        string
	}{
		{"empty", "", 0, "nothing"},
		{"key", "a = 1", 0, "the root is no level"},
		{"dots", "a.b.c = 1", 2, "each dot is a level"},
		{"header", "[a.b]\nc.d = 1", 3, "keys stand below their header"},
		{"next header", "[a.b.c]\n[d]\ne = 1", 3, "a header starts anew"},
		{"array of tables", "[[a]]\nb = 1", 2, "two brackets"},
		{"values", "a = [[1, {b = 2}], 3]", 3, "brackets of values"},
		{"closed", "a = [1]\nb = [2]", 1, "what is closed is left"},
		{"lines", "a = [\n1,\n{b.c = 1},\n]", 3, "a value may go over lines"},
		{"commas", "a = {b.c = 1, d.e = 2}", 2, "the dots of a key end with its value"},
		{"strings", `a = "[[.." # [[..`, 0, "strings and comments do not count"},
		{"literal", `a = '[\' # [`, 0, "no escapes in literal strings"},
		{"escape", `a = "\"[["`, 0, "an escaped quote is none"},
		{"lines of text", "a = \"\"\"[\n\"[\"\"[\\\"\"\"\"\"\nb.c = 1", 1, "up to two quotes may stand before the closing ones"},
		{"literal lines", "a = '''[\n'['''''\nb.c = 1", 1, "the same with other quotes"},
		{"open string", "a = \"[\nb.c = 1", 1, "it ends with its line"},
		{"open lines", "a = '''[\n[", 0, "it ends with the text"},
		{"open comment", "# [[", 0, "it ends with the text"},
		{"too many closed", "a = 1]]]\nb.c = 1", 1, "never below zero"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if deepest, _ := nesting([]byte(tt.text)); deepest != tt.deepest {
				t.Errorf("nested %d deep, want %d: %s", deepest, tt.deepest, tt.why)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	short, long := "a = 1\n", "a.a.a.a.a.a.a.a = 1\n"
	_, few := nesting([]byte(short))
	_, many := nesting([]byte(long))
	_, twice := nesting([]byte(long + long))
	if few != 0 || many < 7 || twice != 2*many {
		t.Errorf("%d, %d and %d steps: dots count, in every line", few, many, twice)
	}
}
