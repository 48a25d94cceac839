package cupelsession_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// model is a session as docs/agents.md words it, without summaries and without
// any care for speed.
type model struct {
	chooser cupelsession.Chooser
	config  cupelsession.Config
	now     time.Time

	turns   int
	had     []string // keys of the items of the last turn
	sent    []piece
	all     int // tokens of all items of the last turn
	name    string
	cached  []cupelsession.Prefix
	sentAt  time.Time
	growth  float64
	reports [][2]int // estimated and counted
}

// piece is an item in the window, or what stands for one or for a group.
type piece struct {
	keys    []string
	smaller bool
	item    *cupel.ContextItem // as sent
	first   int                // candidate of this turn
}

// draft is the next turn.
type draft struct {
	keys    []string
	items   []*cupel.ContextItem
	budget  cupel.ContextBudget
	cache   cupelsession.CacheModel
	name    string
	tail    []bool
	pins    int // tokens of pinned items in the tail
	window  []piece
	quotes  []piece // and the items of the tail, behind the window
	fresh   int
	must    bool // something must come in
	reason  cupelsession.BreakReason
	breaks  bool
	at      int
	kept    int
	use     cupelsession.CacheUse
	cached  []cupelsession.Prefix
	growth  float64
	counted int
}

func tokensOf(window []piece) int {
	sum := 0
	for _, p := range window {
		sum += p.item.Tokens()
	}
	return sum
}

// place returns the entry of the window in which a candidate is, or -1.
func (d *draft) place(window []piece, i int) int {
	return slices.IndexFunc(window, func(p piece) bool { return slices.Contains(p.keys, d.keys[i]) })
}

func (m *model) next(t *testing.T, items []*cupel.ContextItem, budget cupel.ContextBudget, name string) (*draft, error) {
	t.Helper()
	d := &draft{items: items, budget: budget, name: name, cache: m.config.Cache.For(name)}
	times := map[string]int{}
	for _, it := range items {
		says := fmt.Sprintf("%q %q", it.Kind(), it.Content())
		d.keys, d.tail = append(d.keys, fmt.Sprint(says, times[says])), append(d.tail, m.config.Tail != nil && m.config.Tail(it))
		times[says]++
		if d.tail[len(d.tail)-1] && it.Pinned() {
			d.pins += it.Tokens()
		}
	}

	// What was sent stays as it was sent, and what is new follows.
	for _, p := range m.sent {
		there, groups := 0, map[string]bool{}
		for i, it := range items {
			if !slices.Contains(p.keys, d.keys[i]) || d.tail[i] || it.Tokens() < 0 {
				continue
			}
			if there++; there == 1 {
				p.first = i
			}
			groups[it.Group()] = true
		}
		if there < len(p.keys) || len(groups) > 1 {
			continue
		}
		if now := items[p.first]; !p.smaller {
			p.item = now
		} else if p.item.Group() != now.Group() {
			p.item = with(t, now, cupel.WithVariants(), cupel.WithGroupVariants(), cupel.WithContent(p.item.Content(), p.item.Tokens()))
		}
		d.window = append(d.window, p)
	}
	for i, it := range items {
		if !d.tail[i] && !slices.Contains(m.had, d.keys[i]) && it.Tokens() >= 0 {
			d.fresh += it.Tokens()
			d.window = append(d.window, piece{keys: d.keys[i : i+1], item: it, first: i})
		}
	}
	slices.SortStableFunc(d.window, func(a, b piece) int { return a.first - b.first })
	d.must = d.lacks(d.window)
	switch m.turns {
	case 0:
	case 1:
		d.growth = float64(d.fresh)
	default:
		d.growth = 0.8*m.growth + 0.2*float64(d.fresh)
	}

	cached := slices.DeleteFunc(slices.Clone(m.cached), func(p cupelsession.Prefix) bool {
		return name != m.name || m.now.Sub(p.At) > d.cache.Likely
	})
	caches := d.cache.Likely > 0
	target := m.target(budget, tokensOf(d.window)+d.pins) - d.pins
	low := d.low(target, &m.config, false)
	reduced := slices.ContainsFunc(d.window, func(p piece) bool { return p.smaller })
	for i := range items {
		reduced = reduced || !d.tail[i] && d.place(d.window, i) < 0
	}
	switch {
	case tokensOf(d.window) > target || d.must:
		d.reason = cupelsession.BreakForced
	case len(m.sent) == 0 || !reduced:
	case caches && (len(cached) == 0 || m.beginsAnew(d)):
		d.reason = cupelsession.BreakFree
	case caches && tokensOf(d.window) > low && m.worth(d, target, low):
		d.reason = cupelsession.BreakWorth
	}
	if d.reason != "" {
		if err := m.breaks(t, d, target); err != nil {
			return nil, err
		}
	}

	for d.at < min(len(m.sent), len(d.window)) && samePiece(m.sent[d.at], d.window[d.at]) {
		d.kept += d.window[d.at].item.Tokens()
		d.at++
	}
	d.breaks = d.at < len(m.sent)
	if d.breaks && d.reason == "" {
		d.reason = cupelsession.BreakChanged
	}
	if err := m.chooseTail(t, d); err != nil {
		return nil, err
	}
	m.price(d, cached)
	offset, slope := m.line()
	d.counted = max(0, int(offset+slope*float64(tokensOf(d.window)+tokensOf(d.quotes))+.5))
	return d, nil
}

