package cupelrecord

import (
	"cmp"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// Header identifies a recorded run, and lists the data that its record shows.
type Header struct {
	Process    string    // the id of the recorder
	Number     uint64    // of the run in it, from 0
	Clock      time.Time // of the pipeline, when it scored the candidates
	Trace      string    // "" for none
	Pipeline   string
	PolicyHash string
	// Shows are the parts that items have besides their kinds and tokens. The reader
	// makes up the others: a content that is not shown is "candidate 3", by its
	// position or, with [observe.PartFields], the position of the first candidate
	// with the same content.
	Shows    observe.Part
	ID       string   // the metadata key of the ids of items
	Metadata []string // the keys of metadata that are shown
}

// Run is a recorded run.
type Run struct {
	Header    `json:"-"` // JSON has only what a record has in it
	Budget    cupel.ContextBudget
	Items     []*cupel.ContextItem // the candidates, in their order
	Decisions []observe.Decision   `json:"-"` // parallel to Items
}

// ErrTooLarge is the error of a record that is larger than MaxBytes of the [Reader].
var ErrTooLarge = errors.New("a record is larger than Reader.MaxBytes")

// Reader reads the segments of any number of processes. Read the segments of each
// process in the order of their names.
type Reader struct {
	// MaxBytes bounds a record, in bytes before compression, give or take a few kB; 64 MiB
	// by default. The sequence of a segment with a larger one ends with [ErrTooLarge]. Whatever
	// a segment claims, a run keeps up to 40 times this much memory, and reading it
	// allocates up to 90 times as much. Raise it with the QueueBytes of a recorder, and lower
	// it for segments of strangers.
	MaxBytes int64
	// Missing counts the runs that are missing between others of their process: the
	// recorder dropped them, the sink refused them, or their frame is damaged.
	Missing uint64

	next map[string]uint64 // by process
}

// Open returns the processes that have not closed their recorder: their last runs may be
// missing.
func (r *Reader) Open() []string { return slices.Sorted(maps.Keys(r.next)) }

// Read yields the runs of a segment. An error ends the sequence; the segment of a
// process that was killed while it wrote a frame ends with one.
func (r *Reader) Read(segment io.Reader) iter.Seq2[*Run, error] {
	if r.next == nil {
		r.next = make(map[string]uint64)
	}
	return func(yield func(*Run, error) bool) {
		limited := &io.LimitedReader{R: s2.NewReader(segment)}
		in := gob.NewDecoder(limited)
		for {
			var rec record
			limited.N = cmp.Or(r.MaxBytes, usual)
			err := in.Decode(&rec)
			if limited.N <= 0 {
				err = ErrTooLarge
			}
			if errors.Is(err, io.EOF) {
				return
			}
			var run *Run
			if err == nil && !rec.End {
				run, err = rec.run()
			}
			if err != nil {
				yield(nil, fmt.Errorf("cupelrecord: the segment is cut or damaged: %w", err))
				return
			}
			next := r.next[rec.Process]
			r.Missing += max(rec.Number, next) - next
			if rec.End {
				delete(r.next, rec.Process)
				continue
			}
			r.next[rec.Process] = rec.Number + 1
			if !yield(run, nil) {
				return
			}
		}
	}
}

// run makes the run of a record, and checks what a damaged or hostile one may have.
func (r *record) run() (*Run, error) {
	run := &Run{Header: r.Header}
	err := json.Unmarshal(r.Inputs, run) // the budget and the items
	n := len(r.Rows) / columns
	if run.Items == nil {
		run.Items = make([]*cupel.ContextItem, n)
	}
	run.Decisions = make([]observe.Decision, len(run.Items))
	for i, item := range run.Items {
		row := r.Rows[min(i, n)*columns:]
		if err != nil || len(row) < columns || row[0] >= uint64(len(r.Kinds)) || row[2]|row[3] > math.MaxInt32 {
			return nil, cmp.Or(err, errors.New("a candidate has no valid decision"))
		}
		if item == nil {
			run.Items[i], err = cupel.NewContextItem(fmt.Sprint("candidate ", i), int(row[1]), cupel.WithKind(r.Kinds[row[0]]))
		}
		run.Decisions[i] = observe.Decision{Place: int32(row[2]), Form: int32(row[3]), Score: math.Float64frombits(row[4])}
	}
	return run, err
}
