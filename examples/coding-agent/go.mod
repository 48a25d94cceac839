module github.com/wollax/cupel-go/examples/coding-agent

go 1.26.0

require (
	github.com/wollax/cupel-go v0.1.0
	github.com/wollax/cupel-go/cupel v0.1.0
	github.com/wollax/cupel-go/cupeltiktoken v0.1.0
)

require (
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/kljensen/snowball v0.10.0 // indirect
	github.com/tiktoken-go/tokenizer v0.10.0 // indirect
)
