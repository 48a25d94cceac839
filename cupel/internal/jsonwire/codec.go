package jsonwire

// Codec reads or writes a value: one function describes a type for both, so that
// names are in one place. A method takes a pointer to the variable of the value,
// and changes the variable only to read into it: values that are written may be
// shared. A Codec with neither a reader nor a writer does nothing.
type Codec struct {
	R *Reader
	W *Writer
	object
}

// object is the innermost object that is being read.
type object struct {
	name    []byte // of the member that comes next
	ended   bool   // there is no such member
	last    bool   // all members are read
	field   string // whose value is being read, or ""
	at      int    // the fields named so far in this round
	seen    uint32 // fields by their positions
	present uint32 // those that are not null
	needed  uint32 // those that are required
	unknown []Member
	names   map[string]bool // of unknown
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

// Object reads or writes an object. fields names up to 32 fields, always the
// same in the same order, with [Codec.Required] and [Codec.Optional]. A reader
// calls it in rounds: fields that come in that order take one round, and a last
// one is for what depends on all of them.
//
// In an object that is read, a null field counts as absent. Duplicate names and
// missing required fields are errors. If a value fails, the path of the error
// begins with the name of the field.
func (c *Codec) Object(fields func()) {
	if c.W != nil {
		c.W.Object(fields)
	}
	if c.R == nil {
		return
	}
	c.R.enter('{', "an object")
	outer := c.object
	c.object = object{}
	for c.next(); !c.ended && c.R.Fault == nil; {
		seen := c.seen
		c.at = 0
		fields()
		c.settle()
		if c.seen == seen {
			c.keep()
		}
	}
	if c.needed&^c.present != 0 || c.unknown != nil || c.seen == 0 {
		c.at, c.last = 0, true
		fields()
	}
	c.object = outer
}

// Required names a field that must be there. It returns the codec of its value.
func (c *Codec) Required(name string) *Codec {
	c.needed |= 1 << c.at
	if c.last && c.present&(1<<c.at) == 0 {
		c.R.Fail(name, "is required")
	}
	return c.Optional(name, true)
}

// Optional names a field that may be absent. It returns the codec of its value,
// which does nothing if the value is not the next to be read or written. An
// object that is written has the field if has is true.
func (c *Codec) Optional(name string, has bool) *Codec {
	switch {
	case c.R != nil && c.reads(name):
		return c
	case c.W != nil && has:
		c.W.Field(name)
		return c
	}
	return &none
}

// reads reports whether the value of a field comes next.
func (c *Codec) reads(name string) bool {
	c.settle()
	bit := uint32(1) << c.at
	c.at++
	if string(c.name) != name || c.ended || c.R.Fault != nil {
		return false
	}
	if c.seen&bit != 0 || c.names[name] {
		c.R.Fail(keyPath(name), "is given twice")
		return false
	}
	c.seen |= bit
	if c.R.Null() {
		c.next()
		return false
	}
	c.present |= bit
	c.field = name
	return true
}

// settle ends the field whose value was read.
func (c *Codec) settle() {
	if c.field == "" {
		return
	}
	if c.R.Fault != nil {
		c.R.within(c.field)
	} else {
		c.next()
	}
	c.field = ""
}

// next reads the name of the next member.
func (c *Codec) next() {
	if c.ended = !c.R.more('}'); !c.ended {
		c.name = c.R.name()
	}
}

// keep keeps the next member, which is unknown.
func (c *Codec) keep() {
	name := string(c.name)
	if c.names[name] {
		c.R.Fail(keyPath(name), "is given twice")
	}
	if c.R.Fault != nil {
		return
	}
	if c.names == nil {
		c.names = make(map[string]bool)
	}
	c.names[name] = true
	c.unknown = append(c.unknown, Member{name, c.R.Value()})
	c.next()
}

// Unknown returns the members that no field is named for, in the order of the
// text, once all are read. Their values are parts of the text.
func (c *Codec) Unknown() []Member {
	if !c.last {
		return nil
	}
	return c.unknown
}
