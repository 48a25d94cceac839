package cupelbeam

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupelsession/replay"
)

var newest = Spec{Policies: []Policy{{Name: "newest"}, {Name: "clear"}}, Shares: []float64{0.5}}

// kinds are lines of every kind, some of which are conversations.
func kinds(t *testing.T) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(readFile(t, agents(t)))), "\n")
	const talk = `"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}`
	return append(lines,
		`{`+talk, `{"id": "a", `+talk, `{"id": "a", `+talk+"\r", "\ufeff"+`{"id": 7, `+talk, "\u00a0"+`{"id": "b", `+talk,
		`{"id": "`+"\xff\xfe"+`", `+talk, `{"id": "cut", "messages": [`, "\x00\xff", "\x1f\x8b", "null", "[]", `[{`+talk+`, {`+talk+`]`,
		`{"role": "user", "content": "Hi"}`, "", " \t", "\r", "\ufeff", strings.Repeat("[", 20_000), "{}", "7",
	)
}

// file is a file of a corpus.
type file struct {
	name string
	text []byte
	cut  bool // gzip compressed it, and its end is missing
}

// divided divides lines into files at random, in any order. Some are compressed, and
// some of those cut after their lines.
func divided(t *testing.T, random *rand.Rand, lines []string) []file {
	t.Helper()
	texts := make([][]string, 1+random.IntN(6))
	for _, i := range random.Perm(len(lines)) {
		n := random.IntN(len(texts))
		texts[n] = append(texts[n], lines[i])
	}
	var files []file
	for n, text := range texts {
		f := file{name: fmt.Sprint(n, ".jsonl"), text: []byte(strings.Join(text, "\n"))}
		if random.IntN(2) == 0 {
			f.cut = random.IntN(2) == 0
			if f.cut && len(f.text) > 0 {
				f.text = append(f.text, '\n') // what follows the last end of a line counts as cut
			}
			f.name, f.text = f.name+".gz", zip(t, string(f.text))
			if f.cut {
				f.text = f.text[:len(f.text)-4]
			}
		}
		files = append(files, f)
	}
	return files
}

// measured runs the functions of the pipeline on files, as workers would in any order.
func measured(t *testing.T, random *rand.Rand, files []file) (table *replay.Table, samples, letters []string) {
	t.Helper()
	f := &measureFn{Spec: newest}
	require.NoError(t, f.Setup())
	var all, tables []string
	emit := func(l string) { all = append(all, l) }
	for _, file := range files {
		var err error
		if Compressed(file.name) {
			err = unzip(file.name, bytes.NewReader(file.text), func(_, l string) { emit(l) })
		} else {
			for text := range strings.SplitSeq(string(file.text), "\n") { // as textio does
				if err = lineOf(file.name, text, emit); err != nil {
					break
				}
			}
		}
		require.NoError(t, err)
	}
	for bundle := range slices.Chunk(append(all, ""), 1+random.IntN(9)) {
		f.StartBundle(nil, nil, nil)
		for _, l := range bundle {
			if l == "" {
				continue // the bundle has no line
			}
			err := f.ProcessElement(t.Context(), l, func(s string) { samples = append(samples, s) }, func(s string) { letters = append(letters, s) }, nil)
			require.NoError(t, err)
		}
		require.NoError(t, f.FinishBundle(nil, nil, func(s string) { tables = append(tables, s) }))
	}
	for len(tables) > 1 {
		i := random.IntN(len(tables) - 1)
		sum, err := merge(tables[i], tables[i+1])
		require.NoError(t, err)
		tables = slices.Replace(tables, i, i+2, sum)
	}
	table = new(replay.Table)
	require.NoError(t, json.Unmarshal([]byte(tables[0]), table))
	return table, samples, letters
}

// withoutPlaces returns the bits of a result, less the files and lines that it names.
func withoutPlaces(t *testing.T, table *replay.Table) string {
	t.Helper()
	result := table.Result()
	for i := range result.Worst {
		result.Worst[i].File, result.Worst[i].Line = "", 0
	}
	for i := range result.Lost {
		result.Lost[i].File, result.Lost[i].Line = "", 0
	}
	text, err := json.Marshal(result)
	require.NoError(t, err)
	return string(text)
}

// checkDivisions: each line that is not blank is a sample or a dead letter, and so is the
// end of a file that is cut; and a table does not show how lines are divided into files,
// nor in what order they are added.
func checkDivisions(t *testing.T, random *rand.Rand, lines []string, divisions int) {
	t.Helper()
	filled := 0
	for _, text := range lines {
		if strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) != "" {
			filled++
		}
	}
	want := ""
	for range divisions {
		files := divided(t, random, lines)
		cut := 0
		for _, f := range files {
			if f.cut {
				cut++
			}
		}
		table, samples, letters := measured(t, random, files)
		if len(samples)+len(letters) != filled+cut || table.Conversations != len(samples) || table.Failed != len(letters) {
			t.Fatalf("%d conversations and %d lines that cannot be read, of %d lines and %d cut files", table.Conversations, table.Failed, filled, cut)
		}
		table.Failed -= cut
		got := withoutPlaces(t, table)
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("divided in another way\n%s\nis not\n%s", got, want)
		}
	}
}

