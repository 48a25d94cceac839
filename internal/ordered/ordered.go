// Package ordered does work on several processors and keeps the results in
// order.
package ordered

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// ahead is how many results per worker may wait for a slow one.
const ahead = 4

// Map calls work for each input and its error on several workers, and yields the
// results in the order of the inputs, the same for any number of workers. 0 workers
// means the number of processors. Few inputs are held at a time. It ends with the first
// error of the work, in the order of the inputs, or with ctx.Err() when ctx is done.
// The inputs are read in the goroutine that ranges over the results. No goroutine
// outlives the loop.
func Map[In, Out any](ctx context.Context, workers int, inputs iter.Seq2[In, error], work func(context.Context, In, error) (Out, error)) iter.Seq2[Out, error] {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	type job struct {
		in   In
		out  Out
		err  error // of the input, and then of the work
		done chan struct{}
	}
	return func(yield func(Out, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		jobs := make(chan *job)
		var group sync.WaitGroup
		defer group.Wait()
		defer close(jobs)
		defer cancel()
		for range workers {
			group.Go(func() {
				for j := range jobs {
					j.out, j.err = work(ctx, j.in, j.err)
					close(j.done)
				}
			})
		}
		var waiting []*job
		// first yields the oldest result.
		first := func() bool {
			j := waiting[0]
			waiting = waiting[1:]
			<-j.done
			return yield(j.out, j.err) && j.err == nil
		}
		for in, err := range inputs {
			if ctx.Err() != nil {
				break
			}
			j := &job{in: in, err: err, done: make(chan struct{})}
			waiting = append(waiting, j)
			jobs <- j
			for len(waiting) > 0 && (len(waiting) >= ahead*workers || isDone(waiting[0].done)) {
				if !first() {
					return
				}
			}
		}
		for len(waiting) > 0 {
			if !first() {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			var none Out
			yield(none, err)
		}
	}
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
