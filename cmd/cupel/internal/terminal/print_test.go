package terminal

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

// printed returns what do prints on a screen of a width.
func printed(width int, colour ColourMode, do func(p *Printer)) string {
	var b strings.Builder
	do(Screen{Width: width}.Printer(&b, colour))
	return b.String()
}

func TestTable(t *testing.T) {
	got := printed(40, ColourNever, func(p *Printer) {
		p.Table([]Column{{Head: "N", Right: true}, {Head: "KIND"}, {Head: "SIZE", Right: true}, {Head: "ITEM", Flexible: true}}, [][]Text{
			{Plain("1"), Plain("東京"), Plain("5"), Plain("a long content that does not fit at all")},
			{Plain("10"), Plain("e\u0301"), Plain("1234567"), Plain("two\nlines")},
			{Plain("7"), Plain(""), Plain(""), Plain("")},
		})
	})
	// 2 + 2 + 4 + 2 + 7 + 2 are 19 columns: 21 are left.
	want := " N  KIND     SIZE  ITEM\n" +
		" 1  東京        5  a long content that …\n" +
		"10  e\u0301     1234567  two …\n" +
		" 7\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableOnNarrowScreen(t *testing.T) {
	got := printed(5, ColourNever, func(p *Printer) {
		p.Table([]Column{{}, {Flexible: true}}, [][]Text{{Plain("abc"), Plain(strings.Repeat("x", 30))}})
	})
	if want := "abc  " + strings.Repeat("x", 15) + "…\n"; got != want {
		t.Errorf("got %q, want %q: sixteen columns are the least, and no head line without heads", got, want)
	}
}

// TestTableDrops: the column with the highest number goes first, and cells of names
// are cut when nothing is left to go.
func TestTableDrops(t *testing.T) {
	columns := []Column{{Head: "N", Right: true}, {Head: "SCORE", Right: true, Drop: 2}, {Head: "NAME"}, {Head: "GROUP", Drop: 1}, {Head: "ITEM", Flexible: true}}
	rows := [][]Text{{Plain("1"), Plain("0.25"), Plain("a long name"), Plain("g"), Plain("the first of the items")}}
	for _, tt := range []struct {
		width int
		want  string
	}{
		{60, "N  SCORE  NAME         GROUP  ITEM\n1   0.25  a long name  g      the first of the items\n"},
		{43, "N  NAME         GROUP  ITEM\n1  a long name  g      the first of the it…\n"},
		{38, "N  NAME         ITEM\n1  a long name  the first of the items\n"},
		{30, "N  NAME       ITEM\n1  a long n…  the first of th…\n"},
	} {
		if got := printed(tt.width, ColourNever, func(p *Printer) { p.Table(columns, rows) }); got != tt.want {
			t.Errorf("on %d columns: got\n%swant\n%s", tt.width, got, tt.want)
		}
	}
}

func TestTableWithHostileNames(t *testing.T) {
	// A name of a megabyte takes a third of the screen, but 30 to 60 columns.
	for width, columns := range map[int]int{60: 30, 120: 40, 200: 60} {
		got := printed(width, ColourNever, func(p *Printer) {
			p.Table([]Column{{}, {}}, [][]Text{{Plain(strings.Repeat("k", 1<<20) + "\x1b"), Plain("x")}})
		})
		if want := strings.Repeat("k", columns-1) + "…  x\n"; got != want {
			t.Errorf("got %d bytes, want %d", len(got), len(want))
		}
	}
}

func TestColour(t *testing.T) {
	line := func(p *Printer) { p.Line(Text{"a\x1b[0m", Bold}, Plain(" b"), Text{"", Red}) }
	if got, want := printed(80, ColourAlways, line), "\x1b[1ma\\x1b[0m\x1b[0m b\n"; got != want {
		t.Errorf("got %q, want %q: only the printer's own sequences are sequences", got, want)
	}
	if got, want := printed(80, ColourNever, line), "a\\x1b[0m b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := printed(80, ColourAuto, line), "a\\x1b[0m b\n"; got != want {
		t.Errorf("got %q, want %q: this is no terminal", got, want)
	}
}

