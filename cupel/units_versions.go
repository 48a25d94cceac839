package cupel

// versions are the items with one key.
type versions struct {
	newest int32 // so far
	last   int32 // the last item, not the newest
	count  int32
	timed  bool // all have timestamps
}

// resolveVersions finds the stale candidates, and those of them that leave as
// older versions.
//
// It implements RESOLVE-VERSIONS of the Units chapter.
func (s *unitSet) resolveVersions() {
	s.stale, s.newest = s.stale[:0], s.newest[:0]
	var byKey map[string]*versions
	for i, item := range s.items {
		key := item.VersionOf()
		if key == "" || s.units[s.unitOf[i]].out {
			continue
		}
		if byKey == nil {
			byKey = make(map[string]*versions)
		}
		v := byKey[key]
		if v == nil {
			byKey[key] = &versions{newest: int32(i), last: int32(i), count: 1, timed: item.has&hasTimestamp != 0}
			continue
		}
		v.count++
		v.last = int32(i)
		v.timed = v.timed && item.has&hasTimestamp != 0
		if v.timed && !item.timestamp.Before(s.items[v.newest].timestamp) {
			v.newest = int32(i)
		}
	}
	several := false
	for _, v := range byKey {
		several = several || v.count > 1
	}
	if !several {
		return
	}
	s.stale, s.newest = resize(s.stale, len(s.items)), resize(s.newest, len(s.items))
	for i, item := range s.items {
		s.stale[i], s.newest[i] = false, none
		u := &s.units[s.unitOf[i]]
		if item.VersionOf() == "" || u.out {
			continue
		}
		v := byKey[item.units.versionOf]
		newest := v.last
		if v.timed {
			newest = v.newest
		}
		if s.stale[i] = newest != int32(i); s.stale[i] && !u.group && !u.pinned {
			s.newest[i] = newest
		}
	}
}
