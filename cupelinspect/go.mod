module github.com/wollax/cupel-go/cupelinspect

go 1.26.0

require github.com/wollax/cupel-go/cupel v0.1.0

replace github.com/wollax/cupel-go/cupel => ../cupel
