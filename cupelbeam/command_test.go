package cupelbeam

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExitCodes: the exit code and the error say what to do, and what is refused leaves
// no table.
func TestExitCodes(t *testing.T) {
	program, data := command(t), readFile(t, agents(t))
	a, b := readFile(t, "testdata/a.cupelrec"), readFile(t, "testdata/b.cupelrec") // the turns of a conversation
	t.Chdir(t.TempDir())
	for name, text := range map[string][]byte{
		"a.cupelrec": a, "b.cupelrec": b, "1.cupelrec": a[:30], "2.cupelrec": b[:60],
		"a.jsonl": append(data, "{oops\n"...), "b.gz": zip(t, string(data)), "rubbish.gz": []byte("\x1f\x8boops"), "empty.jsonl": nil, "old.json": data,
		"mine.toml": []byte("scorers = [{ type = \"recency\", weight = 1 }]\nslicer = { type = \"scoreGreedy\" }\nplacer = { type = \"chronological\" }"),
		"bad.toml":  []byte("scorer = 1"),
	} {
		save(t, name, text)
	}
	save(t, "large", nil)
	require.NoError(t, os.Truncate("large", 65e6))
	for _, row := range []struct {
		args string
		code int
		want string // part of the log
	}{
		{"--data=b.gz --policy=mine.toml --require mine.toml|task@0.5|>=|0.1", 0, `counters: {"conversations":3,"failed_steps":0,"steps":`},
		{"--data=a.jsonl --max-bad=30%", 0, `counters: {"bad_json":1,"conversations":3,`},
		{"--data=a.jsonl,b.gz", 1, "1 of 7 lines cannot be read, more than --max-bad 0%"},
		{"--data=b.gz --require newest@0.6|grounded@0.5|>=|0.99", 1, `--require "newest@0.6 grounded@0.5 >= 0.99" is not met: it is 0.`},
		{"--data=b.gz --require newest@0.6|grounded@0.5|<=|0.99 --policy=newest@0.6", 0, "counters: "},
		{"--data=b.gz --require newest@0.6|recal@0.5|>=|1", 2, `the table has no "recal" of policy`},
		{"--data=b.gz --require newest|>|1", 2, "want POLICY FIGURE@SHARE >= NUMBER"},
		{"--data=b.gz --max-bad=0.1", 2, "want a share from 0% to 100%"},
		{"--data=rubbish.gz --max-bad=100%", 2, "no conversation of rubbish.gz could be read; lines that cannot be read: 1"},
		{"--data=empty.jsonl", 2, "no conversation of empty.jsonl could be read; lines that cannot be read: 0"},
		{"--data=a.cupelrec,b*.cupelrec", 0, `counters: {"conversations":1,"failed_steps":0,"steps":2,"values":1}`},
		{"--data=*.cupelrec", 1, "2 of 3 lines cannot be read"},
		{"--data=none*", 2, "no file matches"},
		{"--data=b*", 2, "names the compressed file"},
		{"--data=[", 2, "syntax error in pattern"},
		{"--data=hdfs://a/b", 2, `file system scheme "hdfs" not registered`},
		{"--data=a.jsonl --samples=old.json", 2, "old.json exists; --force overwrites it"},
		{"--data=a.jsonl --samples=old.json/s", 2, "old.json"},
		{"--data=a.jsonl --samples=a.jsonl --force", 2, "a.jsonl is named twice"},
		{"--data=a.jsonl,a.js*", 2, "--data: a.jsonl is named twice"},
		{"--data=large", 2, "65 MB is too much for Prism"},
		{"--data=a.jsonl --shards=0", 2, "--shards: want at least 1, got 0"},
		{"--data=a.jsonl --shards=2", 2, "--shards: name the file for --samples"},
		{"--data=a.jsonl --policy=bad.toml", 2, "--policy: bad.toml: "},
		{"--data=a.jsonl --runner=storm", 2, `--runner: "storm" is unknown; want one of prism, direct, flink`},
		{"--data a.jsonl b.gz", 2, `"b.gz" is not a flag`},
		{"--unknown", 2, "flag provided but not defined: -unknown\ncupel-beam -help lists the flags\n"},
	} {
		args := append([]string{"--table=out/table.json", "--policy=newest@0.6", "--share=0.5"}, strings.Fields(row.args)...)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "|", " ")
		}
		log := run(t, program, args, row.code)
		if !strings.Contains(log, row.want) {
			t.Errorf("%s: want %q in\n%s", row.args, row.want, log)
		}
		// Also where no conversation could be read there is a table, and it says so.
		if _, err := os.Stat("out/table.json"); err != nil && row.code < 2 {
			t.Errorf("%s: %v", row.args, err)
		}
		require.NoError(t, os.RemoveAll("out"))
	}
	if string(readFile(t, "old.json")) != string(data) {
		t.Error("a file was overwritten")
	}
}

// TestForce: samples of another number of shards are not left among those of a job.
func TestForce(t *testing.T) {
	program, data := command(t), readFile(t, agents(t))
	t.Chdir(t.TempDir())
	save(t, "a.jsonl", data) // its name is in the rows, whose hashes decide the files
	for _, shards := range []string{"3", "2"} {
		run(t, program, []string{"--data=a.jsonl", "--policy=newest", "--table=table.json", "--samples=s.jsonl", "--shards", shards, "--force"}, 0)
	}
	found, err := filepath.Glob("s*")
	if err != nil || strings.Join(found, " ") != "s-00000-of-00002.jsonl s-00001-of-00002.jsonl" {
		t.Errorf("got %q, %v", found, err)
	}
}

// agents returns the name of the conversations of package replay.
func agents(t *testing.T) string {
	t.Helper()
	name, err := filepath.Abs("../cupelsession/replay/testdata/agents.jsonl")
	require.NoError(t, err)
	return name
}

// TestReadme runs the commands of the README in a folder with a corpus. Of those for a
// cluster it checks the flags.
func TestReadme(t *testing.T) {
	readme := string(readFile(t, "README.md"))
	program, data := command(t), readFile(t, agents(t))
	t.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("month", 0o700))
	save(t, "month/1.jsonl", data)
	save(t, "month/2.jsonl.gz", zip(t, string(data)))
	help := run(t, program, []string{"-h"}, 0)
	ran, clusters := 0, 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		script := block[1]
		switch {
		case strings.Contains(script, "--runner="):
			for _, f := range regexp.MustCompile(`--([a-z_-]+)`).FindAllStringSubmatch(script, -1) {
				if !strings.Contains(help, "\n  -"+f[1]) {
					t.Errorf("--%s is not in the help: %s", f[1], script)
				}
			}
			clusters++
		case strings.Contains(script, "cupel-beam --"):
			run(t, "sh", []string{"-ec", script}, 0)
			ran++
		}
	}
	if ran < 2 || clusters < 3 {
		t.Errorf("%d commands ran, and %d are for clusters", ran, clusters)
	}
}
