package cli

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestProgress: soon done is not mentioned, and what takes long now and then.
func TestProgress(t *testing.T) {
	for _, row := range []struct {
		name  string
		place bool
		step  time.Duration // between two updates
		want  string
		why   string
	}{
		{"soon done, in lines", false, time.Second, "", "four seconds are not long"},
		{"in lines", false, 3 * time.Second, "2 of 4 things\n4 of 4 things\n", "every five seconds at most"},
		{"soon done, on a terminal", true, 20 * time.Millisecond, "", "80 milliseconds are not long"},
		{"on a terminal", true, time.Second, "\r1 of 4 things\r2 of 4 things\r3 of 4 things\r4 of 4 things\r\x1b[K", "in place, and gone at the end"},
	} {
		now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
		var out strings.Builder
		p := newProgress(&Environment{Stderr: &out, Getenv: func(string) string { return "" }, Clock: func() time.Time { return now }}, "things")
		if p.place {
			t.Fatal("a builder is a terminal")
		}
		if row.place {
			p.place, p.every = true, progressInPlace
		}
		for i := range 4 {
			now = now.Add(row.step)
			p.update(i+1, 4)
		}
		p.end()
		if out.String() != row.want {
			t.Errorf("%s: got %q, want %q: %s", row.name, out.String(), row.want, row.why)
		}
	}
}

// TestEvalProgress: it goes to standard error, and stops with the work.
func TestEvalProgress(t *testing.T) {
	folder(t, map[string]string{"talk.jsonl": talkFile()})
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	run := func(ctx context.Context) (code int, stdout, stderr string) {
		var out, errs strings.Builder
		code = Main(ctx, []string{"eval", "--data", "talk.jsonl", "--budgets", "6", "-p", "recency"}, Environment{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
			Clock: func() time.Time { now = now.Add(time.Minute); return now },
		})
		return code, out.String(), errs.String()
	}
	code, stdout, stderr := run(t.Context())
	if code != exitOK || strings.Contains(stdout, " of ") || stderr != "1 of 3 questions\n2 of 3 questions\n3 of 3 questions\n" {
		t.Errorf("got %d, %q, %q", code, stdout, stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, stdout, _ := run(ctx); code != exitInterrupted || stdout != "" {
		t.Errorf("interrupted: got %d, %q", code, stdout)
	}
}
