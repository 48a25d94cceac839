// Command consumer counts tokens, in an item and by itself.
package main

import (
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltiktoken"
)

func main() {
	counter, err := cupeltiktoken.ForModel("gpt-4")
	if err != nil {
		log.Fatal(err)
	}
	item, err := cupel.NewItemFrom(counter, "tiktoken is great!")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(counter.Encoding(), item.Tokens())

	_, err = cupeltiktoken.ForEncoding("cl200k_base")
	fmt.Println(err)
}
