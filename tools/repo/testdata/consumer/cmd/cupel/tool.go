//go:build tool

package main

import _ "github.com/wollax/cupel-go/cmd/cupel"
