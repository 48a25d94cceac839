package eval_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// evidence reads the file that CUPEL_EVIDENCE names, labeled conversations in
// the package's format.
func evidence(t *testing.T) []eval.Conversation {
	t.Helper()
	path := os.Getenv("CUPEL_EVIDENCE")
	if path == "" {
		t.Skip("CUPEL_EVIDENCE names no file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	conversations, err := read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return conversations
}

// TestMeasureHaystack measures the chats of this folder, each strewn among the
// sessions of the next one and snippets of the conversations in CUPEL_EVIDENCE.
func TestMeasureHaystack(t *testing.T) {
	hay := evidence(t)
	var chats, strewn []eval.Conversation
	for _, k := range own(t) {
		if k.name == "chats" {
			chats = k.conversations
		}
	}
	for i, chat := range chats {
		strewn = append(strewn, strew(chat, chats[(i+1)%len(chats)], hay))
	}
	result, err := run(t.Context(), strewn, eval.Builtin(), []int{500, 1000, 2000, 4000, 8000})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(result.Text())
}

const (
	snippets       = 60
	turnsOfSnippet = 20
)

// strew mixes the sessions of a chat with those of another one and with snippets
// of hay, in an order that is always the same. Times are taken away, since hay
// has none that would fit.
func strew(chat, other eval.Conversation, hay []eval.Conversation) eval.Conversation {
	type session struct {
		first int // position in the chat of its first turn, or -1
		turns []eval.Turn
	}
	var sessions []session
	add := func(c eval.Conversation, prefix string, isChat bool) {
		for i, turn := range c.Items {
			if i == 0 || turn.Session != c.Items[i-1].Session {
				s := session{first: -1}
				if isChat {
					s.first = i
				}
				sessions = append(sessions, s)
			}
			turn.Session, turn.Time = eval.Text(prefix)+turn.Session, eval.Time{}
			last := &sessions[len(sessions)-1]
			last.turns = append(last.turns, turn)
		}
	}
	add(chat, "chat ", true)
	add(other, "other ", false)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range snippets {
		items := hay[r.IntN(len(hay))].Items
		from := r.IntN(max(1, len(items)-turnsOfSnippet))
		snippet := eval.Conversation{Items: items[from:min(len(items), from+turnsOfSnippet)]}
		add(snippet, fmt.Sprintf("snippet %d ", i), false)
	}
	r.Shuffle(len(sessions), func(i, j int) { sessions[i], sessions[j] = sessions[j], sessions[i] })

	mixed := eval.Conversation{ID: chat.ID + " in hay"}
	moved := make([]int, len(chat.Items))
	for _, s := range sessions {
		if s.first >= 0 {
			for i := range s.turns {
				moved[s.first+i] = len(mixed.Items) + i
			}
		}
		mixed.Items = append(mixed.Items, s.turns...)
	}
	for _, q := range chat.Questions {
		question := eval.Question{Query: q.Query}
		for _, at := range q.Evidence {
			question.Evidence = append(question.Evidence, moved[at])
		}
		mixed.Questions = append(mixed.Questions, question)
	}
	return mixed
}

// TestStrew looks at what measuring with hay stands on: the evidence is still
// what it was.
func TestStrew(t *testing.T) {
	conversations := small(t)
	chat, other := conversations[1], conversations[2]
	mixed := strew(chat, other, conversations)
	if len(mixed.Items) < len(chat.Items)+len(other.Items)+snippets || len(mixed.Questions) != len(chat.Questions) {
		t.Fatalf("%d items and %d questions came out", len(mixed.Items), len(mixed.Questions))
	}
	moved := false
	for i, q := range mixed.Questions {
		for k, at := range q.Evidence {
			was := chat.Questions[i].Evidence[k]
			moved = moved || at != was
			if got, want := mixed.Items[at], chat.Items[was]; got.Content != want.Content || got.Session != "chat "+want.Session {
				t.Errorf("evidence %d of question %d is %q of %q, want %q", k, i, got.Content, got.Session, want.Content)
			}
		}
	}
	if !moved {
		t.Error("nothing was strewn")
	}
}
