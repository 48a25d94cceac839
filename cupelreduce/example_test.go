package cupelreduce_test

import (
	"fmt"

	"github.com/wollax/cupel-go/cupelreduce"
)

const reservation = `{"reservation_id": "UM3OG5", "cabin": "economy",
	"flights": [{"flight_number": "HAT113", "date": "2024-05-26", "price": 117},
	            {"flight_number": "HAT282", "date": "2024-05-28", "price": 140}],
	"passengers": [{"first_name": "Omar", "last_name": "Rossi"}], "insurance": true}`

func ExampleTo() {
	fmt.Println(cupelreduce.To(reservation, 30))
	// Output:
	// reservation_id=UM3OG5 cabin=economy
	// flights: flight_number=HAT113 date=2024-05-26
	// flights: flight_number=HAT282
	// … +6
}
