package cupel

// versions are the items with one key.
type versions struct {
	newest int32 // so far
	last   int32 // the last item, not the newest
	timed  bool  // all have timestamps
}

// resolveVersions finds the stale candidates, and those of them that leave as
// older versions.
//
// It implements RESOLVE-VERSIONS of the Units chapter.
func (s *unitSet) resolveVersions(scratch *unitScratch) {
	s.stale, s.newest = s.stale[:0], s.newest[:0]
	list := scratch.versions[:0]
	several := false
	for i, item := range s.items {
		key := item.VersionOf()
		if key == "" || s.units[s.unitOf[i]].out {
			continue
		}
		if len(list) == 0 {
			scratch.names.reset(len(s.items))
			s.newest = resize(s.newest, len(s.items)) // for now: by candidate, its key in list
			for n := range s.newest {
				s.newest[n] = none
			}
		}
		slot := scratch.names.named(key, func(at int32) string { return s.items[list[at].last].units.versionOf })
		if slot.item == none {
			slot.item = int32(len(list))
			list = append(list, versions{newest: int32(i), timed: true})
		} else {
			several = true
		}
		s.newest[i] = slot.item
		v := &list[slot.item]
		v.last = int32(i)
		v.timed = v.timed && item.has&hasTimestamp != 0
		if v.timed && !item.timestamp.Before(s.items[v.newest].timestamp) {
			v.newest = int32(i)
		}
	}
	scratch.versions = list
	if !several {
		s.newest = s.newest[:0]
		return
	}
	s.stale = resize(s.stale, len(s.items))
	for i, key := range s.newest {
		s.stale[i], s.newest[i] = false, none
		if key == none {
			continue
		}
		newest := list[key].last
		if list[key].timed {
			newest = list[key].newest
		}
		u := &s.units[s.unitOf[i]]
		if s.stale[i] = newest != int32(i); s.stale[i] && !u.group && !u.pinned {
			s.newest[i] = newest
		}
	}
}