func samePiece(a, b piece) bool {
	return a.smaller == b.smaller && a.item.Content() == b.item.Content() && (a.smaller || a.item.Kind() == b.item.Kind()) && a.item.Tokens() == b.item.Tokens()
}

// lacks reports whether something must come into the window: what is pinned, or the
// rest of a group.
func (d *draft) lacks(window []piece) bool {
	type where struct {
		in   bool
		note int
	}
	groups := map[string]where{}
	for i, it := range d.items {
		if d.tail[i] {
			continue
		}
		n := d.place(window, i)
		if it.Pinned() && (n < 0 || window[n].smaller) {
			return true
		}
		if it.Group() == "" {
			continue
		}
		now := where{n >= 0, -1}
		if n >= 0 && len(window[n].keys) > 1 {
			now.note = n
		}
		if was, ok := groups[it.Group()]; ok && was != now {
			return true
		}
		groups[it.Group()] = now
	}
	return false
}

// line is counted = offset + slope*estimated by what was reported.
func (m *model) line() (offset, slope float64) {
	slope = 1
	if len(m.reports) < 3 {
		return 0, 1
	}
	var slopes, rest []float64
	for i, a := range m.reports {
		for _, b := range m.reports[i+1:] {
			if d := b[0] - a[0]; max(d, -d) > a[0]/50 {
				slopes = append(slopes, float64(b[1]-a[1])/float64(d))
			}
		}
	}
	if len(slopes) >= 3 {
		slope = max(.5, min(3, middle(slopes)))
	}
	for _, r := range m.reports {
		rest = append(rest, float64(r[1])-slope*float64(r[0]))
	}
	return middle(rest), slope
}

func middle(list []float64) float64 {
	slices.Sort(list)
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}

func greatest(b cupel.ContextBudget) int {
	return min(b.TargetTokens(), b.MaxTokens()-b.OutputReserve())
}

// target is how many tokens the window may have by estimate.
func (m *model) target(budget cupel.ContextBudget, now int) int {
	limit := greatest(budget)
	if len(m.reports) == 0 {
		return limit
	}
	offset, slope := m.line()
	target := max(0, int((float64(limit)-offset)/slope))
	less := 0
	for _, r := range m.reports {
		if r[1] < r[0] {
			less++
		}
	}
	if less < 5 {
		target = min(target, limit)
	}
	last := m.reports[len(m.reports)-1]
	if now > target && now <= limit && float64(last[1])+slope*float64(max(0, now-last[0])) <= float64(limit) {
		return now
	}
	return target
}

// low is the low water mark above what is pinned, with its groups or without.
func (d *draft) low(target int, config *cupelsession.Config, groups bool) int {
	pinned := d.pinned(groups)
	room := max(0, target-pinned)
	return pinned + max(0, min(room-config.ClearAtLeast, int(float64(room)*cmp.Or(config.LowWater, .5))))
}

func (d *draft) pinned(groups bool) int {
	whole := map[string]bool{}
	for _, it := range d.items {
		if groups && it.Pinned() && it.Group() != "" {
			whole[it.Group()] = true
		}
	}
	sum := 0
	for i, it := range d.items {
		if !d.tail[i] && (it.Pinned() || whole[it.Group()]) {
			sum += max(0, it.Tokens())
		}
	}
	return sum
}

func isSystem(it *cupel.ContextItem) bool { return it.Kind() == cupel.KindSystemPrompt }

// beginsAnew reports whether the system prompts are not those that were sent.
func (m *model) beginsAnew(d *draft) bool {
	for n, p := range d.window {
		if !isSystem(p.item) {
			return false
		}
		if n >= len(m.sent) || !samePiece(m.sent[n], p) {
			return true
		}
	}
	return false
}

