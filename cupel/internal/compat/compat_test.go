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
