package cupeltiktoken_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltiktoken"
)

func Example() {
	counter, err := cupeltiktoken.ForModel("gpt-4o")
	if err != nil {
		log.Fatal(err)
	}
	item, err := cupel.NewItemFrom(counter, "antidisestablishmentarianism", cupel.WithKind(cupel.KindDocument))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(counter.Encoding(), item.Tokens())
	// Output: o200k_base 6
}

func ExampleForEncoding() {
	for _, encoding := range []cupeltiktoken.Encoding{cupeltiktoken.EncodingR50kBase, cupeltiktoken.EncodingP50kBase, cupeltiktoken.EncodingCl100kBase, cupeltiktoken.EncodingO200kBase} {
		counter, err := cupeltiktoken.ForEncoding(encoding)
		if err != nil {
			log.Fatal(err)
		}
		n, err := counter.CountTokens("お誕生日おめでとう")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(encoding, n)
	}
	// Output:
	// r50k_base 14
	// p50k_base 14
	// cl100k_base 9
	// o200k_base 8
}

func ExampleForModel() {
	counter, err := cupeltiktoken.ForModel("ft:gpt-3.5-turbo:acme::7p4lURel")
	fmt.Println(counter.Encoding(), err)

	_, err = cupeltiktoken.ForModel("gpt-nine")
	if unknown, ok := errors.AsType[*cupeltiktoken.UnknownError](err); ok {
		fmt.Printf("no %s %s; %d names are known\n", unknown.What, unknown.Name, len(unknown.Known))
	}
	// Output:
	// cl100k_base <nil>
	// no model gpt-nine; 34 names are known
}

func ExampleCounter_CountTokens() {
	counter, err := cupeltiktoken.ForEncoding(cupeltiktoken.EncodingCl100kBase)
	if err != nil {
		log.Fatal(err)
	}
	n, err := counter.CountTokens("tiktoken is great!")
	fmt.Println(n, err)
	// Output: 6 <nil>
}