// TestDivisions checks corpora of lines of every kind.
func TestDivisions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := kinds(t)
	checkDivisions(t, random, append(all, strings.Repeat("x", 5<<20), `{"id": "long", "messages": [{"role": "user", "content": "`+strings.Repeat("word ", 1<<20)+`"}]}`), 3)
	corpora := 60
	if testing.Short() {
		corpora = 10
	}
	for range corpora {
		var lines []string
		for range random.IntN(40) {
			lines = append(lines, all[random.IntN(len(all))])
		}
		checkDivisions(t, random, lines, 4)
	}
}

// TestZcat: the lines of a compressed file are those of zcat, all of them.
func TestZcat(t *testing.T) {
	var text []byte
	for i := range 20_000 {
		text = fmt.Appendf(text, "{\"id\": \"%d\", \"messages\": [%s]}\n", i, strings.Repeat(" ", i%40))
	}
	compressed := zip(t, string(text))
	zcat := exec.CommandContext(t.Context(), "gzip", "-dc")
	zcat.Stdin = bytes.NewReader(compressed)
	want, err := zcat.Output()
	require.NoError(t, err)
	var got bytes.Buffer
	err = unzip("corpus.gz", bytes.NewReader(compressed), func(_, text string) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&got, "%s\n", l.Text)
	})
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%v, got %d lines, want those of zcat, %d", err, bytes.Count(got.Bytes(), []byte("\n")), bytes.Count(want, []byte("\n")))
	}
}

// TestDeadLetter: a dead letter has what finds its line.
func TestDeadLetter(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	_, _, letters := measured(t, random, []file{{name: "a.jsonl", text: []byte("\n oops \r\n{}")}, {name: "b.jsonl.gz", text: []byte("\n[]\nnull\n")}, {name: "c \xff\n\".gz", text: []byte("\x1f\x8b")}})
	var got []string
	for _, text := range letters {
		var l DeadLetter
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Error == "" {
			t.Errorf("%s: %v", text, err)
		}
		got = append(got, fmt.Sprintf("%s:%d %.8s %s", l.File, l.Line, l.SHA256, l.Kind))
	}
	// Of printf oops, {} and null by sha256sum.
	want := "a.jsonl:0 d13f2ead json\na.jsonl:0 44136fa3 conversation\nb.jsonl.gz:3 74234e98 conversation\nc \ufffd\n\".gz:1  file"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// TestSourceError: an error of the file system is no line, so that the runner tries again.
func TestSourceError(t *testing.T) {
	for _, begins := range []string{"", "{}\n", "\x1f\x8b"} {
		r := io.MultiReader(strings.NewReader(begins), failing{})
		if err := unzip("a.gz", r, func(_, l string) {
			if strings.Contains(l, "connection lost") {
				t.Errorf("%q: a line has the error: %s", begins, l)
			}
		}); err == nil || err.Error() != "connection lost" {
			t.Errorf("%q: got error %v", begins, err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	f, wrong := &measureFn{Spec: newest}, Spec{Policies: []Policy{{Name: "newst"}}}
	require.NoError(t, f.Setup())
	_, merging := merge("{", "{}")
	_, building := Replay(beam.NewPipeline().Root(), wrong, []string{"a"})
	_, decoding := Replay(beam.NewPipeline().Root(), Spec{Policies: []Policy{{Name: "mine", JSON: "{"}}}, []string{"a"})
	_, nothing := Replay(beam.NewPipeline().Root(), newest, nil)
	for _, row := range []struct {
		want string
		err  error
	}{
		{"unexpected end", merging}, {"want one of chat", building}, {"malformed", decoding}, {"no files to read", nothing}, {"want one of chat", (&measureFn{Spec: wrong}).Setup()},
		{"none.gz", unzipFile(t.Context(), fileio.ReadableFile{Metadata: fileio.FileMetadata{Path: "none.gz"}}, nil)},
		{"names the compressed file a.gz", lineOf("a.gz", "{}", nil)},
		{"unexpected end", f.ProcessElement(t.Context(), "{", nil, nil, nil)},
		{"canceled", f.ProcessElement(canceled, `{"Text": "`+base64.StdEncoding.EncodeToString([]byte(kinds(t)[0]))+`"}`, nil, nil, nil)},
		{"unsupported", emitJSON(math.NaN(), nil)},
		{"scheme", writeFile(t.Context(), "none://a", nil)}, {"write.go", writeFile(t.Context(), "write.go/a", nil)},
	} {
		if row.err == nil || !strings.Contains(row.err.Error(), row.want) {
			t.Errorf("got error %v, want one with %s", row.err, row.want)
		}
	}
}

// TestRegistered: nothing is called by reflection.
func TestRegistered(t *testing.T) {
	for _, f := range []any{lineOf, unzipFile, later, merge, writeFile} {
		if call := fmt.Sprintf("%T", reflectx.MakeFunc(f)); !strings.Contains(call, "caller") {
			t.Errorf("%T is called by %s", f, call)
		}
	}
	for _, f := range []any{&measureFn{}, &shardFn{}} {
		if _, ok := reflectx.WrapMethods(f); !ok {
			t.Errorf("%T is not registered", f)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("connection lost") }
