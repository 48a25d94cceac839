package cupelrecord_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupelrecord"
)

// TestNothingIsLostUncounted: of the runs of 16 goroutines each is written, or counted,
// and readers see the gaps.
func TestNothingIsLostUncounted(t *testing.T) {
	goroutines, each := 16, 1250 // so that all rows have 100,000 runs
	if testing.Short() {
		each = 250
	}
	for _, row := range []struct {
		name   string
		store  *store
		config cupelrecord.Config
		check  func(cupelrecord.Stats)
	}{
		{"a healthy sink", &store{room: -1}, cupelrecord.Config{SegmentBytes: 50_000}, func(s cupelrecord.Stats) {
			assert.EqualValues(t, goroutines*each, s.Written)
		}},
		{"a short queue", &store{room: -1}, cupelrecord.Config{QueueBytes: 2000}, func(s cupelrecord.Stats) {
			assert.Zero(t, s.Failed)
		}},
		{"a disk that fills", &store{room: 30_000}, cupelrecord.Config{SegmentBytes: 10_000}, func(s cupelrecord.Stats) {
			assert.Zero(t, s.Dropped)
			assert.NotZero(t, s.Failed)
		}},
		{"no disk", &store{open: errFull}, cupelrecord.Config{}, func(s cupelrecord.Stats) {
			assert.EqualValues(t, goroutines*each, s.Failed)
		}},
		{"a folder of another owner", &store{room: -1, close: errFull}, cupelrecord.Config{SegmentBytes: 50_000}, func(s cupelrecord.Stats) {
			assert.EqualValues(t, goroutines*each, s.Failed, "what cannot be closed may not be there")
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Sink = row.store.sink
			var told []error
			row.config.OnError = func(err error) { told = append(told, err) }
			recorder := newRecorder(t, row.config)
			var all sync.WaitGroup
			for range goroutines {
				all.Go(func() {
					for range each {
						observed(t.Context(), t, recorder)
					}
				})
			}
			all.Wait()
			require.NoError(t, recorder.Close(t.Context()))
			stats := recorder.Stats()
			assert.EqualValues(t, goroutines*each, stats.Written+stats.Dropped+stats.Failed, "%+v", stats)
			assert.Zero(t, stats.Pending)
			row.check(stats)
			assert.Equal(t, stats.Failed > 0, len(told) > 0)
			for _, err := range told {
				require.ErrorIs(t, err, errFull)
			}
			runs, missing, open, _ := row.store.all()
			if row.store.close == nil {
				assert.Len(t, runs, int(stats.Written))
			}
			if len(open) == 0 && len(runs) > 0 {
				assert.Equal(t, goroutines*each, len(runs)+int(missing), "what is not there is a gap")
			}
			assert.IsIncreasing(t, append(numbers(runs), 1<<60))
			assert.Len(t, row.store.names, row.store.closed, "each segment is closed")
		})
	}
}

// TestBlockedSink: a sink that blocks costs no request its time, the queue has a bound,
// and Close gives up.
func TestBlockedSink(t *testing.T) {
	s := &store{room: -1, hold: make(chan struct{}), held: make(chan struct{}, 100)}
	recorder := newRecorder(t, cupelrecord.Config{Sink: s.sink, QueueBytes: 4613})
	observed(t.Context(), t, recorder)
	<-s.held
	for range 100 {
		observed(t.Context(), t, recorder)
	}
	stats := recorder.Stats()
	assert.EqualValues(t, 101, stats.Pending+stats.Dropped)
	assert.EqualValues(t, 4613/(512+256+len("a")), stats.Pending, "what is being written counts, with its contents")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, recorder.Close(ctx), context.Canceled)
	observed(t.Context(), t, recorder)
	assert.Equal(t, stats.Dropped+1, recorder.Stats().Dropped, "a run after Close")
	close(s.hold)
	require.NoError(t, recorder.Close(t.Context()))
	assert.Equal(t, cupelrecord.Stats{Written: stats.Pending, Dropped: stats.Dropped + 1}, recorder.Stats())
	runs, missing, open, errs := s.all()
	assert.Empty(t, errs)
	assert.Empty(t, open)
	assert.Len(t, runs, int(stats.Pending))
	assert.Equal(t, stats.Dropped+1, missing)
}

// TestFailuresPause: for a second after an error no segment is opened, and after it the
// recorder writes again.
func TestFailuresPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{room: 0}
		recorder := newRecorder(t, cupelrecord.Config{Sink: s.sink})
		record := func() {
			observed(t.Context(), t, recorder)
			synctest.Wait()
		}
		record()
		s.room = -1
		time.Sleep(time.Second - time.Nanosecond)
		record()
		assert.Equal(t, cupelrecord.Stats{Failed: 2}, recorder.Stats())
		assert.Len(t, s.names, 1)
		time.Sleep(time.Nanosecond)
		record()
		assert.Equal(t, cupelrecord.Stats{Failed: 2, Written: 1}, recorder.Stats())
		require.NoError(t, recorder.Close(t.Context()))
		runs, missing, open, errs := s.all()
		assert.Equal(t, []uint64{2}, numbers(runs))
		assert.EqualValues(t, 2, missing)
		assert.Empty(t, open)
		assert.Empty(t, errs, "a segment without a byte is empty")
	})
}

