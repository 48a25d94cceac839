package cupelbeam

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// withoutFlink says why there is no Flink, or "".
func withoutFlink() string {
	if _, err := exec.LookPath("java"); err != nil || os.Getenv("CUPEL_FLINK") == "" {
		return "it needs Java 17 and the jars, which make corpus-test gets"
	}
	return ""
}

// TestMain says at once what does not run: go test shows the reasons of tests that
// are skipped with -v alone.
func TestMain(m *testing.M) {
	if why := withoutFlink(); why != "" {
		fmt.Fprintln(os.Stderr, "THE TEST ON FLINK DOES NOT RUN:", why)
	}
	os.Exit(m.Run())
}

// TestFlink submits the pipeline to Flink, first on local files and then on those of a
// bucket, where it kills one of two worker processes in the middle. Both have the bits of
// the plain loop. CUPEL_FLINK names the folder with the jars, which make corpus-test gets.
func TestFlink(t *testing.T) {
	if why := withoutFlink(); why != "" {
		t.Skip("THE TEST ON FLINK DID NOT RUN: " + why)
	}
	program, folder := command(t), compressedCorpus(t, 8)
	files := in(t, folder)
	bucket := googleBucket(t, files) // the environment of workers names it
	f := startFlink(t, program)
	run := func(folder string) func() {
		wait := beamed(t, program, folder, f.args()...)
		return func() {
			t.Helper()
			want := bits(t, plain(t, files, folder+"/"))
			if got, _ := wait(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		}
	}
	before := f.workerTime()
	run(folder)()
	all := f.workerTime() - before
	for _, pid := range f.managers {
		if _, ended := times(pid); ended == 0 {
			t.Error("a task manager had no worker")
		}
	}
	if failures := f.failures(); failures != "" {
		t.Fatalf("tasks failed before a worker was killed:\n%s", failures)
	}

	wait := run(bucket)
	killed, after := f.killWorker(all / 4) // it does half of the work
	wait()
	// The tasks that measured had not ended, and others did the rest.
	rest := f.workerTime() - before - all - after
	t.Logf("a run takes %v of workers; killed the worker %d after %v; others took %v", all, killed, after, rest)
	if after > 9*all/20 {
		t.Errorf("the worker was killed after %v of %v, which is not in the middle", after, all)
	}
	if rest < all/2 {
		t.Errorf("other workers took %v of %v after that, so that they did not repeat what was lost", rest, all)
	}
	// The stage that measures is the one that writes samples.
	if failures := f.failures(); !strings.Contains(failures, "cupelbeam.Write") {
		t.Errorf("no task that measures failed when its worker was killed; these failed:\n%s", failures)
	}
}

// TestManyConversations measures 60,000 and 204,000 conversations on Flink with
// CUPEL_LONG=1: the counters are right, and a worker holds buffers and not the corpus.
func TestManyConversations(t *testing.T) {
	if why := withoutFlink(); why != "" || os.Getenv("CUPEL_LONG") == "" {
		t.Skip("measured with CUPEL_LONG=1 and Flink; ", why)
	}
	program, lines := command(t), string(readFile(t, agents(t)))
	f := startFlink(t, program)
	var peaks []int
	for _, times := range []int{1_000, 3_400} {
		folder, n := t.TempDir(), 20*3*times
		packed := zip(t, strings.Repeat(lines, times))
		for i := range 20 {
			save(t, filepath.Join(folder, fmt.Sprint(i, ".jsonl.gz")), packed)
		}
		table := filepath.Join(folder, "table.json")
		p := start(t, program, append(f.args(), "--data", filepath.Join(folder, "*.gz"), "--policy=newest", "--share=0.5", "--table", table,
			"--samples", filepath.Join(folder, "samples"), "--shards", strconv.Itoa(n/1000))...)
		ended := make(chan int)
		go func() {
			peak := 0
			for p.Process.Signal(syscall.Signal(0)) == nil { // until it was waited for
				peak = max(peak, f.workerMemory())
				time.Sleep(200 * time.Millisecond)
			}
			ended <- peak
		}()
		p.wait(t, 0)
		peaks = append(peaks, <-ended)
		var got replay.Table
		require.NoError(t, json.Unmarshal(readFile(t, table), &got))
		counters := fmt.Sprintf(`counters: {"conversations":%d,"failed_steps":0,"steps":%d,"values":%d}`, n, got.Cells[0].Steps, got.Cells[0].Values)
		if got.Conversations != n || !strings.Contains(p.log.String(), counters) {
			t.Errorf("%d conversations, want %d, and %s in\n%s", got.Conversations, n, counters, p.log.String())
		}
	}
	t.Logf("a worker has at most %d MB for 60,000 conversations, and %d MB for 204,000", peaks[0], peaks[1])
	if peaks[0] == 0 || peaks[1] > peaks[0]*4/3 {
		t.Error("the memory of a worker grows with the corpus")
	}
}

// flink is Beam's job server and a Flink of a job manager and two task managers, each a
// process.
type flink struct {
	*testing.T
	program  string
	port     string
	log      *os.File // of all of them
	managers []int    // the task managers, whose children are the workers
}

// startFlink starts them. Workers are processes of the program.
func startFlink(t *testing.T, program string) *flink {
	t.Helper()
	conf := t.TempDir()
	rest := freePort(t)
	config := fmt.Sprintf("%s\njobmanager.rpc.port: %d\nrest.port: %d\n", readFile(t, "flink/config.yaml"), freePort(t), rest)
	save(t, filepath.Join(conf, "config.yaml"), []byte(config))
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	f := &flink{T: t, program: program, port: strconv.Itoa(freePort(t)), log: log}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the servers said:\n%s", f.said())
		}
	})
	f.java("org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint", "--configDir", conf)
	for range 2 {
		f.managers = append(f.managers, f.java("org.apache.flink.runtime.taskexecutor.TaskManagerRunner", "--configDir", conf))
	}
	f.java("org.apache.beam.runners.flink.FlinkJobServerDriver", "--job-host=localhost", "--job-port="+f.port,
		"--artifact-port=0", "--expansion-port=0", "--flink-master=localhost:"+strconv.Itoa(rest), "--flink-conf-dir="+conf, "--artifacts-dir="+t.TempDir())
	for range 240 {
		if c, err := net.Dial("tcp", "localhost:"+f.port); err == nil { //nolint:noctx // it returns at once
			_ = c.Close()
			return f
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Fatal("the job server did not start")
	return nil
}

// java starts a class of the jars, and returns its process id.
func (f *flink) java(class string, args ...string) int {
	f.Helper()
	// On a busy machine Flink's servers take longer to start than its 10 s.
	options := []string{"-Xmx700m", "-Dpekko.remote.classic.startup-timeout=3m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(os.Getenv("CUPEL_FLINK"), "*")}
	for _, name := range []string{"util", "lang", "net", "nio", "time"} {
		options = append(options, "--add-opens=java.base/java."+name+"=ALL-UNNAMED")
	}
	cmd := exec.CommandContext(f.Context(), "java", slices.Concat(options, []string{class}, args)...)
	cmd.Stdout, cmd.Stderr = f.log, f.log
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// freePort returns a port that no process listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().(*net.TCPAddr).Port
}

// args are the flags of cupel-beam for this Flink, with both task managers.
func (f *flink) args() []string {
	config, err := json.Marshal(map[string]string{"command": f.program})
	if err != nil {
		f.Fatal(err)
	}
	return []string{"--runner=PortableRunner", "--endpoint=localhost:" + f.port, "--parallelism=2",
		"--environment_type=PROCESS", "--environment_config=" + string(config)}
}

func (f *flink) said() string {
	data, err := os.ReadFile(f.log.Name())
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}

// failures returns what Flink said of tasks that failed.
func (f *flink) failures() string {
	var failures []string
	for line := range strings.Lines(f.said()) {
		if strings.Contains(line, "switched from RUNNING to FAILED") {
			failures = append(failures, line)
		}
	}
	return strings.Join(failures, "")
}

// killWorker kills a worker process once it has used so much time, and returns its
// id and the time.
func (f *flink) killWorker(after time.Duration) (int, time.Duration) {
	f.Helper()
	for range 6000 {
		for _, pid := range f.processes() {
			if own, _ := times(pid); own >= after {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					f.Fatal(err)
				}
				return pid, own
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	f.Fatal("no worker process was seen at work")
	return 0, 0
}

// workerTime returns the processor time of all worker processes so far. It waits for
// those of jobs that ended.
func (f *flink) workerTime() time.Duration {
	for range 600 {
		if len(f.processes()) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	var all time.Duration
	for _, pid := range f.managers {
		_, ended := times(pid)
		all += ended
	}
	return all
}

// workerMemory returns the most memory that a worker process had so far, in MB.
func (f *flink) workerMemory() int {
	most := 0
	for _, pid := range f.processes() {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have ended
		if _, peak, found := strings.Cut(string(status), "VmHWM:"); found {
			kilobytes, _ := strconv.Atoi(strings.Fields(peak)[0])
			most = max(most, kilobytes/1000)
		}
	}
	return most
}

// processes returns the worker processes.
func (f *flink) processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		f.Fatal(err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields := stat(pid); len(fields) > 1 {
			if parent, err := strconv.Atoi(fields[1]); err == nil && slices.Contains(f.managers, parent) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// stat returns what /proc says of a process after its name, or nil.
func stat(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// times returns the processor time of a process, and that of its children that ended,
// to 10 ms.
func times(pid int) (own, children time.Duration) {
	fields := stat(pid)
	if fields == nil {
		return 0, 0
	}
	const user = 11 // and three more
	var ticks [4]time.Duration
	for i := range ticks {
		n, _ := strconv.Atoi(fields[user+i])
		ticks[i] = time.Duration(n) * 10 * time.Millisecond
	}
	return ticks[0] + ticks[1], ticks[2] + ticks[3]
}
