package cli

import "testing"

// unitsItems are a pinned group, a call with its result, a manual with an
// outline, a large call, and two versions of a file.
const unitsItems = `[
	{"content":"rules","tokens":5,"kind":"SystemPrompt","pinned":true,"group":"rules"},
	{"content":"reasons","tokens":4,"group":"rules"},
	{"content":"call","tokens":4,"group":"call_1","futureRelevanceHint":0.9},
	{"content":"result","tokens":16,"kind":"ToolOutput","group":"call_1","futureRelevanceHint":0.2},
	{"content":"manual","tokens":60,"kind":"Document","futureRelevanceHint":0.5,"variants":[{"content":"chapters","tokens":20,"worth":0.5}]},
	{"content":"large call","tokens":10,"group":"call_2","futureRelevanceHint":0.1},
	{"content":"large result","tokens":90,"kind":"ToolOutput","group":"call_2","futureRelevanceHint":0.1},
	{"content":"file, version 1","tokens":5,"versionOf":"file","futureRelevanceHint":0.3},
	{"content":"file, version 2","tokens":6,"versionOf":"file","futureRelevanceHint":0.6}
]`

func TestUnits(t *testing.T) {
	fixture["units.json"] = unitsItems
	t.Cleanup(func() { delete(fixture, "units.json") })
	selection := []string{"-i", "units.json", "-p", "greedy.json", "-b", "70"}
	for _, row := range []struct {
		name string
		args []string
		want string
		why  string
	}{
		{"explain", append([]string{"explain"}, selection...), `Mine: 6 of 9 candidates included, 55 tokens, 78.6% of the budget of 70

[DDDDDDDDDDDDDDDDDDDDDDDDDDDDTTTTTTTTTTTTTTTTTTTTTTMMMMMMMMMMMMMMMMMMMMSSSSSSS.....................]
D  Document      20  28.6%  1 item
T  ToolOutput    16  22.9%  1 item
M  Message       14  20.0%  3 items
S  SystemPrompt   5   7.1%  1 item
.  free          15  21.4%

In, by score (6)
#  RANK  SCORE  TOKENS  KIND          REASON  GROUP   FORM        ITEM
1     -      -       5  SystemPrompt  Pinned  rules               rules
2     -      -       4  Message       Pinned  rules               reasons
3     1    0.9       4  Message       Scored  call_1              call
4     2    0.9      16  ToolOutput    Scored  call_1              result
5     3    0.6       6  Message       Scored                      file, version 2
6     4    0.5      20  Document      Scored          1, full 60  chapters

Out, by score (3)
RANK  SCORE  TOKENS  KIND        REASON                   GROUP   FORM   ITEM
   5    0.3       5  Message     Superseded by #5                 stale  file, version 1
   6    0.1      10  Message     BudgetExceeded, 15 left  call_2         large call
   7    0.1      90  ToolOutput  BudgetExceeded, 15 left  call_2         large result

Why they are out
2  BudgetExceeded  larger than the 15 tokens left
1  Superseded      a newer version of it is there
`, "the group of the large call does not fit, though it would alone"},
		{"why-not", append([]string{"explain", "--why-not", "manual"}, selection...), `It is in, as #6 of 6: Scored

item    manual
kind    Document, source Chat
tokens  60
form    1, full 60
score   0.5, rank 4 of 7

The smallest budget that includes it is 55 tokens, 15 fewer than now.
`, "it is in as an outline"},
		{"diff", []string{"diff", "70", "140", "-i", "units.json", "-p", "greedy.json"}, `A: 70
B: 140

                            A      B        CHANGE
items                       6      6
tokens                     55     95           +40
of the budget           78.6%  67.9%  -10.7 points
kinds                       4      4
with a timestamp         0.0%   0.0%
tokens of Document         20     60           +40
tokens of ToolOutput       16     16
tokens of Message          14     14
tokens of SystemPrompt      5      5

In both, but in another form (1)
FORM A  TOKENS  FORM B  TOKENS  KIND      ITEM
     1      20    full      60  Document  manual
`, "the manual is in both, in two forms"},
		{"run", append([]string{"run", "--headers"}, selection...), `--- 1: SystemPrompt, 5 tokens, group rules
rules

--- 2: Message, 4 tokens, group rules
reasons

--- 3: Message, 4 tokens, group call_1
call

--- 4: ToolOutput, 16 tokens, group call_1
result

--- 5: Message, 6 tokens
file, version 2

--- 6: Document, 20 of 60 tokens
chapters
`, "headers have the group and the full size"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := mustPrint(t, row.args...); got != row.want {
				t.Errorf("got\n%s\nwant\n%s\nsince %s", got, row.want, row.why)
			}
		})
	}
}
