package hive

import (
	"fmt"
	"math"
	"time"
)

// This file finds the times at which the clocks of a zone show something.

// clock gives the times at which a zone's clocks show something. It remembers a stretch of time
// without changes.
type clock struct {
	loc      *time.Location
	from, to int64 // what the clocks show in that stretch, some days within its ends
	offset   int64
}

// spread is more than the difference between the offsets of any two zones, in seconds.
const spread = 2 * 24 * 3600

// at returns the first time at which clocks show wall, in seconds since 1970, and how many such
// times there are. If there is none, it is the time at which wall was left out.
func (c *clock) at(wall int64) (unix int64, n int) {
	if wall >= c.from && wall < c.to {
		return wall - c.offset, 1
	}
	skipped := false
	from, to, offset := stretch(c.loc, wall-spread)
	for {
		switch at := wall - offset; {
		case at >= from && at < to:
			if n++; n == 1 {
				unix = at
			}
			c.from, c.to, c.offset = from+offset+spread, to+offset-spread, offset
		case at < from && n == 0 && !skipped:
			unix, skipped = from, true
		}
		if to > wall+spread {
			return unix, n
		}
		from = to
		_, to, offset = stretch(c.loc, from)
	}
}

// stretch returns a stretch of time without changes of the clocks in loc, which unix is in, and
// their offset. It may end where there is no change.
func stretch(loc *time.Location, unix int64) (from, to, offset int64) {
	t := time.Unix(unix, 0).In(loc)
	_, seconds := t.Zone()
	from, to = math.MinInt64/2, math.MaxInt64/2
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		from = min(start.Unix(), unix)
	}
	if !end.IsZero() {
		// On the last day of a leap year, Go's end may be the one before
		if to = end.Unix(); to <= unix {
			to = t.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Unix()
		}
	}
	return from, to, int64(seconds)
}

// isFixed reports whether the clocks of a zone are never changed.
func isFixed(loc *time.Location) bool {
	from, to := time.Unix(0, 0).In(loc).ZoneBounds()
	return from.IsZero() && to.IsZero()
}

// zoneName returns the name of a zone as servers know it. Zones whose clocks are never changed
// are named by their offset.
func zoneName(loc *time.Location) (string, error) {
	if isFixed(loc) {
		_, offset := time.Unix(0, 0).In(loc).Zone()
		if offset == 0 {
			return "UTC", nil
		}
		return offsetName(offset), nil
	}
	if name := loc.String(); name != "" && name != "Local" {
		return name, nil
	}
	return "", fmt.Errorf("hive: Config.Location is %q, a zone without a name that servers know: load it with time.LoadLocation, by a name such as Europe/Berlin", loc)
}

// offsetName returns an offset in seconds as a zone's name, such as "-05:00".
func offsetName(offset int) string {
	sign, n := '+', offset
	if offset < 0 {
		sign, n = '-', -offset
	}
	name := fmt.Sprintf("%c%02d:%02d", sign, n/3600, n/60%60)
	if n%60 != 0 {
		name += fmt.Sprintf(":%02d", n%60)
	}
	return name
}
