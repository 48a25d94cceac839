package cupelbeam

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupelsession/replay"
)

// googleBucket starts a fake of Google's object store with some files, and returns the
// name of the bucket.
func googleBucket(t *testing.T, files []string) string {
	t.Helper()
	var objects []fakestorage.Object
	for _, name := range files {
		objects = append(objects, fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "corpus", Name: filepath.Base(name)}, Content: readFile(t, name)})
	}
	port := freePort(t)
	host := fmt.Sprintf("127.0.0.1:%d", port) // without it, the paths of downloads are unknown
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Port: uint16(port), PublicHost: host, InitialObjects: objects})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	return "gs://corpus"
}

// amazonBucket starts a fake of Amazon's object store with some files.
func amazonBucket(t *testing.T, files []string) string {
	t.Helper()
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("corpus"))
	for _, name := range files {
		text := readFile(t, name)
		if _, err := backend.PutObject("corpus", filepath.Base(name), nil, bytes.NewReader(text), int64(len(text)), nil); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"} {
		t.Setenv(name, value)
	}
	return "s3://corpus"
}

// readObject reads an object of a bucket.
func readObject(t *testing.T, name string) []byte {
	t.Helper()
	files, err := filesystem.New(t.Context(), name)
	require.NoError(t, err)
	text, err := filesystem.Read(t.Context(), files, name)
	require.NoError(t, err)
	return text
}

// TestBuckets: input and output in a bucket give the bits of the plain loop on local
// files, compressed or not.
func TestBuckets(t *testing.T) {
	program := command(t)
	folder := compressedCorpus(t, 1)
	save(t, filepath.Join(folder, "split.jsonl"), bytes.Repeat(readFile(t, "../cupelsession/replay/testdata/agents.jsonl"), 3))
	files := in(t, folder)
	for name, start := range map[string]func(*testing.T, []string) string{"Google": googleBucket, "Amazon": amazonBucket} {
		t.Run(name, func(t *testing.T) {
			b := start(t, files) + "/"
			args := slices.Concat([]string{"--data", b + "*.jsonl.gz," + b + "*.jsonl", "--policy", "newest,agent@0.6,chat",
				"--table", b + "out/table.json", "--samples", b + "out/samples.jsonl", "--max-bad", "5%"}, measure)
			run(t, program, args, 0)
			var got replay.Table
			require.NoError(t, json.Unmarshal(readObject(t, b+"out/table.json"), &got))
			if got, want := bits(t, &got), bits(t, plain(t, files, b)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if n := bytes.Count(readObject(t, b+"out/samples.jsonl"), []byte("\n")); n != got.Conversations {
				t.Errorf("%d samples of %d conversations", n, got.Conversations)
			}
			if log := run(t, program, args, 2); !strings.Contains(log, b+"out/table.json exists; --force overwrites it") {
				t.Errorf("the table was overwritten, or\n%s", log)
			}
			run(t, program, append(args, "--force"), 0)
		})
	}
}

// run runs the program, which must end with an exit code, and returns its log.
func run(t *testing.T, program string, args []string, code int) string {
	t.Helper()
	p := start(t, program, args...)
	p.wait(t, code)
	return p.log.String()
}
