package cupelbeam_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupelbeam"
	"github.com/wollax/cupel-go/cupelchat/replay"
)

var spec = cupelbeam.Spec{
	Policies: []cupelbeam.Policy{{Name: "newest"}, {Name: "agent", Low: 0.6}, {Name: "chat"}},
	Shares:   []float64{0.25, 0.5},
	Against:  "newest",
}

// corpus writes files with n copies of the conversations of package replay, and a line
// that is damaged.
func corpus(t *testing.T, n int) string {
	t.Helper()
	data, err := os.ReadFile("../cupelchat/replay/testdata/agents.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for i, text := range []string{strings.Repeat(string(data), n) + "{\"id\": \n", strings.Repeat(string(data), n/2+1)} {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.jsonl", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// plain returns the table of the same measure in a loop.
func plain(t *testing.T, folder string) string {
	t.Helper()
	m, err := spec.Measure()
	if err != nil {
		t.Fatal(err)
	}
	table := replay.NewTable(m.Plan())
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range m.Samples(t.Context(), replay.Scan(name, file, nil)) {
			if err != nil {
				t.Fatal(err)
			}
			if err := table.Add(&s); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return bits(t, table)
}

// bits writes every bit of a result.
func bits(t *testing.T, table *replay.Table) string {
	t.Helper()
	result := table.Result()
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + result.Text()
}

// command builds cupel-beam once.
func command(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "cupel-beam")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/cupel-beam").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// beamed starts the command on the files of a folder, and returns what waits for the
// bits of its table.
func beamed(t *testing.T, program, folder string, args ...string) func() string {
	t.Helper()
	table, samples := filepath.Join(folder, "table.json"), filepath.Join(folder, "samples")
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	cmd := exec.CommandContext(ctx, program, append([]string{
		"--data", filepath.Join(folder, "*.jsonl"), "--policy", "newest,agent@0.6,chat", "--share", "0.25,0.5", "--against", "newest",
		"--table", table, "--samples", samples,
	}, args...)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		t.Helper()
		defer cancel()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		data, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		var got replay.Table
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		rows, err := os.ReadFile(samples)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(rows, []byte("\n")); n != got.Conversations+got.Failed || got.Failed != 1 {
			t.Errorf("%d samples of %d conversations and %d lines that cannot be read; want one such line", n, got.Conversations, got.Failed)
		}
		return bits(t, &got)
	}
}

// TestPrism: the pipeline in one process gives the bits of the plain loop.
func TestPrism(t *testing.T) {
	folder := corpus(t, 5)
	if got, want := beamed(t, command(t), folder)(), plain(t, folder); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFlink submits the pipeline to Flink, kills the worker process in the middle, and
// gets the bits of the plain loop. CUPEL_FLINK names the folder with the jars, which
// make corpus-test gets.
func TestFlink(t *testing.T) {
	jars := os.Getenv("CUPEL_FLINK")
	if _, err := exec.LookPath("java"); err != nil || jars == "" {
		t.Skip("THE TEST ON FLINK DID NOT RUN: it needs Java 17 and the jars, which make corpus-test gets")
	}
	program, folder := command(t), corpus(t, 400)
	want := plain(t, folder)
	endpoint := startFlink(t, jars)
	config, err := json.Marshal(map[string]string{"command": program})
	if err != nil {
		t.Fatal(err)
	}
	for _, kill := range []bool{false, true} {
		wait := beamed(t, program, folder, "--runner=PortableRunner", "--endpoint="+endpoint, "--parallelism=2",
			"--environment_type=PROCESS", "--environment_config="+string(config))
		if kill {
			killWorker(t, program)
		}
		if got := wait(); got != want {
			t.Errorf("killed %t: got\n%s\nwant\n%s", kill, got, want)
		}
	}
}

// startFlink starts the job server with an embedded Flink, and returns its address.
func startFlink(t *testing.T, jars string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	args := []string{"-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(jars, "*")}
	for _, name := range []string{"util", "lang", "net", "nio", "time"} {
		args = append(args, "--add-opens=java.base/java."+name+"=ALL-UNNAMED")
	}
	conf, err := filepath.Abs("flink")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "java", append(args, "org.apache.beam.runners.flink.FlinkJobServerDriver",
		"--job-host=localhost", "--job-port="+port, "--artifact-port=0", "--expansion-port=0", "--flink-master=[local]",
		"--flink-conf-dir="+conf, "--artifacts-dir="+t.TempDir())...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the job server said:\n%s", log.String())
		}
	})
	address := "localhost:" + port
	for range 120 {
		if c, err := net.Dial("tcp", address); err == nil { //nolint:noctx // it returns at once
			_ = c.Close()
			return address
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Fatal("the job server did not start")
	return ""
}

// killWorker kills the worker process that Flink starts from the program, while it is
// measuring.
func killWorker(t *testing.T, program string) {
	t.Helper()
	for range 600 {
		for _, pid := range workers(t, program) {
			if cpu(pid) < time.Second { // it has not measured much yet
				continue
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			t.Logf("killed the worker %d after %v of its time", pid, cpu(pid))
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no worker process was seen at work")
}

// workers returns the processes of the program that a runner started.
func workers(t *testing.T, program string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("THE TEST ON FLINK DID NOT RUN: it finds worker processes in /proc")
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.HasPrefix(line, []byte(program)) && bytes.Contains(line, []byte("--provision_endpoint")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cpu returns the processor time of a process, to 10 ms.
func cpu(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 11, 12
	a, _ := strconv.Atoi(fields[user])
	b, _ := strconv.Atoi(fields[system])
	return time.Duration(a+b) * 10 * time.Millisecond
}
