package inspector

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/wollax/cupel-go/cupelinspect"
)

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
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	items := candidates(400)
	other := usual()
	other.Scorer = composite(1, 4)
	one := inspect(t, usual(), items, 4000, cupelinspect.WithName("Newest first"))
	two := inspect(t, other, items, 4000, cupelinspect.WithName("Urgent first"))
	for _, c := range []struct {
		name, scheme  string
		width, height int64
		selections    []*cupelinspect.Selection
		before        func(b *tab)
	}{
		{"light", "light", 1280, 1180, []*cupelinspect.Selection{one.selection}, func(*tab) {}},
		{"dark", "dark", 1280, 1180, []*cupelinspect.Selection{one.selection}, func(b *tab) { b.goTo(4800) }},
		{"two", "light", 1280, 1000, []*cupelinspect.Selection{one.selection, two.selection}, func(*tab) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, "What should the model see?", c.selections...)
			b.resize(c.width, c.height)
			b.prefer("prefers-color-scheme", c.scheme)
			c.before(b)
			b.do(`document.activeElement.blur(); scrollTo(0, 0)`)
			b.frame()
			picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if len(picture) > 300_000 {
				t.Errorf("%d bytes are too many for a README", len(picture))
			}
			if err := os.WriteFile(filepath.Join(folder, c.name+".png"), picture, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}
