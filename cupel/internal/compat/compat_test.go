package compat

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestAsType(t *testing.T) {
	inner := &fs.PathError{Op: "open"}
	if got, ok := AsType[*fs.PathError](fmt.Errorf("around: %w", inner)); !ok || got != inner {
		t.Errorf("an error inside another: %v, %t", got, ok)
	}
	if got, ok := AsType[*fs.PathError](errors.New("other")); ok || got != nil {
		t.Errorf("an error of another type: %v, %t", got, ok)
	}
}

func TestNew(t *testing.T) {
	value := 3
	p := New(value)
	if *p = 4; value != 3 {
		t.Error("the variable that New was called with has changed")
	}
	if q := New(3); *q != 3 {
		t.Errorf("got %d", *q)
	}
}