// TestRotation: segments end by size and by age, and can be read alone.
func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{room: -1}
		recorder := newRecorder(t, cupelrecord.Config{Sink: s.sink, SegmentBytes: 1000, SegmentAge: time.Minute})
		for range 20 {
			observed(t.Context(), t, recorder)
			synctest.Wait()
		}
		segments := len(s.names)
		assert.Greater(t, segments, 2, "by size")
		assert.Less(t, segments, 10)
		if s.closes() == segments { // the last one was full
			observed(t.Context(), t, recorder)
			synctest.Wait()
			segments++
		}
		require.Len(t, s.names, segments)
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, segments-1, s.closes(), "one is open")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, segments, s.closes(), "by age")
		time.Sleep(time.Hour)
		observed(t.Context(), t, recorder)
		synctest.Wait()
		assert.Len(t, s.names, segments+1)
		assert.IsIncreasing(t, s.names, "names sort by time")
		require.NoError(t, recorder.Close(t.Context()))
		for i := range s.segments {
			runs, _, _, errs := readAll(s.segments[i])
			assert.Empty(t, errs)
			assert.NotEmpty(t, runs)
		}
	})
}

// TestFolder: only the owner reads what is recorded, and a restart leaves the segments
// that are there as they are.
func TestFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "recordings")
	record := func() {
		recorder := newRecorder(t, cupelrecord.Config{Sink: cupelrecord.Folder(folder)})
		observed(t.Context(), t, recorder)
		require.NoError(t, recorder.Close(t.Context()))
		require.NoError(t, recorder.Close(t.Context()))
	}
	record()
	info, err := os.Stat(folder)
	require.NoError(t, err)
	assert.Equal(t, os.ModeDir|0o700, info.Mode())
	before := files(t, folder)
	record()
	after := files(t, folder)
	assert.Len(t, before, 1)
	assert.Len(t, after, 2)
	var segments []io.Reader
	for name, text := range after {
		if old, ok := before[name]; ok {
			assert.Equal(t, old, text)
		}
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())
		segments = append(segments, strings.NewReader(text))
	}
	runs, missing, open, errs := readAll(segments...)
	assert.Equal(t, []uint64{0, 0}, numbers(runs))
	assert.NotEqual(t, runs[0].Process, runs[1].Process)
	assert.Zero(t, missing)
	assert.Empty(t, open)
	assert.Empty(t, errs)
	for name := range before {
		_, err := cupelrecord.Folder(folder)(name)
		require.ErrorIs(t, err, os.ErrExist)
	}
}

// files returns what is in a folder.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(folder)
	require.NoError(t, err)
	all := make(map[string]string)
	for _, file := range list {
		assert.Equal(t, cupelrecord.Extension, filepath.Ext(file.Name()))
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		require.NoError(t, err)
		all[file.Name()] = string(text)
	}
	return all
}

// TestKilled: what a process that is killed said to be written is there.
func TestKilled(t *testing.T) {
	const folderOf = "CUPELRECORD_TEST_FOLDER"
	if folder := os.Getenv(folderOf); folder != "" {
		recorder := newRecorder(t, cupelrecord.Config{Sink: cupelrecord.Folder(folder)})
		for {
			observed(t.Context(), t, recorder)
			_, err := fmt.Println("written:", recorder.Stats().Written)
			require.NoError(t, err)
		}
	}
	folder := filepath.Join(t.TempDir(), "recordings")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilled$")
	child.Env = append(os.Environ(), folderOf+"="+folder)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	written := 0
	for lines := bufio.NewScanner(out); written < 1000 && lines.Scan(); {
		_, count, _ := strings.Cut(lines.Text(), "written: ")
		written, err = strconv.Atoi(count)
		require.NoError(t, err)
	}
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	var runs []*cupelrecord.Run
	for _, text := range files(t, folder) {
		all, missing, open, _ := readAll(strings.NewReader(text))
		runs = append(runs, all...)
		assert.Zero(t, missing)
		assert.Equal(t, []string{all[0].Process}, open, "it did not close")
	}
	assert.GreaterOrEqual(t, len(runs), written)
}

