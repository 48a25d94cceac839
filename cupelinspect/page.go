package cupelinspect

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
)

//go:embed page/index.html page/style.css page/*.js
var pageFiles embed.FS

// assets is what all pages have in common.
type assets struct {
	template string // index.html, with the markers
	style    string
	script   string
	policy   string // the content security policy
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// loadAssets reads what is embedded, once.
var loadAssets = sync.OnceValues(func() (assets, error) {
	read := func(name string) (string, error) {
		data, err := pageFiles.ReadFile("page/" + name)
		// HTML parsers read a line end as a newline: the hashes must, too.
		return lineEnds.Replace(string(data)), err
	}
	var a assets
	var err error
	if a.template, err = read("index.html"); err != nil {
		return a, err
	}
	if a.style, err = read("style.css"); err != nil {
		return a, err
	}
	entries, err := pageFiles.ReadDir("page") // sorted by name
	if err != nil {
		return a, err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".js") {
			continue
		}
		part, err := read(entry.Name())
		if err != nil {
			return a, err
		}
		a.script += part
	}
	a.policy = strings.Join([]string{
		"default-src 'none'",
		"script-src '" + hashOf(a.script) + "'",
		"style-src '" + hashOf(a.style) + "'",
		"img-src data:", // of the icon, which is empty so that browsers ask for none
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'", // and as no policy may be made, no text becomes markup
		"trusted-types 'none'",
	}, "; ")
	return a, nil
})

// hashOf returns the hash of the text of an element as a policy names it.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// WriteHTML writes a page of one selection, or of two side by side, in UTF-8.
// An empty title is "Context window". It fails with a
// [cupel.InvalidConfigError] for any other number of selections or a nil one,
// before it writes anything, and with the error of w.
//
// Of the contents the longest limit of the selections counts.
func WriteHTML(w io.Writer, title string, selections ...*Selection) error {
	page, err := newPage(title, selections)
	if err != nil {
		return err
	}
	return page.write(w)
}

func newPage(title string, selections []*Selection) (*wirePage, error) {
	if len(selections) < 1 || len(selections) > 2 {
		return nil, invalid("selections", strconv.Itoa(len(selections)), "must be one or two")
	}
	if title == "" {
		title = "Context window"
	}
	page := &wirePage{Title: shorten(title, maxDescription)}
	table := &itemTable{at: make(map[*cupel.ContextItem]int)}
	for i, s := range selections {
		if s == nil {
			return nil, invalid("selections["+strconv.Itoa(i)+"]", "", "must come from Inspect or FromReport, got nil")
		}
		table.contentLimit = max(table.contentLimit, s.contentLimit)
	}
	for i, s := range selections {
		selection := s.wire
		selection.Candidates = table.add(s.items)
		if selection.Name == "" && len(selections) > 1 {
			selection.Name = string(rune('A' + i))
		}
		page.Selections = append(page.Selections, &selection)
	}
	page.Items = table.items
	if page.Items == nil {
		page.Items = []wireItem{}
	}
	return page, nil
}

func (p *wirePage) write(w io.Writer) error {
	a, err := loadAssets()
	if err != nil {
		return fmt.Errorf("cupelinspect: cannot read the page's own files: %w", err)
	}
	// encoding/json escapes <, >, & and the line ends of Unicode, and replaces
	// what is not UTF-8: no data can end the element that it stands in.
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("cupelinspect: cannot write the data of the page: %w", err)
	}
	parts := map[string]string{
		"<!--title-->":  html.EscapeString(strings.Map(inert, p.Title)),
		"<!--csp-->":    `<meta http-equiv="Content-Security-Policy" content="` + a.policy + `">`,
		"<!--style-->":  "<style>" + a.style + "</style>",
		"<!--script-->": "<script>" + a.script + "</script>",
		"<!--data-->":   `<script type="application/json" id="data">` + string(data) + "</script>",
	}
	// Piece by piece, so that nothing that was put in is looked at again.
	for rest := a.template; rest != ""; {
		at, marker := nextMarker(rest, parts)
		if _, err := io.WriteString(w, rest[:at]); err != nil {
			return err
		}
		if _, err := io.WriteString(w, parts[marker]); err != nil {
			return err
		}
		rest = rest[at+len(marker):]
	}
	return nil
}

// inert replaces what could disturb a line of text: control characters, and
// those that change its direction. The page's script shows others as they are.
func inert(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return '\uFFFD'
	}
	return r
}

// nextMarker returns where the first marker of a text is, or its length and ""
// when it has none.
func nextMarker(text string, parts map[string]string) (at int, marker string) {
	at = len(text)
	for m := range parts {
		if i := strings.Index(text, m); i >= 0 && i < at {
			at, marker = i, m
		}
	}
	return at, marker
}
