package inspector

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// repository returns this repository's own code and documents as candidates, in
// pieces, as relevant as they have many of the words.
func repository(t *testing.T, words ...string) []*cupel.ContextItem {
	t.Helper()
	items := []*cupel.ContextItem{
		must(cupel.NewItemFrom(cupel.HeuristicCounter{}, "You are a coding agent at work on this repository. Answer from what you see, and name the file.", cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned())),
		must(cupel.NewItemFrom(cupel.HeuristicCounter{}, "How does a QuotaSlice share the budget between kinds?", cupel.WithPinned())),
	}
	for _, folder := range []string{"cupel", "cupel/slicer", "cupel/scorer", "cupel/placer", "cupel/analysis", "cupel/policy"} {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
		require.NoError(t, err)
		listing := "$ ls " + folder
		for _, file := range files {
			listing += "\n" + filepath.Base(file)
		}
		items = append(items, must(cupel.NewItemFrom(cupel.HeuristicCounter{}, listing, cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool),
			cupel.WithFutureRelevanceHint(0.25), cupel.WithTimestamp(noon.Add(time.Hour)))))
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "cupel/*.go", "cupel/slicer/*.go", "cupel/scorer/*.go"} {
		paths, err := filepath.Glob(filepath.Join("..", "..", pattern))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			kind := cupel.ContextKind("Code")
			between := "\n\n"
			switch {
			case strings.HasSuffix(path, "_test.go"):
				kind = "Test"
			case strings.HasSuffix(path, "CHANGELOG.md"):
				kind, between = cupel.KindMemory, "\n- "
			case strings.HasSuffix(path, ".md"):
				kind = cupel.KindDocument
			}
			for piece := range strings.SplitSeq(string(text), between) {
				if piece = strings.Trim(piece, "\n"); len(piece) < 40 {
					continue
				}
				found := 0
				for _, word := range words {
					found += min(2, strings.Count(strings.ToLower(piece), word))
				}
				items = append(items, must(cupel.NewItemFrom(cupel.HeuristicCounter{}, piece, cupel.WithKind(kind), cupel.WithSource(cupel.SourceRAG),
					cupel.WithFutureRelevanceHint(float64(found)/float64(2*len(words))), cupel.WithTimestamp(noon.Add(time.Duration(len(items))*time.Minute)),
					cupel.WithMetadata(map[string]any{"file": filepath.ToSlash(path)}))))
			}
		}
	}
	return items
}

// TestScreenshots makes the pictures of the documentation in the folder that
// CUPEL_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("CUPEL_SCREENSHOTS")
	if folder == "" {
		t.Skip("CUPEL_SCREENSHOTS names no folder to write to")
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join("..", "..", folder) // as seen from the repository
	}
	require.NoError(t, os.MkdirAll(folder, 0o750))
	items := repository(t, "quota", "share", "budget", "kind")
	config, other := usual(), usual()
	config.Scorer = scorer.Must(scorer.NewScaled(scorer.Must(scorer.NewComposite(
		scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 3}, scorer.Weighted{Scorer: &scorer.Kind{}, Weight: 2}, scorer.Weighted{Scorer: scorer.Recency{}, Weight: 1}))))
	other.Scorer, other.Slicer = config.Scorer, must(slicer.NewQuota(slicer.Greedy{}, slicer.Require(cupel.KindDocument, 25), slicer.Require("Code", 30), slicer.Cap("Test", 15)))
	one := inspect(t, config, items, 8000, cupelinspect.WithName("By relevance"))
	two := inspect(t, other, items, 8000, cupelinspect.WithName("With quotas"))
	talk := bakery(t).selection
	cutOpen := func(b *tab) {
		b.do(`for (const line of document.querySelectorAll('.message[aria-expanded=true]')) line.click();
			[...document.querySelectorAll('.message')].find((line) => line.querySelector('.state-mark.outline')).click()`)
	}
	for _, c := range []struct {
		name, scheme  string
		width, height int64
		selections    []*cupelinspect.Selection
		before        func(b *tab)
	}{
		{"two", "light", 1280, 1000, []*cupelinspect.Selection{one.selection, two.selection}, func(*tab) {}},
		{"conversation", "light", 1280, 1000, []*cupelinspect.Selection{talk}, cutOpen},
		{"conversation-narrow", "dark", 400, 1000, []*cupelinspect.Selection{talk}, cutOpen},
	} {
		t.Run(c.name, func(t *testing.T) {
			title := "How does a QuotaSlice share the budget between kinds?"
			if c.selections[0] == talk {
				title = "The order of a bakery"
			}
			b := open(t, title, c.selections...)
			b.resize(c.width, c.height)
			b.prefer("prefers-color-scheme", c.scheme)
			c.before(b)
			b.do(`document.activeElement.blur(); scrollTo(0, 0)`)
			b.frame()
			picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			require.NoError(t, err)
			assert.LessOrEqual(t, len(picture), 300_000)
			require.NoError(t, os.WriteFile(filepath.Join(folder, c.name+".png"), picture, 0o600))
		})
	}
}