// TestCut: of a segment that is cut anywhere, the runs before are read, and the rest is
// known to be missing.
func TestCut(t *testing.T) {
	s := &store{room: -1}
	synctest.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, cupelrecord.Config{Sink: s.sink})
		for range 3 {
			observed(t.Context(), t, recorder)
			synctest.Wait() // so that each has a frame
		}
		require.NoError(t, recorder.Close(t.Context()))
	})
	whole := s.segments[0].String()
	before := 0
	stride := 1
	if testing.Short() {
		stride = 3
	}
	for size := len(whole) % stride; size < len(whole); size += stride {
		runs, missing, open, errs := readAll(strings.NewReader(whole[:size]))
		assert.Zero(t, missing)
		assert.GreaterOrEqual(t, len(runs), before, "%d bytes", size)
		before = len(runs)
		if before > 0 {
			assert.Len(t, open, 1, "%d bytes", size)
		}
		assert.LessOrEqual(t, len(errs), 1)
		changed := []byte(whole)
		changed[size] ^= 0x10
		if runs, _, open, errs = readAll(strings.NewReader(string(changed))); len(runs) < 3 {
			assert.True(t, len(errs) > 0 || len(open) > 0, "byte %d", size)
		}
	}
	assert.Equal(t, 3, before)
}

// TestSampling: of the runs of one key all are recorded or none, also by other
// processes.
func TestSampling(t *testing.T) {
	type key struct{}
	keyOf := func(ctx context.Context) string { return fmt.Sprint(ctx.Value(key{})) }
	recorded := func(share float64, keyOf func(context.Context) string) (list []bool) {
		recorder := newRecorder(t, cupelrecord.Config{Sink: (&store{room: -1}).sink, Share: share, Key: keyOf})
		for i := range 2000 {
			list = append(list, observed(context.WithValue(t.Context(), key{}, i/2), t, recorder))
		}
		require.NoError(t, recorder.Close(t.Context()))
		stats := recorder.Stats()
		count := 0
		for _, was := range list {
			if was {
				count++
			}
		}
		assert.EqualValues(t, count, stats.Written, "runs that are not sampled count nowhere")
		assert.InDelta(t, share*2000, count, 150)
		return list
	}
	byKey := recorded(0.3, keyOf)
	for i := 0; i < len(byKey); i += 2 {
		require.Equal(t, byKey[i], byKey[i+1], "key %d", i/2)
	}
	assert.Equal(t, byKey, recorded(0.3, keyOf))
	recorded(1, keyOf)
	byChance := recorded(0.3, nil)
	assert.NotEqual(t, byChance, recorded(0.3, nil))
}

func TestConfig(t *testing.T) {
	for want, config := range map[string]cupelrecord.Config{
		"cupelrecord: Config.Sink or Config.Follow is required; Folder writes files": {},
		"cupelrecord: Config.Share must be from 0 to 1":                              {Sink: (&store{}).sink, Share: 1.5},
		"cupelrecord: Config.Share must be from 0 to 1 ":                             {Sink: (&store{}).sink, Share: -1},
	} {
		_, err := cupelrecord.New(config)
		require.EqualError(t, err, strings.TrimSpace(want))
	}
	for _, recorder := range []*cupelrecord.Recorder{nil, {}} {
		assert.False(t, recorder.IsEnabled())
		require.NoError(t, recorder.Close(t.Context()))
	}
}

// TestHugeQueue: a queue that is meant to have no bound has one.
func TestHugeQueue(t *testing.T) {
	recorder := newRecorder(t, cupelrecord.Config{Sink: (&store{room: -1}).sink, QueueBytes: math.MaxInt})
	observed(t.Context(), t, recorder)
	require.NoError(t, recorder.Close(t.Context()))
	assert.Equal(t, cupelrecord.Stats{Written: 1}, recorder.Stats())
}

// TestFunctionsThatPanic cost their runs alone.
func TestFunctionsThatPanic(t *testing.T) {
	s := &store{room: -1}
	var told []error
	recorder := newRecorder(t, cupelrecord.Config{Sink: s.sink, OnError: func(err error) { told = append(told, err) }, Redaction: observe.Redaction{Rewrite: func(_ observe.Part, text string) string {
		if text == "bad" {
			panic(errors.New("secret"))
		}
		return text
	}}})
	observed(t.Context(), t, recorder)
	observed(t.Context(), t, recorder, newItem(t, "a", 1, cupel.WithKind("bad")))
	observed(t.Context(), t, recorder)
	require.NoError(t, recorder.Close(t.Context()))
	assert.Equal(t, cupelrecord.Stats{Written: 2, Failed: 1}, recorder.Stats())
	runs, missing, _, errs := s.all()
	assert.Equal(t, []uint64{0, 2}, numbers(runs))
	assert.EqualValues(t, 1, missing)
	assert.Empty(t, errs)
	require.Len(t, told, 1)
	assert.EqualError(t, told[0], "cupelrecord: a function of the config panicked with a *errors.errorString")
}
