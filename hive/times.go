package hive

import (
	"strings"
	"time"
)

// parseTime parses a DATE, a TIMESTAMP or a TIMESTAMP WITH LOCAL TIME ZONE as servers write them,
// such as "2026-11-26", "2026-11-26 10:20:30.5" and "2026-11-26 10:20:30.5 Europe/Berlin".
// Without a zone the time is in UTC.
func parseTime(s string, zones *zoneCache) (t time.Time, ok bool) {
	rest, negative := strings.CutPrefix(s, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	year, rest, ok1 := number(rest, 4, 9)
	month, rest, ok2 := numberAfter(rest, '-')
	day, rest, ok3 := numberAfter(rest, '-')
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > 31 {
		return t, false
	}
	if negative {
		year = -year
	}
	if day > 28 && time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() != day {
		return t, false
	}
	if rest == "" {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
	}
	separator := rest[0]
	if separator != ' ' && separator != 'T' {
		return t, false
	}
	hour, rest, ok1 := numberAfter(rest, separator)
	minute, rest, ok2 := numberAfter(rest, ':')
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return t, false
	}
	second, nano := 0, 0
	if strings.HasPrefix(rest, ":") {
		if second, rest, ok = numberAfter(rest, ':'); !ok || second > 59 {
			return t, false
		}
	}
	if strings.HasPrefix(rest, ".") {
		if nano, rest, ok = fraction(rest[1:]); !ok {
			return t, false
		}
	}
	zone := time.UTC
	if rest = strings.TrimPrefix(rest, " "); rest != "" {
		if zone = zones.find(rest); zone == nil {
			return t, false
		}
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, nano, zone), true
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

// zoneCache keeps the zones of a column: reading one from the system's files takes a while. A
// column has few zones; the cache ends with the result.
type zoneCache struct{ byName map[string]*time.Location }

const maxZones = 1000

// find returns the zone with a name such as "Europe/Berlin", "Z" or "+02:00"; nil if there is
// none. The name may alias a reply: the zone and the cache keep a copy.
func (c *zoneCache) find(name string) *time.Location {
	if z, ok := c.byName[name]; ok {
		return z
	}
	name = strings.Clone(name)
	z := loadZone(name)
	if c.byName == nil {
		c.byName = map[string]*time.Location{}
	}
	if len(c.byName) < maxZones {
		c.byName[name] = z
	}
	return z
}

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
	if name == "Local" { // would be this machine's
		return nil
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return z
}
