package hive_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// clocks returns a server whose sessions are in a zone unless they set another, with these times
// as the rows of the query "q", one for each reply.
func clocks(loc *time.Location, times ...time.Time) *fakehive.Server {
	s := &fakehive.Server{Zone: loc}
	s.Queries = map[string]*fakehive.Query{
		"q": {Schema: schemaOf(hive.TypeTimestamp), Fetch: func(_ context.Context, n int, _ int64) tcli.TFetchResultsResp {
			if n >= len(times) {
				return fakehive.Empty()
			}
			return fetchOf(stringColumn(nil, s.Clock(times[n])))
		}},
		"SET hive.x=y": {},
	}
	return s
}

// timesOf returns the times of "q", one by one.
func timesOf(t *testing.T, c *hive.Conn) (times []time.Time, err error) {
	t.Helper()
	r, err := c.Query(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		if text := r.Batch().Column(0).Strings(); len(text) != 1 { // can be read in any case
			t.Error(text)
		}
		batch, err := r.Batch().Column(0).Times()
		if err != nil {
			return nil, err
		}
		times = append(times, batch...)
	}
	return times, r.Err()
}

var noon = time.Date(2020, 6, 1, 12, 0, 0, 5000, time.UTC)

// TestSessionZone: sessions have Config.Location, whatever the server's zone is. If the server
// keeps its own, times are errors, and texts are not.
func TestSessionZone(t *testing.T) {
	york, berlin := location(t, "America/New_York"), location(t, "Europe/Berlin")
	for _, z := range []struct {
		loc      *time.Location
		settings map[string]string
		want     *time.Location
	}{
		{nil, nil, time.UTC},
		{berlin, nil, berlin},
		{time.FixedZone("x", -5*3600-1800), nil, time.FixedZone("x", -5*3600-1800)},
		{nil, map[string]string{"spark.sql.session.timeZone": "America/New_York"}, york},
		{nil, map[string]string{"spark.sql.session.timeZone": "+05:30"}, time.FixedZone("+05:30", 5*3600+1800)},
		{nil, map[string]string{"hive.local.time.zone": "Europe/Berlin"}, berlin},
	} {
		for _, server := range []*time.Location{nil, york, location(t, "Asia/Kathmandu")} {
			for _, keep := range []bool{false, true} {
				s := clocks(server, noon)
				s.KeepZone = keep
				cfg := serve(t, s)
				cfg.Location, cfg.Settings = z.loc, z.settings
				c := connect(t, cfg)
				times, err := timesOf(t, c)
				wrong := keep && s.Clock(noon) != noon.In(z.want).Format("2006-01-02 15:04:05.999999999")
				switch {
				case wrong && !errors.Is(err, hive.ErrTimeZone), !wrong && (err != nil || len(times) != 1 || !times[0].Equal(noon)):
					t.Errorf("%v, the server in %v, which it keeps: %v: %v %v", z.want, server, keep, times, err)
				case !wrong && times[0].Location().String() != z.want.String():
					t.Error(times[0].Location(), z.want)
				}
				want := "SELECT TIMESTAMP '" + noon.In(z.want).Format("2006-01-02 15:04:05.999999999") + "'"
				s.Queries[want] = &fakehive.Query{}
				if err := c.Exec(t.Context(), "SELECT ?", noon); wrong != errors.Is(err, hive.ErrTimeZone) || !wrong && err != nil {
					t.Error(z.want, server, keep, err)
				}
				if wrong && s.Operations() != 0 {
					t.Error(s.Operations(), "operations")
				}
			}
		}
	}
}

