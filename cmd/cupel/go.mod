module github.com/wollax/cupel-go/cmd/cupel

go 1.26.0

require (
	github.com/spf13/cobra v1.10.2
	github.com/wollax/cupel-go v0.1.0
	github.com/wollax/cupel-go/cupel v0.1.0
	github.com/wollax/cupel-go/cupeltest v0.1.0
	github.com/wollax/cupel-go/cupeltiktoken v0.1.0
	github.com/wollax/cupel-go/cupeltoml v0.1.0
	golang.org/x/term v0.46.0
)

require (
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/google/jsonschema-go v0.4.3
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-runewidth v0.0.24
	github.com/modelcontextprotocol/go-sdk v1.8.0
	github.com/stretchr/testify v1.12.1
	github.com/tiktoken-go/tokenizer v0.10.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
