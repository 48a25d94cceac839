module github.com/wollax/cupel-go/cupeltest

go 1.26.0

require github.com/wollax/cupel-go/cupel v0.1.0
