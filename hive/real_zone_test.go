package hive_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
)

// realZones returns the zones to test with a real server: some, or with NOCOPY_LONG all.
func realZones(t *testing.T) []*time.Location {
	t.Helper()
	names := []string{"UTC", "America/New_York", "Europe/Berlin", "Europe/Stockholm", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca", "Asia/Kathmandu", "Africa/Monrovia"}
	if os.Getenv("NOCOPY_LONG") != "" {
		names = strings.Fields(readFile(t, "testdata", "zones.txt"))
	}
	zones := []*time.Location{time.FixedZone("", -12600)}
	for _, name := range names {
		if loc, err := time.LoadLocation(name); err == nil {
			zones = append(zones, loc)
		}
	}
	return zones
}

// aroundChanges returns times around changes of the clocks in loc, in seconds since 1970: those
// since 1980, older ones, and those that clocks show twice.
func aroundChanges(loc *time.Location) (recent, old, twice []int64) {
	offset := func(at int64) int64 {
		_, offset := time.Unix(at, 0).In(loc).Zone()
		return int64(offset)
	}
	all := []int64{time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), 0, time.Now().Unix()}
	const day = 24 * 3600
	for at := time.Date(1880, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); at < 1<<31; at += day {
		if offset(at) != offset(at+day) {
			for h := int64(-2); h <= 26; h++ {
				all = append(all, at+h*3600+1800)
			}
		}
	}
	for _, at := range all {
		other := false
		for _, d := range []int64{-day, day} { // the clocks of the day before, and after
			same := at + offset(at) - offset(at+d)
			other = other || same != at && offset(same) == offset(at+d)
		}
		switch {
		case other:
			twice = append(twice, at)
		case at > time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC).Unix():
			recent = append(recent, at)
		default:
			old = append(old, at)
		}
	}
	return recent, old, twice
}

// timesStatement is a statement that has times as rows, as seconds and as TIMESTAMPs.
func timesStatement(times []int64) string {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(times), " ", ","), "[]")
	return "SELECT CAST(x AS BIGINT) AS unix, CAST(CAST(x AS BIGINT) AS TIMESTAMP) AS at FROM (SELECT explode(split('" + list + "', ',')) AS x) t"
}

// TestRealZones: in sessions of many zones, times around all changes of clocks are right, or
// errors. Spark counts their seconds since 1970, and PyHive reads what its clocks show. The server
// of ./spark.sh has another zone of its own.
func TestRealZones(t *testing.T) {
	cfg, err := hive.ParseDSN(realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("NOCOPY_HIVE_SERVER") != "spark" {
		t.Skip("SKIPPED: Hive's TIMESTAMP is no moment of time")
	}
	for _, loc := range realZones(t) {
		cfg.Location = loc
		c := connect(t, cfg)
		recent, old, twice := aroundChanges(loc)
		for name, times := range map[string][]int64{"recent": recent, "old": old, "twice": twice} {
			if len(times) == 0 {
				continue
			}
			r, err := c.Query(t.Context(), timesStatement(times))
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			right := 0
			for r.Next() {
				seconds := r.Batch().Column(0).Int64s()
				for _, text := range r.Batch().Column(1).Strings() {
					texts = append(texts, strings.Clone(text))
				}
				got, err := r.Batch().Column(1).Times()
				switch {
				case name == "recent" && err != nil, name == "twice" && err == nil, err != nil && !errors.Is(err, hive.ErrTimeZone):
					t.Errorf("%v: %s times: %v", loc, name, err)
				}
				for i := range got {
					if right++; got[i].Unix() != seconds[i] {
						t.Errorf("%v: %v, want %v", loc, got[i], time.Unix(seconds[i], 0).In(loc))
					}
				}
			}
			if r.Err() != nil || r.Close() != nil || len(texts) != len(times) {
				t.Fatal(loc, len(texts), r.Err())
			}
			checkWritten(t, c, loc, times)
			t.Logf("%v: %d of %d %s times are right, the others errors", loc, right, len(times), name)
			if os.Getenv("NOCOPY_HIVE_PYTHON") != "" {
				zone := loc.String()
				if zone == "" {
					zone = "-03:30"
				}
				n := 0
				for _, line := range judge(t, cfg, "SET spark.sql.session.timeZone="+zone+"\n"+timesStatement(times)) {
					if strings.Contains(line, "timeZone") { // SET's result
						continue
					}
					if n >= len(texts) || !strings.HasSuffix(line, `,"`+texts[n]+`.000000"]`) {
						t.Fatalf("%v: PyHive reads %s", loc, line)
					}
					n++
				}
				if n != len(texts) {
					t.Error(loc, n, "rows of PyHive, want", len(texts))
				}
			}
		}
		c.Close()
	}
}

// checkWritten checks that the server reads arguments as these times. Those that are errors are
// left out.
func checkWritten(t *testing.T, c *hive.Conn, loc *time.Location, times []int64) {
	t.Helper()
	var args []any
	for _, at := range times {
		args = append(args, time.Unix(at, 0))
	}
	for len(args) > 0 {
		n := min(len(args), 200)
		r, err := c.Query(t.Context(), "SELECT CAST(at AS BIGINT) AS unix FROM (SELECT explode(array(?"+strings.Repeat(",?", n-1)+")) AS at) t", args[:n]...)
		if errors.Is(err, hive.ErrTimeZone) && strings.Contains(err.Error(), "before") {
			args = args[1:] // of a time before the rules are the same
			continue
		}
		if err != nil {
			t.Fatal(loc, err)
		}
		for r.Next() {
			for _, got := range r.Batch().Column(0).Int64s() {
				if want := args[0].(time.Time).Unix(); got != want {
					t.Errorf("%v: %v was written, the server has read %v", loc, time.Unix(want, 0).In(loc), time.Unix(got, 0).In(loc))
				}
				args = args[1:]
			}
		}
		if err := errors.Join(r.Err(), r.Close()); err != nil {
			t.Fatal(loc, err)
		}
	}
}

// TestRealClock: the server's clock and the program's show the same, whatever zones they have.
func TestRealClock(t *testing.T) {
	cfg, err := hive.ParseDSN(realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "America/New_York", "Asia/Tokyo"} {
		if cfg.Location = nil; name != "" {
			cfg.Location = location(t, name)
		}
		c := connect(t, cfg)
		now := time.Now()
		r, err := c.Query(t.Context(), "SELECT current_timestamp() > ? AS later, current_timestamp() < ? AS sooner, current_timestamp() AS now", now.Add(-time.Minute), now.Add(time.Hour))
		if err != nil {
			t.Fatal(name, err)
		}
		if !r.Next() {
			t.Fatal(name, r.Err())
		}
		at, err := r.Batch().Column(2).Times()
		if err != nil || !r.Batch().Column(0).Bools()[0] || !r.Batch().Column(1).Bools()[0] || at[0].Sub(now).Abs() > 10*time.Minute {
			t.Error(name, at, now, err)
		}
		r.Close()
		if err := c.Exec(context.Background(), "SET TIME ZONE Asia/Kathmandu"); err != nil {
			if err = c.Exec(context.Background(), "SET TIME ZONE 'Asia/Kathmandu'"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Query(t.Context(), "SELECT ? AS x", now); !errors.Is(err, hive.ErrTimeZone) {
			t.Error(name, err)
		}
	}
}
