package eval_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// means is the file with the mean recall of the preset by set. CUPEL_MEANS=write
// writes it.
const means = "testdata/means.txt"

// mostLost is how much of a mean a change may lose.
const mostLost = 0.005

// clusters is into how many conversations about the same items one is cut, so that
// the questions of one list have intervals and tests.
const clusters = 30

// TestMeasureSets measures the preset beside BM25 without stop words and the
// latest items, on the questions of this folder and on the sets in the folder
// that CUPEL_SETS names: files of labeled conversations, perhaps with gzip. Sets
// with groups are measured without them too. The mean of a set may not fall by
// more than mostLost.
func TestMeasureSets(t *testing.T) {
	folder := os.Getenv("CUPEL_SETS")
	if folder == "" {
		t.Skip("CUPEL_SETS names no folder")
	}
	known := readMeans(t)
	fmt.Printf("%-36s %9s %6s %6s %6s %6s %15s %6s %6s\n", "set", "questions", "newest", "BM25", "preset", "least", "over BM25", "p", "before")
	for _, s := range sets(t, folder) {
		cut := byEvidence(s.conversations)
		for i, part := range [][]eval.Conversation{cut, everyOther(cut, 0), everyOther(cut, 1)} {
			name := s.name + []string{"", ", tune", ", held-out"}[i]
			result, err := run(t.Context(), part, []eval.Policy{eval.Builtin()[0], byWords(), relevancePolicy()}, s.budgets, eval.WithAgainst("words"))
			require.NoError(t, err)
			mean := meanOf(result.Policies[2])
			middle := result.Policies[2].Points[len(s.budgets)/2].Against
			interval, least := "", 1.0
			for _, point := range result.Policies[2].Points {
				least = min(least, point.Against.Difference)
			}
			if middle.Interval != nil {
				interval = fmt.Sprintf("%+.3f…%+.3f", middle.Interval.Low, middle.Interval.High)
			}
			before, measured := known[name]
			fmt.Printf("%-36s %9d %6.3f %6.3f %6.3f %+6.3f %15s %6.3f %6.3f\n", name, result.Questions, meanOf(result.Policies[0]), meanOf(result.Policies[1]), mean, least, interval, middle.P, before)
			if measured && os.Getenv("CUPEL_MEANS") != "write" {
				assert.GreaterOrEqual(t, mean, before-mostLost, "%s: the mean was higher", name)
			}
			known[name] = mean
		}
	}
	fmt.Println("Recall, the mean over the budgets, and at which of them the preset is least above BM25.\nOver BM25 are 95 % intervals and p by clusters of questions, at the middle budget.")
	if os.Getenv("CUPEL_MEANS") == "write" {
		writeMeans(t, known)
	}
}

func meanOf(policy eval.PolicyResult) float64 {
	sum := 0.0
	for _, p := range policy.Points {
		sum += p.Recall
	}
	return sum / float64(len(policy.Points))
}

// sets returns our own questions and the files of a folder.
func sets(t *testing.T, folder string) []kind {
	t.Helper()
	all := own(t)
	for i := range all {
		all[i].name = "own " + all[i].name
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.jsonl*"))
	require.NoError(t, err)
	require.NotEmpty(t, paths, "there are no sets in %s", folder)
	for _, path := range paths {
		file, err := os.Open(path)
		require.NoError(t, err)
		var text io.Reader = file
		if strings.HasSuffix(path, ".gz") {
			text, err = gzip.NewReader(file)
			require.NoError(t, err)
		}
		conversations, err := read(text)
		require.NoError(t, err, path)
		require.NoError(t, file.Close())
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		s := kind{name, conversations, []int{500, 1000, 2000, 4000, 8000}}
		all = append(all, s)
		if bare := withoutSessions(conversations); bare != nil {
			all = append(all, kind{s.name + " without groups", bare, s.budgets})
		}
	}
	return all
}

// withoutSessions returns conversations without their sessions, or nil if they have
// none.
func withoutSessions(conversations []eval.Conversation) []eval.Conversation {
	var bare []eval.Conversation
	grouped := false
	for _, c := range conversations {
		c.Items = slices.Clone(c.Items)
		for i := range c.Items {
			grouped = grouped || c.Items[i].Session != ""
			c.Items[i].Session = ""
		}
		bare = append(bare, c)
	}
	if !grouped {
		return nil
	}
	return bare
}

// byEvidence cuts conversations into some with the same items, if there are few.
// Questions with evidence in the same twentieth of the items stay together.
func byEvidence(conversations []eval.Conversation) []eval.Conversation {
	each := (clusters + len(conversations) - 1) / len(conversations)
	var cut []eval.Conversation
	for _, c := range conversations {
		parts := make([]eval.Conversation, each)
		for _, q := range c.Questions {
			part := &parts[q.Evidence[0]*each/len(c.Items)]
			part.ID, part.Items, part.Questions = c.ID, c.Items, append(part.Questions, q)
		}
		for _, part := range parts {
			if len(part.Questions) > 0 {
				cut = append(cut, part)
			}
		}
	}
	return cut
}

func everyOther(conversations []eval.Conversation, from int) []eval.Conversation {
	var some []eval.Conversation
	for i := from; i < len(conversations); i += 2 {
		some = append(some, conversations[i])
	}
	return some
}

func readMeans(t *testing.T) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(means)
	require.NoError(t, err)
	known := make(map[string]float64)
	for line := range strings.Lines(string(text)) {
		name, mean, _ := strings.Cut(strings.TrimSpace(line), "\t")
		known[name], err = strconv.ParseFloat(mean, 64)
		require.NoError(t, err, name)
	}
	return known
}

func writeMeans(t *testing.T, known map[string]float64) {
	t.Helper()
	var lines []string
	for name, mean := range known {
		lines = append(lines, fmt.Sprintf("%s\t%.4f\n", name, mean))
	}
	slices.Sort(lines)
	require.NoError(t, os.WriteFile(means, []byte(strings.Join(lines, "")), 0o600))
}

// TestSets looks at what measuring sets stands on.
func TestSets(t *testing.T) {
	c := small(t)
	cut := byEvidence(c)
	assert.Equal(t, count(c), count(cut), "no question is lost")
	assert.Greater(t, len(cut), 2*len(c), "and they are in clusters")
	assert.Equal(t, len(cut), len(everyOther(cut, 0))+len(everyOther(cut, 1)))
	bare := withoutSessions(c)
	assert.Empty(t, bare[1].Items[0].Session)
	assert.NotEmpty(t, c[1].Items[0].Session, "the conversations themselves keep theirs")
	assert.Nil(t, withoutSessions(bare))
	for name, mean := range readMeans(t) {
		assert.True(t, mean > 0 && mean <= 1 && !math.IsNaN(mean), name)
	}
}
