package cupel

import "github.com/wollax/cupel-go/cupel/internal/jsonwire"

func (u *itemUnits) write(w *jsonwire.Writer) {
	if u == nil {
		return
	}
	if u.group != "" {
		w.Field("group").String(u.group)
	}
	if u.versionOf != "" {
		w.Field("versionOf").String(u.versionOf)
	}
	list := func(name string, given []Variant) {
		if len(given) > 0 {
			w.Field(name).Array(len(given), func(i int) { given[i].write(w) })
		}
	}
	item, group := u.given()
	list("variants", item)
	list("groupVariants", group)
}

func (v *Variant) write(w *jsonwire.Writer) {
	w.Object(func() {
		if v.Content != "" {
			w.Field("content").String(v.Content)
		}
		w.Field("tokens").Int(v.Tokens)
		w.Field("worth").Float(v.Worth)
		v.extra.write(w)
	})
}

// The fields of a variant, in the order of variantShape.
const (
	variantTokens = iota
	variantWorth
	variantContent
)

var variantShape = jsonwire.NewShape(2, "tokens", "worth", "content")

// readVariant reads a variant. One without content is kept and never chosen.
func readVariant(r *jsonwire.Reader, to *Variant) {
	o := r.Object(variantShape)
	for o.Next() {
		switch o.Field {
		case variantTokens:
			to.Tokens = r.Int()
		case variantWorth:
			to.Worth = r.Float()
		case variantContent:
			if to.Content = r.String(); to.Content == "" {
				r.Fail("", "must not be empty", nil)
			}
		}
	}
	to.lost = to.Content == ""
	to.extra = extraOf(&o)
}
