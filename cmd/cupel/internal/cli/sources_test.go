package cli

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGzip(t *testing.T) {
	const items = `{"content":"apple"}` + "\n" + `{"content":"pear"}`
	folder(t, map[string]string{"items.jsonl": items, "items.jsonl.gz": zipped(t, items), "plain.gz": items, "cut.gz": zipped(t, items)[:20], "bad.gz": "\x1f\x8b\x00", "empty.gz": ""})
	for _, tt := range []struct{ name, stdin, want, why string }{
		{"items.jsonl.gz", "", "", "a file"},
		{"plain.gz", "", "", "a file that only says so"},
		{"-", zipped(t, items), "", "standard input"},
		{"cut.gz", "", "cupel: cut.gz: what gzip compressed is cut or broken: unexpected EOF\n", "the end is missing"},
		{"bad.gz", "", "cupel: bad.gz: what gzip compressed cannot be read: unexpected EOF\n", "only the beginning is there"},
		{"empty.gz", "", "cupel: empty.gz: line 1: expected JSON, got nothing (column 1)\n", "nothing is there"},
	} {
		code, stdout, stderr := ran(t, tt.stdin, "-i", tt.name, "-p", "chat", "-b", "1k")
		if stderr != tt.want || (code == exitOK) != (tt.want == "") || tt.want == "" && stdout != "apple\n\npear\n" {
			t.Errorf("%s: exit code %d, %q, %q, want %q: %s", tt.name, code, stdout, stderr, tt.want, tt.why)
		}
	}
}

func TestSeveralInputs(t *testing.T) {
	folder(t, map[string]string{
		"a.jsonl": `{"content":"apple"}`, "b.json": `[{"content":"banana"}]`, "shop/c.txt": "cherry\n",
		"chat.json": `[{"role":"user","content":"date"}]`,
	})
	code, stdout, stderr := ran(t, "", "-i", "a.jsonl", "-i", "b.json", "-i", "shop", "-p", "chat", "-b", "1k")
	if want := "c.txt:1\ncherry\n\napple\n\nbanana\n"; code != exitOK || stdout != want || stderr != "" { // files have times
		t.Errorf("exit code %d, %q, %q, want %q", code, stdout, stderr, want)
	}
	code, _, stderr = ran(t, "", "-i", "a.jsonl", "-i", "chat.json", "-p", "chat", "-b", "1k")
	if want := "cupel: --items: several files are joined if they are lists of items or folders, and one of a.jsonl, chat.json is a transcript: give it alone\n"; code != exitUsage || stderr != want {
		t.Errorf("exit code %d, %q, want %q", code, stderr, want)
	}
}

func TestSkipInvalid(t *testing.T) {
	for _, tt := range []struct{ name, why, text, want, note, without string }{
		{"lines", "lines keep their numbers", "{\"content\":\"a\"}\n{oops\n\n{\"content\":7}\n{\"content\":\"b\",\"tokens\":-9e99}\n\"text\"\n{\"content\":\"z\"}\n", "a\n\nz\n",
			"skipped 4 items that are not valid; the first: line 2: the line is not a JSON object", "line 2: invalid character 'o'"},
		{"counts", "the flag is offered where it helps", `[{"content":"a"},{"content":"b","tokens":true},{"content":"z"}]`, "a\n\nz\n",
			"skipped an item that is not valid: line 1: [1].tokens must be an integer, got a boolean", "[1].tokens must be an integer, got a boolean; --skip-invalid leaves such items out\n"},
		{"array", "elements have paths", `[{"content":"a"},{"content":""},4,{"content":"z"}]`, "a\n\nz\n",
			`skipped 2 items that are not valid; the first: line 1: [1].content must not be empty`, "[2] must be an object, got a number"},
		{"bytes", "a line of rubbish", "{\"content\":\"a\"}\n\xff\xfe\n", "a\n", "skipped an item that is not valid: line 2: the line is not a JSON object", "the text is not valid UTF-8"},
		{"none", "nothing to say", `[{"content":"a"}]`, "a\n", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := ran(t, tt.text, "-i", "-", "-p", "chat", "-b", "1k", "--skip-invalid")
			note := ""
			if tt.note != "" {
				note = "cupel: note: " + tt.note + "\n"
			}
			if code != exitOK || stdout != tt.want || stderr != note {
				t.Errorf("%s: exit code %d, %q, %q", tt.why, code, stdout, stderr)
			}
			if code, _, stderr := ran(t, tt.text, "-i", "-", "-p", "chat", "-b", "1k"); note != "" && (code != exitUsage || !strings.Contains(stderr, tt.without)) {
				t.Errorf("without the flag: exit code %d, %q", code, stderr)
			}
		})
	}
	for name, text := range map[string]string{
		"a transcript": "{\"role\":\"user\",\"content\":\"a\"}\n{oops\n{\"role\":\"assistant\",\"content\":\"b\"}\n",
		"rubbish":      "\x00\x01\x02\n\x7f\n",
	} {
		if code, stdout, stderr := ran(t, text, "-i", "-", "-p", "chat", "-b", "1k", "--skip-invalid"); code != exitUsage || stdout != "" || !strings.Contains(stderr, "line ") {
			t.Errorf("%s: exit code %d, %q, %q", name, code, stdout, stderr)
		}
	}
}

// TestDevices: a device is written to, as nothing of it is lost.
func TestDevices(t *testing.T) {
	if _, err := os.Stat(os.DevNull); err != nil || os.DevNull != "/dev/null" {
		t.Skip("there is no ", os.DevNull)
	}
	code, stdout, stderr := ran(t, `[{"content":"a"}]`, "-i", "-", "-p", "chat", "-b", "1k", "-o", os.DevNull)
	if code != exitOK || stdout+stderr != "" {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	dir := t.TempDir()
	if code, _, stderr := ran(t, `[{"content":"a"}]`, "-i", "-", "-p", "chat", "-b", "1k", "-o", dir); code != exitUsage || !strings.Contains(stderr, filepath.Base(dir)) {
		t.Errorf("a folder: exit code %d: %s", code, stderr)
	}
}
