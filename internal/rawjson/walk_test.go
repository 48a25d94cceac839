package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// FuzzWalk compares with encoding/json what is JSON, and what its strings say.
func FuzzWalk(f *testing.F) {
	for _, seed := range []string{
		"", " ", "{}", "[]", `{"a":1,"b":[true,false,null]}`, `[1,]`, `{"a":1,}`, `{,}`, `[,]`, `{"a"}`, `{"a":}`, `{1:2}`, `[1 2]`, `[}`, `{]`, "]",
		"0", "-0.5e+7", "01", "1.", "-", ".5", "1e", "1e+", "+1", "tru", "nulll", `["`, `"\"`, `"\\"`, `"a\nb\u00e9\ud83d\ude00\ud83d"`, `"\ud83d\u0041"`, `["\u12"]`,
		`["\x"]`, "\"\t\"", "\"\x7f\xff\"", `"\ud83d\ud83d\ude00"`, `1 2`, `"a":1`, `[1]]`, `:1`, `{"a"::1}`, `{"a":1 "b":2}`, `[[]]x`,
		"1,2", `{"a" "b":1}`, "1,", `"a","b"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var tokens []string
		visit := func(token byte, from, to int) { tokens = append(tokens, string(token)+text[from:to]) }
		require.Equal(t, json.Valid([]byte(text)), rawjson.Walk(text, visit), text)
		var want string
		if len(tokens) != 1 || tokens[0][0] != '"' || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		inside := tokens[0][2 : len(tokens[0])-1]
		require.Equal(t, want, string([]rune(rawjson.Unquote([]byte(inside)))), inside)
	})
}

func TestVisit(t *testing.T) {
	const text = ` {"a": [1, "b\u0020", true], "c": {}} `
	want := []string{"{{", `:"a"`, "[[", "01", `""b\u0020"`, "0true", "]]", `:"c"`, "{{", "}}", "}}"}
	var got []string
	require.True(t, rawjson.Walk(text, func(token byte, from, to int) { got = append(got, string(token)+text[from:to]) }))
	require.Equal(t, want, got)
}

func TestDeepest(t *testing.T) {
	for _, depth := range []int{10_000, 10_001} {
		text := make([]byte, 2*depth)
		for i := range depth {
			text[i], text[depth+i] = '[', ']'
		}
		assert.Equal(t, json.Valid(text), rawjson.Walk(text, nil), "a depth of %d", depth)
	}
}
