package repocontext

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// KindCode is the kind of Go declarations and package comments. It is not one
// of the well-known kinds: documents are prose here, so that a quota can tell
// the two apart.
const KindCode cupel.ContextKind = "Code"

// Metadata keys of the candidates.
const (
	metaOrigin = "repo:origin" // string: where the item comes from, in one line
	metaFile   = "repo:file"   // string: "go", "go test", "go generated", "markdown", "commit" or "vet"
	metaPath   = "path"        // string: the file, relative to the root
	metaSymbol = "symbol"      // string: the first name that a declaration declares
	metaTitle  = "title"       // string: the heading of a section
)

// The most that one item holds, in bytes; longer ones are cut at a line. Four
// bytes a token make this about two thousand tokens.
const maxItemBytes = 8 << 10

// The most tags of one item: a scorer's work grows with them, and an item that
// is tagged with everything is about nothing.
const maxTags = 16

// Priorities, for what is known without reading: what a tool complains about
// comes first, tests and generated code last.
const (
	priorityLow = iota + 1
	priorityInternal
	priorityPublic
	priorityOverview
	priorityFinding
)

// draft is an item whose tags still depend on what the other items declare.
type draft struct {
	kind     cupel.ContextKind
	source   cupel.ContextSource
	file     string // for metaFile
	path     string // for metaPath, or ""
	symbol   string // for metaSymbol, or ""
	title    string // for metaTitle, or ""
	origin   string
	content  string
	time     time.Time // zero: not known
	priority int       // 0: none
	tags     []string  // in any case, most telling first
	declares []string  // names that others may mention
	mentions map[string]int
}

// estimateTokens estimates the tokens of a text: one for every four bytes,
// rounded up. Tokenizers of current models need between three and four and a
// half bytes a token for English and for Go, so a window may turn out larger by
// a third in the worst case; the output reserve is there for that.
func estimateTokens(text string) int { return (len(text) + 3) / 4 }

// Frame returns the line that goes before an item's content in a prompt. The
// item's token count includes it.
func Frame(item *cupel.ContextItem) string { return frame(Origin(item)) }

func frame(origin string) string { return "--- " + origin + " ---\n" }

// Origin says in one line where an item comes from: "cupel/item.go:62
// NewContextItem", "README.md:10 Install", "commit 1f2e3d4c5b6a of 2026-01-31". It is
// empty for items that this package did not make.
func Origin(item *cupel.ContextItem) string {
	origin, _ := item.MetadataValue(metaOrigin)
	s, _ := origin.(string)
	return s
}

// Conversation returns the items that belong into every window, both pinned:
// the system prompt and, unless it is blank, the user's question. Place the
// prompt first and the question last.
//
// count counts tokens; nil means bytes by four, rounded up.
func Conversation(question string, count func(text string) int) ([]*cupel.ContextItem, error) {
	pinned := []struct {
		draft
		sourceType string
	}{
		{draft{kind: cupel.KindSystemPrompt, origin: "system prompt", content: systemPrompt}, "system"},
		{draft{kind: cupel.KindMessage, origin: "question", content: question}, "user"},
	}
	if strings.TrimSpace(question) == "" {
		pinned = pinned[:1]
	}
	items := make([]*cupel.ContextItem, 0, len(pinned))
	for _, p := range pinned {
		p.source = cupel.SourceChat
		p.content = strings.ToValidUTF8(p.content, "\uFFFD")
		it, err := p.item(counter(count), nil, p.sourceType, cupel.WithPinned())
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

const systemPrompt = `You are a coding agent at work on the repository that the following excerpts are from.
Each excerpt begins with a line that says where it comes from.
Answer the question at the end from the excerpts; name the files and lines that you rely on.
Say so when the excerpts do not hold the answer, and name the files that you would open next.`

func counter(count func(string) int) func(string) int {
	if count == nil {
		return estimateTokens
	}
	return count
}

func (d *draft) item(count func(string) int, tags []string, sourceType string, opts ...cupel.ItemOption) (*cupel.ContextItem, error) {
	content := cut(d.content)
	meta := map[string]any{metaOrigin: d.origin, cupel.MetadataSourceType: sourceType}
	for key, value := range map[string]string{metaFile: d.file, metaPath: d.path, metaSymbol: d.symbol, metaTitle: d.title} {
		if value != "" {
			meta[key] = value
		}
	}
	opts = append(opts, cupel.WithKind(d.kind), cupel.WithSource(d.source), cupel.WithTags(tags...), cupel.WithMetadata(meta))
	if !d.time.IsZero() {
		opts = append(opts, cupel.WithTimestamp(d.time))
	}
	if d.priority != 0 {
		opts = append(opts, cupel.WithPriority(d.priority))
	}
	if content != d.content {
		opts = append(opts, cupel.WithOriginalTokens(count(frame(d.origin)+d.content)))
	}
	return cupel.NewContextItem(content, count(frame(d.origin)+content), opts...)
}

// cut shortens a text to maxItemBytes, at the end of a line if it has any, and
// says how much is missing.
func cut(text string) string {
	if len(text) <= maxItemBytes {
		return text
	}
	head := strings.ToValidUTF8(text[:maxItemBytes], "") // no half rune at the end
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	return fmt.Sprintf("%s\n[cut here: %d more bytes]", head, len(text)-len(head))
}

// finish turns drafts into items: what a draft mentions becomes a tag where
// another draft declares it.
func finish(drafts []draft, count func(string) int) ([]*cupel.ContextItem, error) {
	declared := make(map[string]bool)
	for _, d := range drafts {
		for _, name := range d.declares {
			declared[name] = true
		}
	}
	mentioned := make(map[string]int) // by how many drafts
	for _, d := range drafts {
		for name := range d.mentions {
			if declared[name] {
				mentioned[name]++
			}
		}
	}
	// A name that one item in eight mentions does not tell items apart. In a
	// small tree every name does.
	everywhere := max(16, len(drafts)/8)

	items := make([]*cupel.ContextItem, 0, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		var names []string
		for name := range d.mentions {
			if declared[name] && mentioned[name] < everywhere {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(d.mentions[b], d.mentions[a]), cmp.Compare(a, b))
		})
		it, err := d.item(count, tagList(slices.Concat(d.tags, d.declares, names)), "external")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.origin, err)
		}
		items = append(items, it)
	}
	return items, nil
}

// tagList keeps the first maxTags of the tags, each once, without empty ones.
func tagList(tags []string) []string {
	list := make([]string, 0, min(len(tags), maxTags))
	for _, tag := range tags {
		if len(list) == maxTags {
			break
		}
		if tag != "" && !slices.Contains(list, tag) {
			list = append(list, tag)
		}
	}
	return list
}
