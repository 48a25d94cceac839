module github.com/wollax/cupel-go/internal/naive

go 1.26.0

require (
	github.com/wollax/cupel-go/conformance v0.1.0
	github.com/wollax/cupel-go/cupel v0.1.0
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/wollax/cupel-go/cupeltoml v0.1.0 // indirect
)