// TestSessionZoneErrors: the error says what both clocks show, and why the zone was not set.
func TestSessionZoneErrors(t *testing.T) {
	s := clocks(location(t, "America/New_York"), noon)
	s.KeepZone = true
	refused := 0
	s.Open = func(req tcli.TOpenSessionReq, resp tcli.TOpenSessionResp) {
		if _, ok := req.GetConfiguration().Get("set:hiveconf:spark.sql.session.timeZone"); ok {
			refused++
			resp.NewStatus().SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
			resp.GetStatus().SetErrorMessage("Cannot modify spark.sql.session.timeZone at runtime")
		}
	}
	c := connect(t, serve(t, s))
	_, err := timesOf(t, c)
	for _, part := range []string{"session's zone", "2037-12-31", "UTC", "Cannot modify"} {
		if !errors.Is(err, hive.ErrTimeZone) || !strings.Contains(strings.ReplaceAll(err.Error(), "2037-07-01", "2037-12-31"), part) {
			t.Errorf("%q is missing: %v", part, err)
		}
	}
	if refused != 1 {
		t.Error(refused, "attempts")
	}
	n := s.Count("ExecuteStatement")
	if timesOf(t, c); s.Count("ExecuteStatement") != n+1 {
		t.Error("the server was asked again")
	}

	// A zone that the program has asked for itself is not left out
	cfg := serve(t, s)
	cfg.Settings = map[string]string{"spark.sql.session.timeZone": "Asia/Tokyo"}
	if _, err := hive.Connect(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "Cannot modify") {
		t.Error(err)
	}

	// Servers that do not say
	for _, answer := range []*fakehive.Query{nil, {}, fakehive.Texts("nonsense"), {Schema: schemaOf(hive.TypeTimestamp), Fetches: []tcli.TFetchResultsResp{fetchOf(stringColumn(nil, "1970-01-01 00:00:00"))}}, {Schema: schemaOf(hive.TypeBigInt), Fetches: []tcli.TFetchResultsResp{fetchOf(int64Column(nil, 1))}}} {
		s := clocks(nil, noon)
		s.Silent, s.Answer = true, answer
		if _, err := timesOf(t, connect(t, serve(t, s))); !errors.Is(err, hive.ErrTimeZone) {
			t.Error(answer, err)
		}
	}
	cfg.Settings, cfg.Location = nil, time.Local
	if _, offset := noon.Local().Zone(); offset == 0 {
		t.Log("this machine's zone is UTC")
	} else if _, err := hive.Connect(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "time.LoadLocation") {
		t.Error(err)
	}
}

// TestSessionZoneChanges: statements that change the zone are noticed, also between two batches of
// a result.
func TestSessionZoneChanges(t *testing.T) {
	var times []time.Time
	for i := range 30 {
		times = append(times, noon.AddDate(0, i, 0))
	}
	s := clocks(nil, times...)
	c := connect(t, serve(t, s))
	read := func() error {
		got, err := timesOf(t, c)
		for i := range got {
			if !got[i].Equal(times[i]) {
				t.Errorf("%v, want %v", got[i], times[i])
			}
		}
		return err
	}
	exec := func(sql string) {
		t.Helper()
		if err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	asked := func() int { return s.Count("GetResultSetMetadata") }
	if err := read(); err != nil {
		t.Fatal(err)
	}
	n := asked()
	if err := read(); err != nil || asked() != n+1 {
		t.Error(err, "the zone was asked for again")
	}
	exec("SET hive.x=y")
	if err := read(); err != nil || asked() != n+3 {
		t.Error(err, "the zone was not asked for again")
	}
	exec("SET TIME ZONE 'Asia/Tokyo'")
	if err := read(); !errors.Is(err, hive.ErrTimeZone) {
		t.Error(err)
	}
	if err := c.Exec(t.Context(), "SELECT ?", noon); !errors.Is(err, hive.ErrTimeZone) {
		t.Error(err)
	}
	exec("SET TIME ZONE 'UTC'")
	if err := read(); err != nil {
		t.Error(err)
	}

	// In the middle of a result: what was fetched before is right, later rows are errors
	for _, back := range []bool{false, true} {
		r, err := c.Query(t.Context(), "q")
		if err != nil {
			t.Fatal(err)
		}
		good := 0
		for i := 0; r.Next(); i++ {
			got, err := r.Batch().Column(0).Times()
			switch {
			case err == nil && got[0].Equal(times[i]):
				good++
			case !errors.Is(err, hive.ErrTimeZone):
				t.Errorf("batch %d is %v %v, want %v", i, got, err, times[i])
			}
			if i == 5 {
				exec("SET TIME ZONE 'Asia/Tokyo'")
			}
			if i == 9 && back {
				exec("SET TIME ZONE 'UTC'")
			}
		}
		if want := map[bool]int{false: 6, true: 24}[back]; good < want || good > want+3 {
			t.Error(back, good, "batches were read")
		}
		r.Close()
		exec("SET TIME ZONE 'UTC'")
	}

	// A statement that has not ended leaves the zone open
	s.Queries["SET slow"] = &fakehive.Query{Status: running}
	r, err := c.Start(t.Context(), "SET slow")
	if err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, hive.ErrTimeZone) || !strings.Contains(err.Error(), "running") {
		t.Error(err)
	}
	r.Close()
	if err := read(); err != nil {
		t.Error(err)
	}
	if err := c.Exec(t.Context(), "SET unknown"); err == nil {
		t.Error("an unknown statement")
	}
	if err := read(); err != nil {
		t.Error(err)
	}
}

