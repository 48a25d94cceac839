package cli

import (
	"strings"
	"testing"
)

func TestNumbersOfFlags(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string // on standard error, or "" for success
		why  string
	}{
		{[]string{"-b", "1e9"}, `cupel: --budget: must be an integer in decimal, such as 8000, got "1e9"` + "\n", "the text of package strconv does not help users"},
		{[]string{"-b", "99999999999999999999"}, "cupel: --budget: 99999999999999999999 is out of range\n", "it is an integer"},
		{[]string{"-b", "9", "--margin", "ten"}, `cupel: --margin: must be a number, got "ten"` + "\n", "it need not be an integer"},
		{[]string{"-b", "9", "--reserve-kind", "Tool=x"}, `cupel: --reserve-kind: must be an integer in decimal, such as 8000, got "x"` + "\n", "the number in a pair"},
		{[]string{"-b", "9", "--headers=x"}, `cupel: --headers: must be true or false, got "x"` + "\n", "flags without a value may have one"},
		{[]string{"-b", "9", "--reserve-kind", "Tool"}, `cupel: invalid argument "Tool" for "--reserve-kind" flag: Tool must be formatted as key=value` + "\n", "other errors are clear already"},
		{[]string{"-b", "010"}, "", "10 tokens: zeros in front do not make a number octal"},
	} {
		code, _, stderr := ran(t, `[{"content":"ten","tokens":10}]`, append(tt.args, "-i", "-", "-p", "chat")...)
		if stderr != tt.want || (code == exitUsage) != (tt.want != "") {
			t.Errorf("%s: exit code %d, got %s, want %s: %s", tt.args, code, stderr, tt.want, tt.why)
		}
	}
	if _, stdout, stderr := ran(t, `[{"content":"ten","tokens":10}]`, "-i", "-", "-p", "chat", "-b", "010"); !strings.Contains(stdout, "ten") {
		t.Errorf("a budget of 010 does not hold 10 tokens: %s%s", stdout, stderr)
	}
}