func (m *model) worth(d *draft, target, low int) bool {
	horizon := float64(m.config.Horizon)
	if horizon < 0 {
		return false
	}
	tokens := float64(tokensOf(d.window))
	if horizon == 0 {
		if m.turns < 2 || m.growth < 1 {
			return false
		}
		horizon = (float64(target) - tokens) / m.growth
	}
	there := 1.0
	if age := m.now.Sub(m.sentAt); age > d.cache.Likely {
		there = 0
	} else if age > d.cache.Sure {
		there = float64(d.cache.Likely-age) / float64(d.cache.Likely-d.cache.Sure)
	}
	goes := tokens - float64(low)
	saves := goes*d.cache.Read*horizon + (1-there)*goes*(d.cache.Write-d.cache.Read)
	return saves > there*float64(low)*(d.cache.Write-d.cache.Read)
}

// price says what the window costs.
func (m *model) price(d *draft, cached []cupelsession.Prefix) {
	r := cupelsession.CacheRequest{Tail: tokensOf(d.quotes), Same: d.at, At: m.now, Held: cached}
	for n, p := range d.window {
		r.Tokens = append(r.Tokens, p.item.Tokens())
		if r.System == n && isSystem(d.items[p.first]) {
			r.System++
		}
	}
	if d.cache.Breakpoints > 0 {
		r.Pinned = d.head()
	}
	d.use, d.cached = use(d.cache, r)
	all := 0
	for _, it := range d.items {
		all += max(0, it.Tokens())
	}
	d.use.Without = float64(all)
	if d.cache.Likely > 0 {
		had := 0
		if len(cached) > 0 {
			had = caches(d.cache, min(m.all, all))
		}
		written := max(0, caches(d.cache, all)-had)
		d.use.Without = d.cache.Read*float64(had) + d.cache.Write*float64(written) + float64(all-had-written)
	}
}

// caches is how many of the tokens at the beginning of a request a cache takes.
func caches(c cupelsession.CacheModel, tokens int) int {
	if tokens < c.MinTokens {
		return 0
	}
	return tokens - tokens%max(1, c.Step)
}

// commit makes a draft the state.
func (m *model) commit(d *draft, u cupelsession.Usage) {
	m.turns++
	m.had = nil
	for i, key := range d.keys {
		if !d.tail[i] {
			m.had = append(m.had, key)
		}
	}
	m.sent, m.name, m.cached, m.growth, m.sentAt = d.window, d.name, d.cached, d.growth, m.now
	m.all = 0
	for _, it := range d.items {
		m.all += max(0, it.Tokens())
	}
	if u.Input == 0 {
		return
	}
	_, slope := m.line()
	expected := slope * float64(d.use.Read)
	m.report(d.use.Read+d.use.Written+d.use.Plain, u.Input)
	if u.Cached && float64(u.Read) < 0.9*expected-float64(d.cache.Step) && u.Written == 0 {
		m.cached = nil
	}
}

// report learns what a provider counted.
func (m *model) report(estimated, counted int) {
	if counted >= estimated/3 {
		m.reports = append(m.reports, [2]int{estimated, counted})
		m.reports = m.reports[max(0, len(m.reports)-20):]
	}
}

// TestCalibration compares how much fits by random reports with what the model says.
func TestCalibration(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var m model
		var reports [][2]int
		base, spread, least, times := 50+rng.IntN(300), 1+rng.IntN(1+int(seed%3*100)), rng.IntN(100), 1+rng.IntN(300)
		for range rng.IntN(26) {
			estimated := base + rng.IntN(spread)
			counted := rng.IntN(30) + estimated*(least+rng.IntN(times))/100
			reports = append(reports, [2]int{estimated, counted})
			m.report(estimated, counted)
			limit := 1 + rng.IntN(2*base)
			now := max(0, m.target(budget(t, limit), 0)-3+rng.IntN(20))
			offset, slope := m.line()
			most, counts := cupelsession.Calibrated(reports, limit, now)
			require.Equal(t, m.target(budget(t, limit), now), most, "%d of %d tokens after the reports %v", now, limit, reports)
			require.Equal(t, max(0, int(offset+slope*float64(now)+.5)), counts, "of %d tokens after the reports %v", now, reports)
		}
	}
}

// alsoOut finds the first key of a window in a state that has items out.
var alsoOut = regexp.MustCompile(`"keys":\[("[^"]+")(.*"out":\[)`)

