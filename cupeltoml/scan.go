package cupeltoml

import "bytes"

// nesting returns how deep the values of a TOML file are nested, by brackets
// and by the dots of keys outside strings and comments, and the approximate
// size in bytes of all its keys' paths. The TOML library writes out the path
// from the root for each key, and for each dot of a key, so one long name
// above many keys costs as much as many dots.
func nesting(data []byte) (deepest int, paths int64) {
	at, width := 0, 0 // depth of a place, and length of the path to it
	from := 0         // the key that may begin here adds to width
	open := []level{{}}
	header, value, peak, widest := false, false, 0, 0 // of a line outside brackets
	for i := 0; i < len(data); i++ {
		c := data[i]
		if c == '[' && len(open) == 1 && !value && !header {
			header, open[0], at, width, peak, widest = true, level{}, 0, 0, 0, 0
		}
		switch c {
		case '.':
			at++
			paths += int64(width + i - from)
		case '=':
			value = true
			width += i - from
			paths += int64(width)
			from = i + 1
		case '[', '{':
			at++
			paths += int64(width)
			open = append(open, level{at, width})
			from = i + 1
		case ']', '}':
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
			widest = max(widest, width+i-from)
			at, width, from = open[len(open)-1].back(i)
		case ',': // the dots of a key end with its value
			at, width, from = open[len(open)-1].back(i)
		case '\n':
			if len(open) == 1 {
				if header { // the following keys are in its table
					open[0] = level{peak, widest}
				}
				header, value = false, false
			}
			at, width, from = open[len(open)-1].back(i)
		case '#':
			i = lineEnd(data, i) - 1 // the end of the line is checked as well
		case '"', '\'':
			i = stringEnd(data, i) - 1
		}
		peak = max(peak, at)
		deepest = max(deepest, at)
	}
	return deepest, paths
}

// level is the depth of the header or of an open bracket, and the length of the
// path to it.
type level struct{ at, width int }

// back returns to a level before the byte i, after which another key may begin.
func (l level) back(i int) (at, width, from int) { return l.at, l.width, i + 1 }

func lineEnd(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(data)
}

// stringEnd returns the position after the string that starts at i. A string
// that is not closed ends with its line or with the file, and so does the
// parsing.
func stringEnd(data []byte, i int) int {
	quote := data[i]
	mark := bytes.Repeat([]byte{quote}, 3)
	multiline := bytes.HasPrefix(data[i:], mark)
	if !multiline {
		mark = mark[:1]
	}
	for i += len(mark); i < len(data); i++ {
		switch {
		case quote == '"' && data[i] == '\\':
			i++
		case !multiline && data[i] == '\n':
			return i
		case bytes.HasPrefix(data[i:], mark):
			i += len(mark)
			// Two more quotes may stand before the closing ones.
			for n := 0; multiline && n < 2 && i < len(data) && data[i] == quote; n++ {
				i++
			}
			return i
		}
	}
	return len(data)
}
