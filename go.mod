module github.com/wollax/cupel-go

go 1.26.0

require (
	github.com/blevesearch/snowballstem v0.9.0
	github.com/klauspost/compress v1.19.2
	github.com/stretchr/testify v1.12.1
	github.com/wollax/cupel-go/cupel v0.1.0
	golang.org/x/text v0.42.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
