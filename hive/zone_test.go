package hive

import (
	"errors"
	"os"
	"sort"
	"strings"
	"testing"
	"time"
)

// allZones returns the time zones of the world, by the names of testdata/zones.txt; in the short
// form every seventh, and some with unusual changes.
func allZones(t *testing.T) []*time.Location {
	t.Helper()
	names, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	var zones []*time.Location
	for i, name := range strings.Fields(string(names)) {
		if os.Getenv("NOCOPY_LONG") == "" && i%7 != 0 && !strings.Contains("America/Jujuy America/Sao_Paulo Asia/Kathmandu Africa/Monrovia Pacific/Apia Australia/Lord_Howe Antarctica/Troll Europe/Dublin", name) {
			continue
		}
		if loc, err := time.LoadLocation(name); err == nil { // newer systems lack some
			zones = append(zones, loc)
		}
	}
	if len(zones) < 80 {
		t.Fatal(len(zones), "zones")
	}
	return zones
}

// changesOf looks at each day from 1880 to 2045, and returns when a zone's clocks are changed.
func changesOf(loc *time.Location) (at []time.Time) {
	offset := func(unix int64) int {
		_, o := time.Unix(unix, 0).In(loc).Zone()
		return o
	}
	const day = 24 * 3600
	first, last := time.Date(1880, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2045, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	before := offset(first)
	for t := first; t < last; t += day {
		after := offset(t + day)
		if after == before {
			continue
		}
		i := sort.Search(day, func(i int) bool { return offset(t+int64(i)) != before })
		at = append(at, time.Unix(t+int64(i), 0).In(loc))
		before = after
	}
	return at
}

// showing returns the times at which clocks in loc show what they show in UTC at wall. It tries
// all offsets that the zone has in these days.
func showing(loc *time.Location, wall time.Time) (times []time.Time) {
	tried := map[int]bool{}
	for h := -30; h <= 30; h++ {
		_, offset := wall.Add(time.Duration(h) * time.Hour).In(loc).Zone()
		if tried[offset] {
			continue
		}
		tried[offset] = true
		at := wall.Add(-time.Duration(offset) * time.Second).In(loc)
		if _, there := at.Zone(); there == offset {
			times = append(times, at)
		}
	}
	return times
}

const clockLayout = "2006-01-02 15:04:05.999999999"

// TestClockChanges reads and writes what clocks show around all changes of clocks in all zones. A
// time is the right one, or there is an error.
func TestClockChanges(t *testing.T) {
	read, repeated, skipped := 0, 0, 0
	for _, loc := range allZones(t) {
		reader := timeReader{session: clock{loc: loc}}
		for _, change := range changesOf(loc) {
			for _, d := range []time.Duration{-24 * time.Hour, -2 * time.Hour, -time.Hour, -30 * time.Minute, -1, 0, 1, 30 * time.Minute, time.Hour, 24 * time.Hour} {
				at := change.Add(d).In(loc)
				_, offset := at.Zone()
				_, before := change.Add(-1).Zone()
				for _, wall := range []time.Time{at.UTC().Add(time.Duration(offset) * time.Second), at.UTC().Add(time.Duration(before) * time.Second)} {
					text := wall.Format(clockLayout)
					got, err := reader.read(text)
					switch want := showing(loc, wall); {
					case len(want) == 1 && err == nil && got.Equal(want[0]) && got.Location() == loc:
						read++
					case len(want) > 1 && errors.Is(err, errRepeated) && errors.Is(err, ErrTimeZone):
						repeated++
					case len(want) == 0 && errors.Is(err, errSkipped) && errors.Is(err, ErrTimeZone):
						skipped++
					default:
						t.Fatalf("%v: %s is %v %v, want %v", loc, text, got, err, want)
					}
				}
				l := literals{zone: clock{loc: loc}}
				text, err := l.bind("?", []any{at.UTC()})
				if want := "TIMESTAMP '" + at.Format(clockLayout) + "'"; err != nil || text != want {
					t.Fatalf("%v: %v is %s %v, want %s", loc, at, text, err, want)
				}
				if _, err := reader.read(at.Format(clockLayout)); errors.Is(err, errRepeated) != !l.twice.IsZero() {
					t.Fatalf("%v: %v is shown twice: %v, %v", loc, at, l.twice, err)
				}
				if l.offsets = true; !l.twice.IsZero() {
					text, err = l.bind("?", []any{at.UTC()})
					if want := "TIMESTAMP '" + at.Format(clockLayout) + offsetName(offset) + "'"; err != nil || text != want {
						t.Fatalf("%v: %v is %s %v, want %s", loc, at, text, err, want)
					}
				}
			}
		}
	}
	t.Log(read, "times,", repeated, "repeated,", skipped, "skipped")
	if read < 50_000 || repeated < 5_000 || skipped < 5_000 {
		t.Error("too few")
	}
}

// TestDays: a date is the first moment of the day in its zone, also where that is not midnight. A
// day that a zone has left out is an error.
func TestDays(t *testing.T) {
	for _, d := range []struct{ zone, day, want string }{
		{"UTC", "2020-06-01", "2020-06-01T00:00:00Z"},
		{"America/New_York", "2020-06-01", "2020-06-01T00:00:00-04:00"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00"}, // from 0:00 to 1:00
		{"America/Havana", "2020-11-01", "2020-11-01T00:00:00-04:00"},    // from 1:00 to 0:00
		{"Pacific/Apia", "2011-12-29", "2011-12-29T00:00:00-10:00"},
		{"Pacific/Apia", "2011-12-30", ""},
		{"Pacific/Apia", "2011-12-31", "2011-12-31T00:00:00+14:00"},
	} {
		loc, err := time.LoadLocation(d.zone)
		if err != nil {
			t.Fatal(err)
		}
		r := timeReader{session: clock{loc: loc}}
		at, err := r.read(d.day)
		switch {
		case d.want == "" && errors.Is(err, ErrTimeZone):
		case err != nil || at.Format(time.RFC3339) != d.want:
			t.Error(d.zone, d.day, at, err)
		}
	}
	// The days around each change, in all zones
	for _, loc := range allZones(t) {
		r := timeReader{session: clock{loc: loc}}
		for _, change := range changesOf(loc) {
			for d := -1; d <= 1; d++ {
				day := change.AddDate(0, 0, d).Format("2006-01-02")
				at, err := r.read(day)
				if err != nil || at.Format("2006-01-02") != day || at.Add(-1).Format("2006-01-02") == day && at.Hour() != 0 {
					t.Fatal(loc, day, at, err)
				}
			}
		}
	}
}

// TestCompareZones: a server whose zone is another one is found out.
func TestCompareZones(t *testing.T) {
	zones := allZones(t)
	now, refused, partly := time.Now(), 0, 0
	for i, loc := range zones {
		probes := zoneProbes(loc)
		for k := range zones {
			if (i+k)%29 != 0 { // some of the pairs
				continue
			}
			theirs := zones[k]
			z := sessionZone{loc: loc}
			since, err := z.compare(probes, func(i int) int64 {
				_, offset := time.Unix(probes[i], 0).In(theirs).Zone()
				return probes[i] + int64(offset)
			})
			if err != nil {
				if refused++; !errors.Is(err, ErrTimeZone) || !strings.Contains(err.Error(), loc.String()) {
					t.Fatal(err)
				}
				continue
			}
			if since > now.Unix() {
				t.Fatal(loc, theirs, since)
			}
			partly++
			if since != always { // then the name decides: only rules of the same zone may differ
				continue
			}
			for _, change := range append(changesOf(loc), changesOf(theirs)...) {
				for _, at := range []time.Time{change, change.Add(-1), change.AddDate(0, 1, 0)} {
					_, a := at.In(loc).Zone()
					_, b := at.In(theirs).Zone()
					if a != b {
						t.Errorf("%v and %v differ at %v", loc, theirs, at)
					}
				}
			}
		}
	}
	t.Log(refused, "pairs of zones differ,", partly, "only until some day")
	if refused < 200 || partly < 5 {
		t.Error("too few")
	}
}

// TestOtherRules: if a server's rules for a zone differ in the past, times before are refused, and
// later ones are the same. The pairs stand for zones whose history before 1970 Java does not have.
func TestOtherRules(t *testing.T) {
	for _, pair := range [][2]string{{"Europe/Stockholm", "Europe/Berlin"}, {"Europe/Amsterdam", "Europe/Brussels"}, {"Atlantic/Reykjavik", "Africa/Abidjan"}, {"EST5EDT", "America/New_York"}} {
		loc, err1 := time.LoadLocation(pair[0])
		theirs, err2 := time.LoadLocation(pair[1])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		probes := zoneProbes(loc)
		z := sessionZone{loc: loc}
		since, err := z.compare(probes, func(i int) int64 {
			_, offset := time.Unix(probes[i], 0).In(theirs).Zone()
			return probes[i] + int64(offset)
		})
		if err != nil || since == always && loc.String() != "EST5EDT" || since > time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC).Unix() {
			t.Error(pair, time.Unix(since, 0), err)
		}
		for _, change := range append(changesOf(loc), changesOf(theirs)...) {
			for _, at := range []time.Time{change, change.Add(-1)} {
				_, a := at.In(loc).Zone()
				_, b := at.In(theirs).Zone()
				if a != b && at.Unix() >= since {
					t.Errorf("%v: they differ at %v, after %v", pair, at, time.Unix(since, 0).UTC())
				}
			}
		}
		z.since = since
		if err := z.inRange(since); err != nil {
			t.Error(err)
		}
		if err := z.inRange(since - 1); since != always && !errors.Is(err, ErrTimeZone) {
			t.Error(err)
		}
	}
}

func TestZoneName(t *testing.T) {
	for name, want := range map[string]string{"Europe/Berlin": "Europe/Berlin", "UTC": "UTC", "Etc/GMT+5": "-05:00", "GMT": "UTC"} {
		loc, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := zoneName(loc); got != want || err != nil {
			t.Error(name, got, err)
		}
	}
	for loc, want := range map[*time.Location]string{time.FixedZone("", 5*3600+1800): "+05:30", time.FixedZone("x", -10): "-00:00:10"} {
		if got, err := zoneName(loc); got != want || err != nil {
			t.Error(loc, got, err)
		}
	}
	for sql, want := range map[string]bool{
		"SET TIME ZONE 'UTC'": true, " set\tx=y": true, "-- c\n/* d */ RESET": true, "${hiveconf:x}": true, "EXECUTE IMMEDIATE 'SET x=y'": true, "BEGIN SET x=y; END": true,
		"\u00a0SET x=y": true, "\u3000\nreset": true, "-- c \\\nSELECT 1\nSET x=y": true, "-- c\rSET x=y": true, "/* /* */ */ SET x=y": true,
		"SELECT 'SET'": false, "": false, "-- SET": false, "WITH a AS (SELECT 1) SELECT * FROM a": false, "USE reset": false, "se": false,
	} {
		if mayChangeZone(sql) != want {
			t.Error(sql)
		}
	}
}
