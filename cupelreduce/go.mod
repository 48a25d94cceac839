module github.com/wollax/cupel-go/cupelreduce

go 1.26.0
