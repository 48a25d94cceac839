package cli

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
)

func sweeping(args ...string) []string {
	return append([]string{"sweep", "-i", "items.jsonl", "-p", "greedy.json", "--reserve", "20"}, args...)
}

// 30 tokens are the reserve and the pinned item. Of the rest, 10 take elder; 20
// take apple alone; 30 apple and elder; 50 apple and cherry, since banana does
// not fit what apple leaves; 60 apple and banana; 70 elder too; 95 cherry and 5
// more elder as well.
const sweepCSV = `budget,tokens,items,came,went,error
20,0,0,,,"Pinned items require 10 tokens, but only 0 are available"
30,10,1,0,,
40,15,2,6,,
50,30,2,1,6,
60,35,3,6,,
80,60,3,3,6,
90,70,3,2,3,
100,75,4,6,,
120,100,4,3,6,
130,105,5,6,,
`

func TestSweepCSV(t *testing.T) {
	if got := mustPrint(t, sweeping("--from", "20", "--to", "145", "--stride", "10", "--csv")...); got != sweepCSV {
		t.Errorf("got\n%s\nwant\n%s", got, sweepCSV)
	}
}

func TestSweep(t *testing.T) {
	want := `Mine: budgets from 20 to 90 by 10, 7 candidates, 7 steps

BUDGET  TOKENS   USED  ITEMS  CAME  WENT  WHICH
    20       0   0.0%      0              Pinned items require 10 tokens, but only 0 are available
    30      10  33.3%      1    +1        +Be brief.
    40      15  37.5%      2    +1        +elder
    50      30  60.0%      2    +1    -1  -elder, +apple
    60      35  58.3%      3    +1        +elder
    80      60  75.0%      3    +1    -1  -elder, +cherry
    90      70  77.8%      3    +1    -1  -cherry, +banana …
`
	if got := mustPrint(t, sweeping("--from", "20", "--to", "90", "--stride", "10")...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A sweep has the budgets of the other commands: with a reserve of 20 and 10
// pinned, the 60 tokens of two documents that are required need 90, below which
// the overflow is an error, as it is for explain.
func TestSweepIsAsBudgets(t *testing.T) {
	want := `budget,tokens,items,came,went,error
10,0,0,,,"invalid budget: outputReserve must be at most maxTokens (10), got 20"
20,0,0,,,"Pinned items require 10 tokens, but only 0 are available"
30,10,1,0,,
40,0,0,,0,"Selected items require 70 tokens, exceeding target budget of 20"
90,70,3,0 1 2,,
`
	got := mustPrint(t, "sweep", "-i", "items.jsonl", "-p", "throw.json", "--reserve", "20", "--from", "10", "--to", "99", "--stride", "10", "--csv")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for budget, code := range map[string]int{"40": exitSelection, "80": exitSelection, "90": exitOK} {
		if got, _, _ := start(t, "explain", "-i", "items.jsonl", "-p", "throw.json", "--reserve", "20", "-b", budget); got != code {
			t.Errorf("explain -b %s ends with exit code %d, want %d", budget, got, code)
		}
	}
	// The first budget of a range need not be one at which its strides hold the reserve.
	got = mustPrint(t, "sweep", "-i", "items.jsonl", "-p", "greedy.json", "--reserve", "20", "--from", "7", "--to", "42", "--stride", "5", "--csv")
	for _, row := range []string{"\n7,0,0,,,\"invalid", "\n22,0,0,,,\"Pinned", "\n32,10,1,0,,\n", "\n37,15,2,6,,\n"} {
		if !strings.Contains(got, row) {
			t.Errorf("lacks %q:\n%s", row, got)
		}
	}
}

// Nothing is said of budgets that the sweep has not looked at.
func TestSweepEndsWhereItLooked(t *testing.T) {
	got := mustPrint(t, sweeping("--from", "0", "--to", "99", "--stride", "40", "--plot")...)
	for _, want := range []string{"Mine: budgets from 0 to 80 by 40, ", "\nShare of the budget used, from 0.0% at 0 to 75.0% at 80.\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

func TestSweepDefaults(t *testing.T) {
	// From what is needed to what is enough, 30 to 145: by 2 are 58 budgets, by 5
	// are 24.
	got := mustPrint(t, sweeping()...)
	if want := "Mine: budgets from 30 to 145 by 5, 7 candidates, "; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant it to begin with\n%s", got, want)
	}
}

func TestSweepJSON(t *testing.T) {
	var got struct {
		From, To, Stride int
		Items            []any
		Steps            []struct{ Budget, Tokens int }
	}
	if err := json.Unmarshal([]byte(mustPrint(t, sweeping("--json", "--stride", "1")...)), &got); err != nil {
		t.Fatal(err)
	}
	if got.From != 30 || got.To != 145 || got.Stride != 1 || len(got.Items) != 7 || got.Steps[0].Budget != 30 || got.Steps[0].Tokens != 10 {
		t.Errorf("got %+v", got)
	}
}

func TestSweepPlot(t *testing.T) {
	// 0, 33.3, 37.5, 60, 58.3, 50 (35 of 70), 75 and 77.8 percent: eighths above
	// nothing, rounded down, from the lowest block.
	got := mustPrint(t, sweeping("--from", "20", "--to", "90", "--stride", "10", "--plot")...)
	if want := "\n ▃▄▅▅▅▇▇\nShare of the budget used, from 0.0% at 20 to 77.8% at 90.\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}

func TestSweepUsage(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"backwards", []string{"--from", "9", "--to", "5"}, "--to: must be at least --from (9), got 5"},
		{"stride", []string{"--stride", "0"}, "--stride: must be at least 1, got 0"},
		{"two forms", []string{"--json", "--csv"}, "if any flags in the group [json csv plot] are set none of the others can be; [csv json] were all set"},
		{"reserve", []string{"--reserve", "-1"}, "--reserve must be at least 0, got -1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := inFixture(t, sweeping(test.args...)...)
			if want := "cupel: " + test.want + "\n"; code != exitUsage || stdout != "" || stderr != want {
				t.Errorf("exit code %d\n%s%s\nwant %d\n%s", code, stdout, stderr, exitUsage, want)
			}
		})
	}
}

func TestRoundStride(t *testing.T) {
	for _, test := range []struct {
		name   string
		length int
		want   int64
	}{
		{"nothing", 0, 1}, {"short", 49, 1}, {"one too long", 50, 2}, {"hundreds", 499, 10}, {"five hundreds", 500, 20},
		{"thousand", 1000, 50}, {"billions", math.MaxInt32, 50_000_000},
		{"all", math.MaxInt, map[int]int64{32: 50_000_000, 64: 200_000_000_000_000_000}[strconv.IntSize]},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := int64(roundStride(test.length)); got != test.want {
				t.Errorf("got %d, want %d: fifty parts at most of 1, 2 or 5 times a power of ten", got, test.want)
			}
		})
	}
}
