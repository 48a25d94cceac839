module github.com/wollax/cupel-go/cupel

go 1.24.0
