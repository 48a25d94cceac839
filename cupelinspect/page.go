package cupelinspect

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"compress/gzip"

	"github.com/wollax/cupel-go/cupel"
)

// The files of the page. page.js is the bundle that make page writes from the
// sources in page/src.
var (
	//go:embed page/index.html
	indexHTML string
	//go:embed page/style.css
	styleCSS string
	//go:embed page/page.js
	pageJS string
)

// assets is the part that all pages share.
type assets struct {
	template string // index.html, with the markers
	style    string
	script   string
	policy   string // the content security policy
}

// loadAssets prepares the embedded files once. HTML parsers normalize line ends to
// newlines, so the hashes must too.
var loadAssets = sync.OnceValue(func() assets {
	lineEnds := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	a := assets{template: lineEnds.Replace(indexHTML), style: lineEnds.Replace(styleCSS), script: lineEnds.Replace(pageJS)}
	a.policy = strings.Join([]string{
		"default-src 'none'",
		"script-src '" + hashOf(a.script) + "'",
		"style-src '" + hashOf(a.style) + "'",
		"img-src data:", // of the icon, which is empty so that browsers ask for none
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'", // no policy can be created, so text never becomes markup
		"trusted-types 'none'",
	}, "; ")
	return a
})

// hashOf returns the hash of an element's text in the form a policy uses.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// WriteHTML writes a page with one selection, or with two side by side, in UTF-8.
// If there are more, such as the turns of a session, the page lists what each
// keeps of the one before, and the reader chooses two to compare. An empty title
// becomes "Context window". WriteHTML returns a [cupel.InvalidConfigError],
// before it writes anything, for no selection, for more than [MaxSelections], and
// for a nil one; otherwise it returns the error of w.
//
// If the page exceeds 5 MB, it has only the beginnings of contents that are in
// no window.
func WriteHTML(w io.Writer, title string, selections ...*Selection) error {
	return writeWithin(mostPage, w, title, selections)
}

// writeWithin writes a page that has, if possible, most bytes at most.
func writeWithin(most int, w io.Writer, title string, selections []*Selection) error {
	page, table, err := newPage(title, selections)
	if err != nil {
		return err
	}
	longest := 0
	for _, item := range page.Items {
		longest = max(longest, len(item.Content))
	}
	for limit := longest; ; limit /= 2 {
		data, err := page.data(table, selections, limit)
		if err != nil {
			return fmt.Errorf("cupelinspect: cannot write the data of the page: %w", err)
		}
		if html := page.html(data); len(html) <= most || limit == 0 {
			_, err := io.WriteString(w, html)
			return err
		}
	}
}

func newPage(title string, selections []*Selection) (*wirePage, *itemTable, error) {
	if len(selections) < 1 || len(selections) > MaxSelections {
		return nil, nil, invalid("selections", strconv.Itoa(len(selections)), "must be from 1 to "+strconv.Itoa(MaxSelections))
	}
	if title == "" {
		title = "Context window"
	}
	page := &wirePage{Title: shorten(title, maxDescription)}
	table := &itemTable{at: make(map[*cupel.ContextItem]int)}
	for i, s := range selections {
		if s == nil {
			return nil, nil, invalid("selections["+strconv.Itoa(i)+"]", "", "must come from Inspect or FromReport, got nil")
		}
		table.contentLimit = max(table.contentLimit, contentLimit(s.items))
	}
	for i, s := range selections {
		selection := s.wire
		selection.Candidates = table.add(s.items)
		if selection.Name == "" && len(selections) == 2 {
			selection.Name = string(rune('A' + i))
		}
		page.Selections = append(page.Selections, &selection)
	}
	page.Items = table.items
	return page, table, nil
}

// data returns the data of the page, compressed. Contents that are in no window are cut
// at a limit.
func (p *wirePage) data(table *itemTable, selections []*Selection, limit int) (string, error) {
	p.Items = append([]wireItem{}, table.items...)
	kept := make([]bool, len(p.Items))
	for _, s := range p.Selections {
		for _, candidate := range s.Window {
			kept[s.Candidates[candidate]] = true
		}
	}
	for i := range p.Items {
		if item := &p.Items[i]; !kept[i] && len(item.Content) > limit {
			item.Content, item.Cut = prefix(table.sources[i].Content(), limit)
		}
	}
	for i, s := range selections {
		contents := make([]string, len(s.items))
		for at, item := range p.Selections[i].Candidates {
			contents[at] = p.Items[item].Content
		}
		p.Selections[i].Forms = s.wireForms(contents)
	}
	var data strings.Builder
	encoded := base64.NewEncoder(base64.StdEncoding, &data)
	compressed := gzip.NewWriter(encoded)
	err := errors.Join(json.NewEncoder(compressed).Encode(p), compressed.Close(), encoded.Close())
	return data.String(), err
}

func (p *wirePage) html(data string) string {
	a := loadAssets()
	// A replacer reads the template once: inserted text is not searched for markers.
	return strings.NewReplacer(
		"<!--title-->", html.EscapeString(strings.Map(inert, p.Title)),
		"<!--csp-->", `<meta http-equiv="Content-Security-Policy" content="`+a.policy+`">`,
		"<!--style-->", "<style>"+a.style+"</style>",
		"<!--script-->", "<script>"+a.script+"</script>",
		"<!--data-->", `<script type="text/plain" id="data">`+data+"</script>",
		"<!--summary-->", p.summary(),
	).Replace(a.template)
}

// inert replaces characters that could disturb a line of text: control
// characters and those that change its direction. The page's script shows other
// text unchanged.
func inert(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return '\uFFFD'
	}
	return r
}
