package cupeltoml

import "bytes"

// nesting returns how deep the values of a TOML file are nested, by brackets
// and by the dots of keys, outside strings and comments, and about how many
// steps the paths of all its keys have together.
func nesting(data []byte) (deepest, steps int) {
	at := 0
	open := []int{0}                       // how deep the header and each open bracket stand
	header, value, peak := false, false, 0 // of a line outside brackets
	for i := 0; i < len(data); i++ {
		c := data[i]
		if c == '[' && len(open) == 1 && !value && !header {
			header, open[0], at, peak = true, 0, 0, 0
		}
		switch c {
		case '.':
			at++
			steps += at
		case '=':
			value = true
			steps += at
		case '[', '{':
			at++
			steps += at
			open = append(open, at)
		case ']', '}':
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
			at = open[len(open)-1]
		case ',': // the dots of a key end with its value
			at = open[len(open)-1]
		case '\n':
			if len(open) == 1 {
				if header { // what follows stands in its table
					open[0] = peak
				}
				header, value = false, false
			}
			at = open[len(open)-1]
		case '#':
			i = lineEnd(data, i) - 1 // the line's end is looked at as well
		case '"', '\'':
			i = stringEnd(data, i) - 1
		}
		peak = max(peak, at)
		deepest = max(deepest, at)
	}
	return deepest, steps
}

func lineEnd(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(data)
}

// stringEnd returns the position after the string that starts at i. One that
// is not closed ends with its line or with the file, as does the parsing.
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