// TestSQLZone: database/sql reads and writes times in the session's zone.
func TestSQLZone(t *testing.T) {
	s := clocks(nil, noon)
	open := func(query string) *sql.DB {
		db, err := sql.Open("hive", "hive://"+s.Serve(t, &rpc.Server{})+"/?auth=NOSASL"+query)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	var at time.Time
	var text string
	var maybe sql.NullTime
	for query, want := range map[string]string{"": "2020-06-01T12:00:00.000005Z", "&loc=America/New_York": "2020-06-01T08:00:00.000005-04:00", "&loc=Asia%2FKolkata": "2020-06-01T17:30:00.000005+05:30",
		"&spark.sql.session.timeZone=Europe/Berlin": "2020-06-01T14:00:00.000005+02:00"} {
		db := open(query)
		for _, dest := range []any{&at, &text, &maybe} {
			if err := db.QueryRow("q").Scan(dest); err != nil {
				t.Error(query, err)
			}
		}
		if got := at.Format(time.RFC3339Nano); got != want || text != want || !maybe.Time.Equal(noon) {
			t.Error(query, got, text, maybe)
		}
	}
	s.Zone, s.KeepZone = location(t, "America/New_York"), true
	db := open("")
	if err := db.QueryRow("q").Scan(&at); !errors.Is(err, hive.ErrTimeZone) {
		t.Error(at, err)
	}
	if err := db.QueryRow("q").Scan(&text); !errors.Is(err, hive.ErrTimeZone) { // text of a time
		t.Error(text, err)
	}
	if _, err := db.Exec("SELECT ?", noon); !errors.Is(err, hive.ErrTimeZone) {
		t.Error(err)
	}
	for _, bad := range []string{"loc=Mars/Olympus", "loc=Local", "loc="} {
		if _, err := hive.ParseDSN("h?" + bad); err == nil || !strings.Contains(err.Error(), "time zone") {
			t.Error(bad, err)
		}
	}
}

// TestZones: around changes of clocks, times are right or errors, in sessions of many zones.
func TestZones(t *testing.T) {
	for _, name := range []string{"UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca", "Asia/Kathmandu", "+05:30"} {
		loc, err := time.LoadLocation(name)
		if err != nil {
			loc = time.FixedZone(name, 19800)
		}
		var times []time.Time
		for at := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2030; at = at.Add(time.Hour) {
			_, before := at.In(loc).Zone()
			if _, after := at.Add(time.Hour).In(loc).Zone(); before != after || len(times) == 0 {
				for m := -180; m <= 180; m += 30 {
					times = append(times, at.Add(time.Duration(m)*time.Minute))
				}
			}
		}
		cfg := serve(t, clocks(nil, times...))
		cfg.Location = loc
		r, err := connect(t, cfg).Query(t.Context(), "q")
		if err != nil {
			t.Fatal(err)
		}
		good, bad := 0, 0
		for ; r.Next(); times = times[1:] {
			switch got, err := r.Batch().Column(0).Times(); {
			case err == nil && got[0].Equal(times[0]):
				good++
			case errors.Is(err, hive.ErrTimeZone) && strings.Contains(err.Error(), "twice"):
				bad++
			default:
				t.Errorf("%v: %v %v, want %v", loc, got, err, times[0].In(loc))
			}
		}
		if r.Err() != nil || len(times) > 0 || bad > good/4 {
			t.Error(loc, good, bad, len(times), r.Err())
		}
	}
}

// onHive makes a server answer as Hive does.
func onHive(s *fakehive.Server, zone, local string) *fakehive.Server {
	s.Info = func(resp tcli.TGetInfoResp) { resp.NewInfoValue().SetStringValue("Apache Hive") }
	s.KeepZone = true // of Spark's setting
	s.Queries["SET hive.local.time.zone"] = fakehive.Texts(zone)
	s.Queries["SELECT CAST(CAST(CAST('2000-01-01 00:00:00' AS TIMESTAMP) AS TIMESTAMP WITH LOCAL TIME ZONE) AS STRING) AS clock"] = fakehive.Texts(local)
	return s
}

// TestHiveZone: on Hive the zone is set by a statement, and told by its name.
func TestHiveZone(t *testing.T) {
	const undefined = "hive.local.time.zone is undefined"
	for _, h := range []struct {
		zone, local string
		sets        bool // the server lets a session set its zone
		wrong       bool
	}{
		{"hive.local.time.zone=America/New_York", "", true, false},
		{"hive.local.time.zone=US/Eastern", "", false, false},
		{"hive.local.time.zone=UTC", "", false, true},
		{"hive.local.time.zone=LOCAL", "2000-01-01 00:00:00.0 America/New_York", false, false},
		{"hive.local.time.zone=LOCAL", "2000-01-01 00:00:00.0 Asia/Tokyo", false, true},
		{"hive.local.time.zone=LOCAL", "nonsense", false, true},
		{"hive.local.time.zone=Mars/Olympus", "", false, true},
		{undefined, "", false, false}, // clocks show the server's
	} {
		york := location(t, "America/New_York")
		s := onHive(clocks(york, noon), h.zone, h.local)
		if h.sets {
			s.Queries["SET hive.local.time.zone=America/New_York"] = &fakehive.Query{}
		}
		cfg := serve(t, s)
		cfg.Location = york
		c := connect(t, cfg)
		times, err := timesOf(t, c)
		if h.wrong && !errors.Is(err, hive.ErrTimeZone) || !h.wrong && (err != nil || !times[0].Equal(noon)) {
			t.Error(h, times, err)
		}
		if h.wrong || h.zone == undefined {
			continue
		}
		// Hive's literals have no offsets, so a time that clocks show twice can't be written
		twice := time.Date(2020, 11, 1, 6, 30, 0, 0, time.UTC)
		if err := c.Exec(t.Context(), "SELECT ?", twice); !errors.Is(err, hive.ErrTimeZone) || !strings.Contains(err.Error(), "twice") {
			t.Error(err)
		}
	}
	// Spark's have
	s := clocks(nil, noon)
	s.Queries["SELECT TIMESTAMP '2020-11-01 01:30:00-05:00', TIMESTAMP '2020-11-01 01:30:00-04:00', 1"] = &fakehive.Query{}
	cfg := serve(t, s)
	cfg.Location = location(t, "America/New_York")
	if err := connect(t, cfg).Exec(t.Context(), "SELECT ?, ?, ?", time.Date(2020, 11, 1, 6, 30, 0, 0, time.UTC), time.Date(2020, 11, 1, 5, 30, 0, 0, time.UTC), 1); err != nil {
		t.Error(err)
	}
}
