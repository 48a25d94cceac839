package cli

import (
	"slices"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// label is what names an item in tables and in JSON. All but Group are of messages.
type label struct {
	Role  string `json:"role,omitempty"`
	Tool  string `json:"tool,omitempty"`
	Title string `json:"title,omitempty"`
	Group string `json:"group,omitempty"`
}

func labelOf(item *cupel.ContextItem) label {
	l := label{Role: roleOf(item), Group: item.Group()}
	if l.Role != "" {
		l.Tool, _ = item.MetadataText("tool")
		l.Title, _ = item.MetadataText("title")
	}
	return l
}

// roleOf returns the role of a message, or "" for any other item.
func roleOf(item *cupel.ContextItem) string {
	role, _ := item.MetadataText("role")
	return role
}

// headline returns the line that stands for an item in a table: the title of a
// message, or else the content.
func headline(item *cupel.ContextItem) string {
	if title := labelOf(item).Title; title != "" {
		return title
	}
	return item.Content()
}

// labelled are the columns of a table that its items decide about: KIND, or ROLE and
// TOOL of messages, and GROUP.
type labelled struct{ roles, tools, groups bool }

func labelledBy(labels []label) labelled {
	has := func(text func(label) string) bool {
		return slices.ContainsFunc(labels, func(l label) bool { return text(l) != "" })
	}
	return labelled{
		has(func(l label) string { return l.Role }), has(func(l label) string { return l.Tool }), has(func(l label) string { return l.Group }),
	}
}

// columns returns the columns in front of others, which stand between KIND and GROUP.
func (b labelled) columns(between ...terminal.Column) []terminal.Column {
	columns := []terminal.Column{{Head: "KIND"}}
	if b.roles {
		columns[0].Head = "ROLE"
	}
	if b.tools {
		columns = append(columns, terminal.Column{Head: "TOOL", Drop: 5})
	}
	columns = append(columns, between...)
	if b.groups {
		columns = append(columns, terminal.Column{Head: "GROUP", Drop: 2})
	}
	return columns
}

// cells returns the cells of an item for columns.
func (b labelled) cells(l label, kind terminal.Text, between ...terminal.Text) []terminal.Text {
	if b.roles {
		kind.Text = l.Role
	}
	cells := []terminal.Text{kind}
	if b.tools {
		cells = append(cells, terminal.Plain(l.Tool))
	}
	cells = append(cells, between...)
	if b.groups {
		cells = append(cells, terminal.Plain(l.Group))
	}
	return cells
}