// TestModel compares turns of random conversations with those of the model, and with those
// of a session that is read from its JSON at each second turn and sees new pointers: the window
// must not depend on what a session keeps to be fast.
func TestModel(t *testing.T) {
	n := 1_500
	switch {
	case testing.Short():
		n = 84
	case os.Getenv("CUPEL_LONG") != "":
		n = 20_000
	}
	reasons := map[string]int{}
	for seed := range uint64(n) {
		w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 7)), now: time.Unix(1e9, 0), size: 60 + int(seed%300), counts: []int{100, 80, 30}[seed%3]}
		config := cupelsession.Config{
			Cache: cupelsession.CacheModel{
				Read: .1, Write: 1.25, Sure: 5 * time.Minute, Likely: 20 * time.Minute, Breakpoints: int(seed % 4), LookBack: int(seed % 5), Latest: int(seed % 3),
				MinTokens: int(seed % 2 * 100), Step: int(seed % 3 * 8), Models: []cupelsession.ModelCache{{Name: "model1", Read: .2, MinTokens: 50}},
			},
			LowWater: []float64{.6, .3, 1, 0}[seed%4], Horizon: []int{0, -1, 4, 40}[seed/3%4],
			ClearAtLeast: []int{0, 0, 40}[seed/7%3],
			Clock:        func() time.Time { return w.now },
		}
		if seed%7 == 0 {
			config.Cache.Sure, config.Cache.Likely = 0, 0
		}
		chooser := func() cupelsession.Chooser { // sessions share no index
			return []cupelsession.Chooser{newest(t), agent.New(nil), relevant(t, "which file has reservation RES7 or b3.go?")}[seed%5%3]
		}
		if seed%5 < 2 { // "ok#1" is not the second "ok"
			config.Key = func(it *cupel.ContextItem) string { return string(it.Kind()) + it.Content() }
		}
		if w.tail = seed%4 == 1; w.tail {
			config.Tail = func(it *cupel.ContextItem) bool { return it.Source() == cupel.SourceRAG }
		}
		s := session(t, chooser(), config)
		m := &model{chooser: chooser(), config: config}
		for turn := range 16 {
			w.change()
			m.now = w.now
			budget, err := cupel.NewContextBudget(w.size+5, w.size, cupel.WithOutputReserve(int(seed%2*10)))
			require.NoError(t, err)
			want, wantErr := m.next(t, w.items, budget, w.model)
			tells := ""
			if wantErr == nil {
				tells = want.told()
			}
			if turn%2 == 0 {
				other := session(t, chooser(), config)
				// What is in the window is not out, though the state says so.
				require.NoError(t, other.UnmarshalJSON([]byte(alsoOut.ReplaceAllString(state(t, s), `"keys":[$1$2$1,`))))
				again, err := other.Next(t.Context(), copies(t, w.items), budget, cupelsession.WithModel(w.model))
				require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), "seed %d turn %d in another process", seed, turn)
				if err == nil {
					require.Equal(t, tells, told(again), "seed %d turn %d in another process", seed, turn)
				}
			}
			got, err := s.Next(t.Context(), w.items, budget, cupelsession.WithModel(w.model))
			require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), "seed %d turn %d", seed, turn)
			if err != nil {
				continue
			}
			require.Equal(t, tells, told(got), "seed %d turn %d", seed, turn)
			if turn == 9 {
				checkReport(t, got, w.items)
			}
			reasons[fmt.Sprint(got.Break != nil, want.reason)]++
			if w.rng.IntN(5) > 0 {
				u := w.usage(got)
				require.NoError(t, got.Commit(u))
				m.commit(want, u)
			}
		}
	}
	t.Log(reasons)
}

// told is all that a turn says of its window.
func told(turn *cupelsession.Turn) string {
	text := ""
	for n, it := range turn.Window {
		text += fmt.Sprintf("%q %d %v\n", it.Content(), it.Tokens(), turn.Entries[n])
	}
	if turn.Break != nil {
		text += fmt.Sprintf("%+v\n", *turn.Break)
	}
	return text + fmt.Sprintf("kept %d, estimate %d, stable %d, %+v", turn.KeptTokens, turn.Estimate, turn.Stable, turn.Cache)
}

func (d *draft) told() string {
	text := ""
	for _, p := range append(slices.Clone(d.window), d.quotes...) {
		var members []int
		for i := range d.items {
			if slices.Contains(p.keys, d.keys[i]) {
				members = append(members, i)
			}
		}
		text += fmt.Sprintf("%q %d %v\n", p.item.Content(), p.item.Tokens(), cupelsession.Entry{Candidates: members, Whole: !p.smaller})
	}
	if d.breaks {
		text += fmt.Sprintf("%+v\n", cupelsession.Break{Reason: d.reason, At: d.at})
	}
	return text + fmt.Sprintf("kept %d, estimate %d, stable %d, %+v", d.kept, d.counted, len(d.window), d.use)
}
