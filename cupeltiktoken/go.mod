module github.com/wollax/cupel-go/cupeltiktoken

go 1.26.0

require (
	github.com/tiktoken-go/tokenizer v0.10.0
	github.com/wollax/cupel-go/cupel v0.1.0
)

require github.com/dlclark/regexp2/v2 v2.5.1 // indirect
