package cupel

import "encoding/json"

// extraFields keeps what a reader of JSON did not know, so that writing it
// back loses nothing (R38).
type extraFields []extraField

type extraField struct {
	name  string
	value json.RawMessage
}

// includedExtra keeps unknown fields of an included item and of its reason's
// envelope.
type includedExtra struct {
	item, reason extraFields
}
