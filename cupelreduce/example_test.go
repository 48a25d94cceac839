package cupelreduce_test

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupelreduce"
)

const reservation = `{"reservation_id": "UM3OG5", "cabin": "economy",
	"flights": [{"flight_number": "HAT113", "date": "2024-05-26", "price": 117},
	            {"flight_number": "HAT282", "date": "2024-05-28", "price": 140}],
	"passengers": [{"first_name": "Omar", "last_name": "Rossi"}], "insurance": true}`

func ExampleReduce() {
	fmt.Println(cupelreduce.Reduce(reservation, 30))
	// Output:
	// reservation_id=UM3OG5 cabin=economy
	// flights: flight_number=HAT113
	// flights: flight_number=HAT282
	// … +7 values
}

// Where cutting long strings is enough, JSON stays valid.
func ExampleReduce_json() {
	page := `{"url": "https://go.dev/doc", "title": "Documentation", "body": "` + strings.Repeat("All about Go. ", 100) + `"}`
	fmt.Println(cupelreduce.Reduce(page, 50))
	// Output:
	// {"url":"https://go.dev/doc","title":"Documentation","body":"All about Go. All about Go. All about Go. All about Go. All about Go. All about … 1320 bytes more"}
}

func ExampleReduce_log() {
	log := "go test ./...\n" + strings.Repeat("ok  \tpkg\t0.1s\n", 50) +
		"--- FAIL: TestSlice (0.00s)\n    slice_test.go:41: got 3 items, want 4\nFAIL\n"
	fmt.Println(cupelreduce.Reduce(log, 32))
	// Output:
	// go test ./...
	// ok  	pkg	0.1s
	// …
	// --- FAIL: TestSlice (0.00s)
	//     slice_test.go:41: got 3 items, want 4
	// FAIL
}

// The text itself is the last form. Divided by its worth, that of a smaller form is the
// share that it keeps.
func ExampleForms() {
	forms := cupelreduce.Forms(reservation)
	whole := forms[len(forms)-1]
	for _, f := range forms[:2] {
		fmt.Printf("%d of %d tokens, %.0f %% of the worth:\n%s\n", f.Tokens, whole.Tokens, 100*f.Worth/whole.Worth, f.Text)
	}
	// Output:
	// 9 of 72 tokens, 16 % of the worth:
	// reservation_id=UM3OG5
	// … +10 values
	// 17 of 72 tokens, 32 % of the worth:
	// reservation_id=UM3OG5
	// flights: flight_number=HAT113
	// … +9 values
}

func ExampleKnown() {
	var known cupelreduce.Known
	known.Add("Flight HAT113 of reservation UM3OG5 is at noon.")
	fmt.Println(cupelreduce.Reduce(reservation, 12, cupelreduce.WithKnown(&known)))
	// Output:
	// flights: flight_number=HAT282
	// … +8 values
}

func ExampleKnown_Add() {
	var known cupelreduce.Known
	known.Add("cabin=economy")
	fmt.Println(cupelreduce.Reduce(reservation, 60, cupelreduce.WithKnown(&known)))
	// Output:
	// reservation_id=UM3OG5 insurance=true
	// flights: flight_number=HAT113 date=2024-05-26 price=117
	// flights: flight_number=HAT282 date=2024-05-28 price=140
	// passengers: first_name=Omar last_name=Rossi
}

func ExampleDetect() {
	fmt.Println(cupelreduce.Detect(reservation))
	fmt.Println(cupelreduce.Detect("func main() {\n\tfmt.Println()\n}\n"))
	fmt.Println(cupelreduce.Detect("ls\nREADME.md\nsetup.py\n"))
	// Output:
	// json
	// code
	// log
}

func ExampleWithKind() {
	notes := "Go on with the second item. It is long.\nThen the third one. It is short."
	fmt.Println(cupelreduce.Reduce(notes, 10, cupelreduce.WithKind(cupelreduce.KindProse)))
	// Output:
	// Go on with the second item.…
	// …
}

func ExampleWithCounter() {
	fmt.Println(cupelreduce.Reduce(reservation, 70, cupelreduce.WithCounter(utf8.RuneCountInString)))
	// Output:
	// reservation_id=UM3OG5
	// flights: flight_number=HAT113
	// … +9 values
}

func ExampleKind_String() {
	fmt.Println(cupelreduce.KindDiff)
	// Output:
	// diff
}
