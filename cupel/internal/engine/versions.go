package engine

// versions are the candidates with one key.
type versions struct {
	newest Candidate // by time so far, if timed is set
	last   Candidate
	timed  bool // all have timestamps
}

// resolveVersions finds the stale candidates, and those of them that leave as
// older versions.
//
// It implements RESOLVE-VERSIONS of the Units chapter.
func (s *Set) resolveVersions() {
	var list []versions
	var keyOf []int32 // by candidate, its key in list
	several := false
	for i := range s.Links {
		link := &s.Links[i]
		if link.Version == "" || s.units[s.unitOf[i]].out {
			continue
		}
		if keyOf == nil {
			s.names.reset(len(s.Links))
			keyOf = filled(keyOf, len(s.Links), int32(None))
		}
		c := Candidate(i)
		slot := s.names.named(link.Version, func(at int32) string { return s.Links[list[at].last].Version })
		if slot.item == None {
			slot.item = int32(len(list))
			list = append(list, versions{newest: c, timed: true})
		} else {
			several = true
		}
		keyOf[i] = slot.item
		v := &list[slot.item]
		v.last = c
		v.timed = v.timed && link.Timed
		if v.timed && !link.Time.Before(s.Links[v.newest].Time) {
			v.newest = c
		}
	}
	if !several {
		return
	}
	s.stale, s.newest = filled(s.stale, len(s.Links), false), filled(s.newest, len(s.Links), None)
	for i, key := range keyOf {
		if key == None {
			continue
		}
		newest := list[key].last
		if list[key].timed {
			newest = list[key].newest
		}
		u := &s.units[s.unitOf[i]]
		if s.stale[i] = newest != Candidate(i); s.stale[i] && !u.group && !u.pinned {
			s.newest[i] = newest
		}
	}
}