func TestParagraph(t *testing.T) {
	got := printed(10, ColourNever, func(p *Printer) { p.Paragraph("one two three 東京東京 x", "") })
	if want := "one two\nthree\n東京東京 x\n"; got != want {
		t.Errorf("got %q, want %q: lines have ten columns at most", got, want)
	}
}

func TestBar(t *testing.T) {
	got := printed(80, ColourNever, func(p *Printer) {
		p.Bar([]Segment{{Mark: "D", Size: 60}, {Mark: "M", Size: 20}, {Mark: ".", Size: 20}, {Mark: "x"}}, 12)
	})
	if want := "[DDDDDDMM..]\n"; got != want {
		t.Errorf("got %q, want %q: a tenth of the size is a column", got, want)
	}
}

func TestApportion(t *testing.T) {
	for _, test := range []struct {
		name, why string
		sizes     []int
		columns   int
		want      []int
	}{
		{"even", "to scale", []int{50, 25, 25}, 8, []int{4, 2, 2}},
		{"remainders", "3.33 each: the first gets what is left", []int{1, 1, 1}, 10, []int{4, 3, 3}},
		{"largest remainder", "2.8 and 1.2 of 4: the first one's is larger", []int{7, 3}, 4, []int{3, 1}},
		{"small", "what is there is seen", []int{1000, 1}, 10, []int{9, 1}},
		{"empty", "what is not there is not", []int{0, 5}, 4, []int{0, 4}},
		{"nothing", "there is nothing to draw", []int{0, 0}, 4, []int{0, 0}},
		{"too many", "not all of them can be seen", []int{1, 1, 1}, 2, []int{1, 1, 0}},
		{"huge", "sums past the range of int do not wrap", []int{math.MaxInt/2 + 1, math.MaxInt/2 + 1, math.MaxInt/2 + 1, math.MaxInt/2 + 1}, 4, []int{1, 1, 1, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Apportion(test.sizes, test.columns); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v: %s", got, test.want, test.why)
			}
		})
	}
}

// Columns are all given away, and everything that is there gets one while there
// are enough.
func TestApportionGivesAll(t *testing.T) {
	property := func(given []uint16, width uint8) bool {
		sizes, some := make([]int, len(given)), 0
		for i, size := range given {
			sizes[i] = int(size)
			if size > 0 {
				some++
			}
		}
		columns := int(width) + 1
		widths := Apportion(sizes, columns)
		sum := 0
		for i, w := range widths {
			sum += w
			if w < 0 || sizes[i] == 0 && w > 0 || some <= columns && sizes[i] > 0 && w == 0 {
				return false
			}
		}
		return some == 0 || sum == columns
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestDetect(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	for _, test := range []struct {
		name, why, columns string
		want               int
	}{
		{"columns", "COLUMNS says how wide", "73", 73},
		{"nonsense", "what is no number is left aside", "wide", DefaultWidth},
		{"none", "no width is no width", "0", DefaultWidth},
		{"nothing", "a file does not say", "", DefaultWidth},
	} {
		t.Run(test.name, func(t *testing.T) {
			getenv := func(name string) string {
				if name == "COLUMNS" {
					return test.columns
				}
				return ""
			}
			for _, w := range []io.Writer{file, &strings.Builder{}} {
				if got := Detect(w, getenv); got.Terminal || got.colour || got.Width != test.want {
					t.Errorf("%T: got %+v, want width %d: %s", w, got, test.want, test.why)
				}
			}
		})
	}
}

type brokenWriter struct{ writes int }

func (w *brokenWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, errors.New("broken")
}

func TestPrinterKeepsItsError(t *testing.T) {
	w := new(brokenWriter)
	p := Screen{Width: 80}.Printer(w, ColourAuto)
	p.Line(Plain("a"))
	p.Line(Plain("b"))
	if p.Err() == nil || w.writes != 1 {
		t.Errorf("error %v after %d writes, want the first error and no write after it", p.Err(), w.writes)
	}
}
