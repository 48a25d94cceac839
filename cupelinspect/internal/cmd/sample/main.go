// Command sample writes a page of made-up candidates, for work on the page and
// for screenshots:
//
//	go run ./internal/cmd/sample -n 10000 -two -o page.html
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelinspect"
)

func main() {
	n := flag.Int("n", 200, "number of candidates")
	two := flag.Bool("two", false, "show two selections side by side")
	hostile := flag.Bool("hostile", false, "contents that try to break the page")
	output := flag.String("o", "page.html", "output file, or - for standard output")
	fail := flag.Bool("fail", false, "make the run fail")
	flag.Parse()
	if err := run(*n, *two, *hostile, *fail, *output); err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
}

func run(n int, two, hostile, fail bool, output string) error {
	items, err := candidates(n, hostile)
	if err != nil {
		return err
	}
	tokens := 0
	for _, item := range items {
		tokens += max(0, item.Tokens())
	}
	maxTokens := max(2000, tokens/4)
	budget, err := cupel.NewContextBudget(maxTokens, maxTokens*3/4, cupel.WithOutputReserve(maxTokens/8),
		cupel.WithReservedSlots(map[cupel.ContextKind]int{cupel.KindMemory: maxTokens / 50}))
	if err != nil {
		return err
	}
	if fail {
		if budget, err = cupel.NewContextBudget(10, 10); err != nil {
			return err
		}
	}
	quota, err := slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindToolOutput, 40))
	if err != nil {
		return err
	}
	first, err := inspect("Newest first", items, budget, quota, 3, 1)
	if err != nil {
		return err
	}
	selections := []*cupelinspect.Selection{first}
	if two {
		second, err := inspect("By kind", items, budget, slicer.ScoreGreedy{}, 1, 3)
		if err != nil {
			return err
		}
		selections = append(selections, second)
	}
	title := fmt.Sprintf("A sample of %d candidates", n)
	if output == "-" {
		return cupelinspect.WriteHTML(os.Stdout, title, selections...)
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	return errors.Join(cupelinspect.WriteHTML(file, title, selections...), file.Close())
}

func inspect(name string, items []*cupel.ContextItem, budget cupel.ContextBudget, s strategy.Slicer, recency, kind float64) (*cupelinspect.Selection, error) {
	composite, err := scorer.NewComposite(
		scorer.Weighted{Scorer: scorer.Recency{}, Weight: recency},
		scorer.Weighted{Scorer: &scorer.Kind{}, Weight: kind},
		scorer.Weighted{Scorer: scorer.Priority{}, Weight: 1},
	)
	if err != nil {
		return nil, err
	}
	pipeline, err := pipeline.New(pipeline.Config{Scorer: composite, Slicer: s, Placer: placer.UShaped{}, Overflow: pipeline.OverflowTruncate})
	if err != nil {
		return nil, err
	}
	return cupelinspect.Inspect(context.Background(), pipeline, items, budget, cupelinspect.WithName(name))
}

var (
	kinds   = []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "Screenshot"}
	sources = []cupel.ContextSource{cupel.SourceChat, cupel.SourceTool, cupel.SourceRAG, "Wiki"}
	words   = strings.Fields("the roof plan was changed after the third meeting because a pipe in the north wall leaks when it rains and the owner will not pay for another survey")
)

// hostiles are contents that a careless page would execute, break on or hang
// on.
var hostiles = []string{
	"</script><script>document.title = 'owned'</script>",
	"<!-- <script> --!> <img src=x onerror=\"document.title='owned'\">",
	"{{constructor.constructor('document.title=1')()}} ${document.title} <%= 1 %> [[1]]",
	"user\u202Etxt.exe \u2066isolated\u2069 \u200F\u200Bzero width",
	"line\u2028separators\u2029and \x00NUL, \x1b[31mescape\x1b[0m, \x07bell",
	"not UTF-8: \xff\xfe\xc3( and \xed\xa0\x80",
	"javascript:alert(1) https://example.com/tracker.png data:text/html,<b>x</b>",
	strings.Repeat("A", 1<<20),
	strings.Repeat("é\n", 1<<18),
	"\" onmouseover=\"document.title='owned' ' ` \\ \\u003c/script\\u003e",
	"&lt;b&gt;not bold&lt;/b&gt; &amp;amp; &#x3c;",
	"Z" + strings.Repeat("\u0335\u0336\u0337\u0338", 2000) + "algo",
}

// candidates are the same for the same arguments.
func candidates(n int, hostile bool) ([]*cupel.ContextItem, error) {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2025, 6, 1, 9, 0, 0, 0, time.UTC)
	var items []*cupel.ContextItem
	for i := range n {
		var text strings.Builder
		for range 5 + random.IntN(120) {
			if text.Len() > 0 {
				text.WriteString([]string{" ", " ", " ", " ", " ", "\n"}[random.IntN(6)])
			}
			text.WriteString(words[random.IntN(len(words))])
		}
		content := text.String()
		kind, source := kinds[random.IntN(len(kinds))], sources[random.IntN(len(sources))]
		opts := []cupel.ItemOption{
			cupel.WithTimestamp(start.Add(time.Duration(i) * 7 * time.Minute)),
			cupel.WithSource(source),
			cupel.WithMetadata(map[string]any{"turn": i, "speaker": words[random.IntN(len(words))]}),
		}
		switch {
		case i == 0:
			kind, content = cupel.KindSystemPrompt, "You are a careful assistant. Answer briefly, and say where you know it from."
			opts = append(opts, cupel.WithPinned())
		case hostile && i%3 == 1:
			content = hostiles[i/3%len(hostiles)]
			kind = cupel.ContextKind("<kind " + fmt.Sprint(i%4) + ">")
			opts = append(opts, cupel.WithTags("<b>tag</b>", "\u202Egat"), cupel.WithMetadata(map[string]any{"</script>": "<img src=x>", "list": []int{1, 2}}))
		case i%41 == 40 && len(items) > 7: // a copy
			content = items[len(items)-7].Content()
		}
		tokens := 1 + len(content)/4
		if i%97 == 96 {
			tokens = -1
		}
		if random.IntN(3) == 0 {
			opts = append(opts, cupel.WithPriority(random.IntN(10)))
		}
		if random.IntN(5) == 0 {
			opts = append(opts, cupel.WithTags("plan", words[random.IntN(len(words))]))
		}
		item, err := cupel.NewContextItem(content, tokens, append(opts, cupel.WithKind(kind))...)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
