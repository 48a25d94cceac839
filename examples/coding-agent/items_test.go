package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

func readItems(t *testing.T, text []byte) []*cupel.ContextItem {
	t.Helper()
	var items []*cupel.ContextItem
	if err := json.Unmarshal(text, &items); err != nil {
		t.Fatal(err)
	}
	return items
}

func TestItems(t *testing.T) {
	root := shop(t)
	args := []string{"-root", root, "-question", "What is a Price?", "-budget", "202", "-reserve", "51", "-vet", "0", "-counter", "bytes", "-items"}
	code, printed, stderr := start(t, append(args, "-")...)
	if code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	items := readItems(t, []byte(printed))
	var contents []string
	for _, it := range items {
		contents = append(contents, it.Content()[:4])
	}
	if got, want := strings.Join(contents, "|"), "You |What|# Sh|## P|// P|// P"; got != want {
		t.Fatalf("the items begin with %q, want %q: the conversation, then files by path", got, want)
	}
	price := items[5]
	path, _ := price.MetadataValue("path")
	symbol, _ := price.MetadataValue("symbol")
	if price.Tokens() != 17 || price.Kind() != "Code" || path != "shop/price.go" || symbol != "Price" || !items[0].Pinned() {
		t.Errorf("got %s", printed)
	}
	if title, _ := items[3].MetadataValue("title"); title != "Prices" {
		t.Errorf("the section has the title %v", title)
	}
	if lines := strings.Count(printed, "\n"); lines != 1+len(items)+1 {
		t.Errorf("%d lines, want one for each item and two", lines)
	}

	// A file gets the same, and the report is printed as well.
	name := filepath.Join(t.TempDir(), "items.json")
	code, stdout, stderr := start(t, append(args, name, "-relevance=false")...)
	if written, err := os.ReadFile(name); code != exitOK || stdout != wantReport || err != nil || string(written) != printed {
		t.Errorf("exit code %d, %s, %v\nprinted\n%s\nwrote\n%s", code, stderr, err, stdout, written)
	}
}

func TestItemsNeverOverwrite(t *testing.T) {
	root := shop(t)
	name := filepath.Join(t.TempDir(), "items.json")
	precious := []byte(strings.Repeat("precious", 1000))
	if err := os.WriteFile(name, precious, 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-root", root, "-vet", "0", "-items", name}
	code, stdout, stderr := start(t, args...)
	if want := name + " is there already; -force replaces it\n"; code != exitFailure || stdout != "" || !strings.HasSuffix(stderr, want) {
		t.Errorf("exit code %d, %q, %q; want it to end in %q", code, stdout, stderr, want)
	}
	if left, err := os.ReadFile(name); err != nil || !bytes.Equal(left, precious) {
		t.Errorf("the file has %d bytes now, %v", len(left), err)
	}
	if code, _, stderr = start(t, append(args, "-force")...); code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	replaced, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(readItems(t, replaced)); n != 6 {
		t.Errorf("%d items, want all six and nothing of what was there", n)
	}
	code, _, stderr = start(t, "-root", root, "-vet", "0", "-items", filepath.Join(name, "below"))
	if code != exitFailure || !strings.Contains(stderr, "items.json") {
		t.Errorf("a path through a file: exit code %d, %q", code, stderr)
	}
}
