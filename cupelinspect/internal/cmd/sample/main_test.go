package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestRun(t *testing.T) {
	tests := []struct {
		name               string
		two, hostile, fail bool
		want               string
		why                string
	}{
		{"one", false, false, false, "Newest first", "a selection by age"},
		{"two", true, false, false, "By kind", "and one by kind"},
		{"hostile", false, true, false, "constructor.constructor", "contents that a page must show"},
		{"fail", false, false, true, "Pinned items require 20 tokens, but only 10 are available", "78 bytes of system prompt are 1 + 78/4 tokens"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			output := filepath.Join(t.TempDir(), "page.html")
			if err := run(50, tt.two, tt.hostile, tt.fail, output); err != nil {
				t.Fatal(err)
			}
			page, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(page, []byte(tt.want)) {
				t.Errorf("%s: the page does not have %q", tt.why, tt.want)
			}
		})
	}
	if err := run(1, false, false, false, t.TempDir()); err == nil {
		t.Error("a folder was written over")
	}
}
