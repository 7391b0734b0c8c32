package hive

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// wall is a time as a server writes it: what a calendar and a clock show.
type wall struct {
	time.Time        // with these numbers in UTC
	zone      string // the zone's name, "" if there is none; it aliases the text
	isDate    bool   // there is no time of day
}

// parseWall parses a DATE, a TIMESTAMP or a TIMESTAMP WITH LOCAL TIME ZONE as servers write them,
// such as "2026-11-26", "2026-11-26 10:20:30.5" and "2026-11-26 10:20:30.5 Europe/Berlin".
func parseWall(s string) (w wall, ok bool) {
	date, rest, ok := parseDate(s)
	if !ok {
		return w, false
	}
	if rest == "" {
		return wall{Time: date, isDate: true}, true
	}
	clock, rest, ok := parseClock(rest)
	if !ok {
		return w, false
	}
	return wall{date.Add(clock), strings.TrimPrefix(rest, " "), false}, true
}

// parseDate parses a date at the beginning of s, such as 2026-11-26. It returns what comes after
// it.
func parseDate(s string) (date time.Time, rest string, ok bool) {
	rest, negative := strings.CutPrefix(s, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	year, rest, ok1 := number(rest, 4, 9)
	month, rest, ok2 := numberAfter(rest, '-')
	day, rest, ok3 := numberAfter(rest, '-')
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > 31 {
		return date, "", false
	}
	if negative {
		year = -year
	}
	date = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return date, rest, date.Day() == day
}

// parseClock parses a time of day at the beginning of s, such as " 10:20:30.5" or "T10:20". It
// returns the time since midnight and what comes after it.
func parseClock(s string) (clock time.Duration, rest string, ok bool) {
	separator := s[0]
	if separator != ' ' && separator != 'T' {
		return 0, "", false
	}
	hour, rest, ok1 := numberAfter(s, separator)
	minute, rest, ok2 := numberAfter(rest, ':')
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return 0, "", false
	}
	second, nano := 0, 0
	if strings.HasPrefix(rest, ":") {
		if second, rest, ok = numberAfter(rest, ':'); !ok || second > 59 {
			return 0, "", false
		}
	}
	if strings.HasPrefix(rest, ".") {
		if nano, rest, ok = fraction(rest[1:]); !ok {
			return 0, "", false
		}
	}
	return time.Duration((hour*60+minute)*60+second)*time.Second + time.Duration(nano), rest, true
}

// timeReader reads the times of a column in the session's zone. It keeps the other zones that
// texts name: reading one from the system's files takes a while. A column has few zones; the
// cache ends with the result.
type timeReader struct {
	session clock
	byName  map[string]*clock
}

// Reasons why a text gives no time.
var (
	errNoTime   = errors.New("it is no time")
	errRepeated = errors.New("clocks there showed it twice, since they were put back")
	errSkipped  = errors.New("clocks there never showed it, since they were put forward")
)

// read returns the time that s says. Without a zone it is in the session's. A date is the first
// moment of that day.
func (r *timeReader) read(s string) (t time.Time, err error) {
	w, ok := parseWall(s)
	if !ok {
		return t, errNoTime
	}
	zone := &r.session
	if w.zone != "" {
		if zone = r.find(w.zone); zone == nil {
			return t, errNoTime
		}
	}
	if zone.loc == time.UTC {
		return w.Time, nil
	}
	unix, n := zone.at(w.Unix())
	t = time.Unix(unix, int64(w.Nanosecond())).In(zone.loc)
	switch {
	case n == 1, w.isDate && t.Day() == w.Day():
		return t, nil
	case n > 1:
		err = errRepeated
	default:
		err = errSkipped
	}
	return time.Time{}, fmt.Errorf("%w: %q in %v: %w; read it as text (Column.Strings, or CAST in SQL), or use UTC for Config.Location", ErrTimeZone, s, zone.loc, err)
}

// number reads a number of least to most digits.
func number(s string, least, most int) (n int, rest string, ok bool) {
	i := 0
	for ; i < len(s) && i < most && s[i]-'0' <= 9; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n, s[i:], i >= least
}

// numberAfter reads a number of one or two digits after the byte c.
func numberAfter(s string, c byte) (n int, rest string, ok bool) {
	if s == "" || s[0] != c {
		return 0, s, false
	}
	return number(s[1:], 1, 2)
}

// fraction reads up to 9 digits as nanoseconds.
func fraction(s string) (nano int, rest string, ok bool) {
	nano, rest, ok = number(s, 1, 9)
	for range 9 - (len(s) - len(rest)) {
		nano *= 10
	}
	return nano, rest, ok
}

const maxZones = 1000

// find returns the zone with a name such as "Europe/Berlin", "Z" or "+02:00"; nil if there is
// none. The name may alias a reply: the zone and the cache keep a copy.
func (r *timeReader) find(name string) *clock {
	if z, ok := r.byName[name]; ok {
		return z
	}
	name = strings.Clone(name)
	var z *clock
	if loc := loadZone(name); loc != nil {
		z = &clock{loc: loc}
	}
	if r.byName == nil {
		r.byName = map[string]*clock{}
	}
	if len(r.byName) < maxZones {
		r.byName[name] = z
	}
	return z
}

// loadZone returns the zone with a name that servers use, nil if there is none.
func loadZone(name string) *time.Location {
	if name == "Z" {
		return time.UTC
	}
	for _, prefix := range []string{"UTC", "GMT", "UT", ""} {
		offset, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		for _, layout := range []string{"-07:00", "-07:00:00", "-07"} {
			if t, err := time.Parse(layout, offset); err == nil {
				_, seconds := t.Zone()
				return time.FixedZone(name, seconds)
			}
		}
	}
	if name == "" || name == "Local" { // would be UTC, or this machine's
		return nil
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return z
}
