package jsonwire

import "slices"

// Codec reads or writes a value: one function describes a type for both, so that
// names are in one place. A method takes a pointer to the variable of the value,
// and changes the variable only to read into it: values that are written may be
// shared. A Codec with neither a reader nor a writer does nothing.
type Codec struct {
	R *Reader
	W *Writer
	object
	members []member // that are read of that object, after those of the objects around it
}

// object is the innermost object.
type object struct {
	first int    // of its members that are read
	field string // whose value is being read or written, or ""
}

type member struct {
	Member
	known bool // a field was named for it
}

// none is the codec of a value that is not there.
var none Codec

func scalar[T any](c *Codec, v *T, read func(*Reader) T, write func(*Writer, T)) {
	if c.R != nil {
		*v = read(c.R)
	} else if c.W != nil {
		write(c.W, *v)
	}
}

// Int reads or writes an integer.
func (c *Codec) Int(n *int) { scalar(c, n, (*Reader).Int, (*Writer).Int) }

// Float reads or writes a number, or a string that stands for what is not
// finite.
func (c *Codec) Float(f *float64) { scalar(c, f, (*Reader).Float, (*Writer).Float) }

// Bool reads or writes a boolean.
func (c *Codec) Bool(v *bool) { scalar(c, v, (*Reader).Bool, (*Writer).Bool) }

// Raw writes text that is known to be JSON.
func (c *Codec) Raw(text []byte) {
	if c.W != nil {
		c.W.buf = append(c.W.buf, text...)
	}
}

// Text reads or writes a string.
func Text[S ~string](s *S, c *Codec) {
	if c.R != nil {
		*s = S(c.R.String())
	} else if c.W != nil {
		c.W.String(string(*s))
	}
}

// List reads or writes an array. An empty one is read as nil.
func List[T any](c *Codec, list *[]T, element func(*T, *Codec)) {
	if c.W != nil {
		c.W.Array(len(*list), func(i int) { element(&(*list)[i], c) })
	} else if c.R != nil {
		*list = nil
		c.R.Array(func() {
			*list = append(*list, *new(T))
			element(&(*list)[len(*list)-1], c)
		})
	}
}

// Object reads or writes an object. fields names the fields, in the order in
// which they are written, with [Codec.Required] and [Codec.Optional].
//
// In an object that is read, a null field counts as absent. Duplicate names and
// missing required fields are errors. If a value fails, the path of the error
// begins with the name of the field.
func (c *Codec) Object(fields func()) {
	outer := c.object
	c.object = object{first: len(c.members)}
	switch {
	case c.W != nil:
		c.W.nest('{', '}', func() {
			fields()
			c.settle(c.W.fault)
		})
	case c.R != nil:
		c.members = slices.Grow(c.members, 16) // most objects have fewer
		c.R.Map(func(name string) { c.members = append(c.members, member{Member: Member{name, c.R.Value()}}) })
		text, end := c.R.data, c.R.pos
		fields()
		c.settle(c.R.Fault)
		c.R.data, c.R.pos = text, end
		c.members = c.members[:c.first]
	}
	c.object = outer
}

// Required names a field that must be there. It returns the codec of its value.
func (c *Codec) Required(name string) *Codec {
	field := c.Optional(name, true)
	if c.R != nil && field == &none {
		c.R.Fail(name, "is required")
	}
	return field
}

// Optional names a field that may be absent. It returns the codec of its value,
// which does nothing if there is no value to be read or written. An object that
// is written has the field if has is true.
func (c *Codec) Optional(name string, has bool) *Codec {
	switch {
	case c.R != nil && c.reads(name):
	case c.W != nil && has && c.W.fault == nil:
		c.settle(nil)
		c.W.name(name)
	default:
		return &none
	}
	c.field = name
	return c
}

// reads goes to the value of a field, and reports whether there is one.
func (c *Codec) reads(name string) bool {
	c.settle(c.R.Fault)
	var value []byte
	for i := range c.members[c.first:] {
		m := &c.members[c.first+i]
		if m.Name != name {
			continue
		}
		if m.known = true; value != nil {
			c.R.Fail(keyPath(name), "is given twice")
		}
		value = m.Value
	}
	if value == nil || c.R.Fault != nil {
		return false
	}
	c.R.data, c.R.pos = value, 0
	return !c.R.Null()
}

// settle ends the field whose value was read or written.
func (c *Codec) settle(fault *Fault) {
	if c.field != "" && fault != nil {
		fault.within(c.field)
	}
	c.field = ""
}

// Unknown returns the members of an object that is read for which no field was
// named, in the order of the text. Their values are parts of the text.
func (c *Codec) Unknown() []Member {
	c.settle(c.R.Fault)
	var unknown []Member
	seen := make(map[string]bool)
	for _, m := range c.members[c.first:] {
		if m.known {
			continue
		}
		if seen[m.Name] {
			c.R.Fail(keyPath(m.Name), "is given twice")
		}
		seen[m.Name] = true
		unknown = append(unknown, m.Member)
	}
	return unknown
}
