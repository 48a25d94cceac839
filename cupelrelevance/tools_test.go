package cupelrelevance_test

import (
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupelrelevance"
)

func TestTools(t *testing.T) {
	names := []string{"send_mail", "read_file", "weather", "ask"}
	definitions := []string{
		`{"name":"send_mail","description":"Sends a mail to a person."}`, `{"name":"read_file","description":"Reads a file of the repository."}`,
		`{"name":"weather","description":"The weather of a city."}`, `{"name":"ask","description":"Asks the user."}`,
	}
	for _, test := range []struct {
		task   string
		most   int
		always []string
		want   []bool
		why    string
	}{
		{"Which file of the repository panics?", 1, nil, []bool{false, true, false, false}, "one is about files"},
		{"What is the weather like in Paris?", 1, []string{"ask"}, []bool{false, false, true, true}, "one is always there"},
		{"xyzzy", 2, nil, []bool{true, true, false, false}, "the task is about none: the first ones"},
		{"mail", 9, nil, []bool{true, true, true, true}, "there are no more"},
		{"mail", -1, nil, []bool{false, false, false, false}, "none is asked for"},
		{"", 1, nil, []bool{true, false, false, false}, "there is no task"},
	} {
		if got := cupelrelevance.Tools(test.most, test.always...)(test.task, names, definitions); !slices.Equal(got, test.want) {
			t.Errorf("%q, %d: got %v, want %v (%s)", test.task, test.most, got, test.want, test.why)
		}
	}
	if got := cupelrelevance.Tools(1)("mail", names[:2], []string{"", "mail"}); !slices.Equal(got, []bool{true, false}) {
		t.Errorf("got %v, want the first: a definition without text has no score, and then none has", got)
	}
}
