package cupelrecord

import (
	"cmp"
	"encoding/binary"
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

// Header says which run was recorded, and what its record shows.
type Header struct {
	Process    string    // the id of the recorder
	Number     uint64    // of the run in it, from 0
	Clock      time.Time // of the pipeline, when it scored the candidates
	Trace      string    // "" for none
	Pipeline   string
	PolicyHash string
	// Shows are the parts that items have beside their kinds and tokens. Others are
	// made up: a content that is not shown is "candidate 3", by its position or, with
	// [observe.PartFields], that of the first candidate with the same content.
	Shows    observe.Part
	ID       string   // the metadata key of the ids of items
	Metadata []string // the keys of metadata that are shown
}

// Run is a recorded run.
type Run struct {
	Header
	Budget    cupel.ContextBudget
	Items     []*cupel.ContextItem // the candidates, in their order
	Decisions []observe.Decision   // parallel to Items
}

// GapError says that the runs of a process from one number up to another, without it,
// are not in the segments that were read: the recorder dropped them, the sink refused
// them, or a frame is damaged.
type GapError struct {
	Process  string
	From, To uint64
}

func (e *GapError) Error() string {
	return fmt.Sprintf("cupelrecord: runs of process %s are missing: %d from number %d on", e.Process, e.To-e.From, e.From)
}

// Reader reads the segments of any number of processes, of each in the order of their
// names.
type Reader struct{ next map[string]uint64 } // by process

// Open returns the processes that have not closed their recorder: their last runs may be
// missing.
func (r *Reader) Open() []string { return slices.Sorted(maps.Keys(r.next)) }

// Read yields the runs of a segment, and a [GapError] before a run where others are
// missing. Another error is the last. It ends each segment whose process was killed while
// it wrote a frame.
func (r *Reader) Read(segment io.Reader) iter.Seq2[*Run, error] {
	if r.next == nil {
		r.next = make(map[string]uint64)
	}
	return func(yield func(*Run, error) bool) {
		in := gob.NewDecoder(s2.NewReader(segment))
		for {
			var rec record
			err := in.Decode(&rec)
			if errors.Is(err, io.EOF) {
				return
			}
			run, invalid := rec.run()
			if err = cmp.Or(err, invalid); err != nil {
				yield(nil, fmt.Errorf("cupelrecord: the segment is cut or damaged: %w", err))
				return
			}
			if next := r.next[rec.Process]; rec.Number > next && !yield(nil, &GapError{rec.Process, next, rec.Number}) {
				return
			}
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

// errRecord is for what no recorder writes.
var errRecord = errors.New("it has something else than records")

// run makes the run of a record.
func (r *record) run() (*Run, error) {
	run := &Run{Header: r.Header}
	if r.End {
		return run, nil
	}
	var items []json.RawMessage
	err := json.Unmarshal(r.Budget, &run.Budget)
	if r.Items != nil {
		err = cmp.Or(err, json.Unmarshal(r.Items, &items))
	}
	n := len(r.Scores) / 8
	if err != nil || r.Items != nil && n != len(items) {
		return nil, cmp.Or(err, errRecord)
	}
	for i := range n {
		kind, tokens := next(&r.KindOf), int(next(&r.Tokens))
		if kind >= uint64(len(r.Kinds)) {
			return nil, errRecord
		}
		score := math.Float64frombits(binary.LittleEndian.Uint64(r.Scores[8*i:]))
		run.Decisions = append(run.Decisions, observe.Decision{Score: score, Place: int32(next(&r.Places)), Form: int32(next(&r.Forms))})
		var item *cupel.ContextItem
		if items == nil {
			item, err = cupel.NewContextItem(fmt.Sprint("candidate ", i), tokens, cupel.WithKind(r.Kinds[kind]))
		} else {
			item, err = run.item(items[i])
		}
		if err != nil {
			return nil, err
		}
		run.Items = append(run.Items, item)
	}
	return run, nil
}

// next takes a varint from a column.
func next(column *[]byte) uint64 {
	n, size := binary.Uvarint(*column)
	*column = (*column)[max(0, size):]
	return n
}

// item reads a candidate, or finds it again.
func (r *Run) item(text json.RawMessage) (*cupel.ContextItem, error) {
	if text[0] == '{' {
		item := new(cupel.ContextItem)
		return item, item.UnmarshalJSON(text)
	}
	var first uint
	if err := json.Unmarshal(text, &first); err != nil || first >= uint(len(r.Items)) {
		return nil, errRecord
	}
	return r.Items[first], nil
}
