package hive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
)

// This file keeps the session's time zone equal to Config.Location. Servers write a TIMESTAMP in
// the session's zone, without naming it, and read literals so. A wrong zone would therefore give
// wrong times silently. The zone is set when the session is opened, and checked before the first
// time is read or written. Statements that may change it are noticed: then it is checked again.

// The names of the setting. Each server refuses the other's, or does not know it.
const (
	sparkZone = "spark.sql.session.timeZone"
	hiveZone  = "hive.local.time.zone"
	hiveconf  = "set:hiveconf:"
)

// location returns the zone that Config.Location or Config.Settings name; UTC if they name none.
func (c *Config) location() *time.Location {
	if c.Location != nil {
		return c.Location
	}
	for _, key := range []string{sparkZone, hiveZone} {
		if z := loadZone(c.Settings[key]); z != nil {
			return z
		}
	}
	return time.UTC
}

// refusal returns err if it is the server's, else nil.
func refusal(err error) *Error {
	var e *Error
	if errors.Is(err, ErrSession) || !errors.As(err, &e) {
		return nil
	}
	return e
}

// sessionZone is what a Conn knows of its session's time zone.
type sessionZone struct {
	loc     *time.Location
	turn    chan struct{} // holds a value while the server is being asked
	refused error         // the server's answer to the setting, if it was refused

	mu      sync.Mutex
	changes int   // statements that may change the zone: each counts when it begins and ends
	running int   // such statements that have not ended
	asked   int   // changes when the server was asked; -1 if it never was
	since   int64 // the server's zone is loc from this time on, in seconds since 1970
	wrong   error // it is not

	isHive bool // its TIMESTAMP has no zone, and its literals no offsets
}

// zoneMark is the state of a sessionZone at a moment.
type zoneMark struct {
	changes int
	right   bool // the zone is known to be loc
}

func (z *sessionZone) mark() zoneMark {
	z.mu.Lock()
	defer z.mu.Unlock()
	return zoneMark{z.changes, z.running == 0 && z.asked == z.changes && z.wrong == nil}
}

// count notes the beginning (1) or the end (-1) of a statement that may change the zone.
func (z *sessionZone) count(n int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.running = max(z.running+n, 0) // an older session's end after renew
	z.changes++
}

// renew records that there is a new session. Its zone is that of the first one. If that one's may
// have changed before the server was asked, it is asked again.
func (z *sessionZone) renew() {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.changes > 0 {
		z.changes, z.running, z.asked = z.changes+1, 0, -1
	}
}

// mayChangeZone reports whether a statement may change settings of the session.
func mayChangeZone(sql string) bool {
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '-' && strings.HasPrefix(sql[i:], "--"):
			if i = endOfLine(sql, i); sql[i-1] == '\\' { // the comment goes on, for Spark
				return true
			}
		case c == '/' && strings.HasPrefix(sql[i:], "/*"):
			i = endOfComment(sql, i)
		case c == '$', c >= utf8.RuneSelf: // a variable, which may hold anything; a space of Unicode
			return true
		case c > ' ':
			word := sql[i:min(i+len("execute"), len(sql))]
			for _, changing := range []string{"set", "reset", "execute", "begin"} {
				if len(word) >= len(changing) && strings.EqualFold(word[:len(changing)], changing) {
					return true
				}
			}
			return false
		}
	}
	return false
}

// check asks the server for the session's zone, unless that is known. It returns the number of
// changes for which the zone is right.
func (c *Conn) checkZone(ctx context.Context) (changes int, err error) {
	z := &c.zone
	select {
	case z.turn <- struct{}{}:
		defer func() { <-z.turn }()
	case <-ctx.Done():
		return 0, hiveError("asking for the session's time zone", context.Cause(ctx))
	}
	z.mu.Lock()
	changes, running, known, wrong := z.changes, z.running, z.asked == z.changes, z.wrong
	z.mu.Unlock()
	switch {
	case running > 0:
		return 0, fmt.Errorf("%w: a statement that may change the session's zone is still running", ErrTimeZone)
	case known:
		return changes, wrong
	}
	since, err := c.askZone(ctx)
	if err != nil && !errors.Is(err, ErrTimeZone) {
		return 0, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.changes != changes {
		return 0, fmt.Errorf("%w: a statement that may change the session's zone has begun meanwhile", ErrTimeZone)
	}
	z.asked, z.since, z.wrong = changes, since, err
	return changes, err
}

// zoneSpan is the state of the zone before and after the fetch of a reply.
type zoneSpan struct{ before, after zoneMark }

// checkSpan returns an error unless the zone was right during a fetch.
func (c *Conn) checkSpan(ctx context.Context, s zoneSpan) error {
	if s.before.right && s.before.changes == s.after.changes {
		return nil
	}
	now, err := c.checkZone(ctx)
	switch {
	case err != nil:
		return err
	case s.after.changes == now && (s.before.changes == now || s.before.right && s.before.changes == now-2):
		return nil // no change, or one statement's between two states that are right
	}
	return fmt.Errorf("%w: statements that may have changed the session's zone ran while rows were fetched", ErrTimeZone)
}

// inRange returns an error for a time for which the server's zone may have another offset.
func (z *sessionZone) inRange(unix int64) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if unix < z.since {
		return fmt.Errorf("%w: before %v the server's rules for the zone are others than this program's: use UTC for Config.Location", ErrTimeZone, time.Unix(z.since, 0).UTC())
	}
	return nil
}

// setHiveZone sets the zone of a new session, if the server is Hive. Spark has got it with the
// settings of the session.
func (c *Conn) setHiveZone(ctx context.Context, name string) error {
	software, err := c.info(ctx, tcli.TGetInfoType_CLI_DBMS_NAME)
	if err != nil && refusal(err) == nil {
		return err
	}
	c.zone.isHive = strings.Contains(strings.ToLower(software), "hive")
	if _, ok := c.cfg.Settings[hiveconf+hiveZone]; ok || !c.zone.isHive {
		return nil
	}
	_, err = c.ask(ctx, "SET "+hiveZone+"="+name, 0)
	if e := refusal(err); e != nil {
		c.zone.refused = e
		return nil
	}
	return err
}

// askZone asks the server for the zone, and returns since when it is Config.Location.
func (c *Conn) askZone(ctx context.Context) (since int64, err error) {
	if c.zone.isHive {
		since, err = c.askHive(ctx)
	} else {
		since, err = c.askSpark(ctx)
	}
	if refusal(err) != nil || errors.Is(err, ErrReply) {
		err = fmt.Errorf("%w: the server does not tell the session's zone: %w", ErrTimeZone, err)
	}
	return since, err
}

// askSpark asks for the zone's name. If it has no changes of the clocks, that is enough; else the
// server's rules for it may be others, and its clocks are compared.
func (c *Conn) askSpark(ctx context.Context) (since int64, err error) {
	want, err := zoneName(c.zone.loc)
	if err != nil {
		return 0, err
	}
	name, err := c.ask(ctx, "SET "+sparkZone, 1)
	switch {
	case err != nil && refusal(err) == nil && !errors.Is(err, ErrReply):
		return 0, err
	case name == want && isFixed(c.zone.loc):
		return always, nil
	}
	if since, err = c.askClocks(ctx); err == nil && since != always && name != want {
		// The past differs, and it is not the same zone
		err = fmt.Errorf("%w: the session's zone is %.60q, not Config.Location, %v", ErrTimeZone, name, c.zone.loc)
	}
	return since, err
}

// askClocks asks what clocks of the session's zone show at certain times.
func (c *Conn) askClocks(ctx context.Context) (since int64, err error) {
	instants := zoneProbes(c.zone.loc)
	var sql strings.Builder
	sql.WriteString("SELECT concat_ws(','")
	for _, at := range instants {
		fmt.Fprintf(&sql, ",from_unixtime(%d)", at)
	}
	sql.WriteString(") AS clocks")
	text, err := c.ask(ctx, sql.String(), 0)
	if err != nil {
		return 0, err
	}
	clocks := strings.Split(text, ",")
	if len(clocks) != len(instants) {
		return 0, badReply(rowSetPath, "%d times, where %d were asked for: %.60q", len(clocks), len(instants), text)
	}
	shown := make([]int64, len(clocks))
	for i, text := range clocks {
		w, ok := parseWall(text)
		if !ok {
			return 0, badReply(rowSetPath, "%.60q is not a time", text)
		}
		shown[i] = w.Unix()
	}
	return c.zone.compare(instants, func(i int) int64 { return shown[i] })
}

// askHive is askSpark for Hive, whose from_unixtime has its own opinion of zones. The session's
// zone is that of current_timestamp and of conversions.
func (c *Conn) askHive(ctx context.Context) (since int64, err error) {
	text, err := c.ask(ctx, "SET "+hiveZone, 0)
	if err != nil {
		return 0, err
	}
	_, name, ok := strings.Cut(text, "=")
	switch {
	case !ok: // "… is undefined": before Hive 3, the server's zone is used for everything
		return c.askClocks(ctx)
	case strings.EqualFold(name, "LOCAL"): // the server's, which values of this type show
		if text, err = c.ask(ctx, "SELECT CAST(CAST(CAST('2000-01-01 00:00:00' AS TIMESTAMP) AS TIMESTAMP WITH LOCAL TIME ZONE) AS STRING) AS clock", 0); err != nil {
			return 0, err
		}
		w, _ := parseWall(text)
		name = w.zone
	}
	loc := loadZone(name)
	if loc == nil {
		return 0, fmt.Errorf("%w: the session's zone is %.60q, which this program does not know", ErrTimeZone, name)
	}
	instants := zoneProbes(c.zone.loc)
	since, err = c.zone.compare(instants, func(i int) int64 {
		_, offset := time.Unix(instants[i], 0).In(loc).Zone()
		return instants[i] + int64(offset)
	})
	if err == nil && since != always {
		err = fmt.Errorf("%w: the session's zone is %v, not Config.Location, %v", ErrTimeZone, loc, c.zone.loc)
	}
	return since, err
}

// ask returns a text of the first row of a statement's result; "" if the statement has no result.
// If ctx ends meanwhile, the session's end ends the statement.
func (c *Conn) ask(ctx context.Context, sql string, column int) (string, error) {
	op := c.execute(ctx, sql)
	if op.err != nil {
		return "", op.err
	}
	r := newResult(ctx, c, op)
	r.asks = true
	defer r.Close()
	switch {
	case r.Next():
	case r.err != nil:
		return "", r.err
	case len(r.columns) == 0:
		return "", nil
	default:
		return "", badReply(rowSetPath, "no row")
	}
	if column >= len(r.columns) || r.columns[column].Type != TypeString || r.batch.Column(column).IsNull(0) {
		return "", badReply(rowSetPath, "%v, where a text is expected", r.columns)
	}
	return strings.Clone(r.batch.Column(column).Strings()[0]), nil
}

// zoneProbes returns the times at which the server's zone is compared with loc, in seconds since
// 1970, in order. Before 1850 no two regions of the world have the same time. Later there are two
// for each year, and those beside each change of loc's clocks.
func zoneProbes(loc *time.Location) []int64 {
	const first, last = 1880, 2037 // many zones have no rules before, some none after
	var at []int64
	for _, year := range []int{1800, 1850} {
		at = append(at, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	}
	for year := first; year <= last; year++ {
		for _, month := range []time.Month{time.January, time.July} {
			at = append(at, time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix())
		}
	}
	end := time.Date(last, 12, 31, 0, 0, 0, 0, time.UTC).Unix()
	for t := at[2]; ; {
		_, to, offset := stretch(loc, t)
		if to >= end {
			break
		}
		if _, _, next := stretch(loc, to); next != offset {
			at = append(at, to-1, to)
		}
		t = to
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// always is a time before all others.
const always = math.MinInt64

// compare compares what the server's clock shows at each of these times with what one in loc
// shows. It returns since when they are equal. It is an error if they are not today.
func (z *sessionZone) compare(instants []int64, shows func(i int) int64) (since int64, err error) {
	wrong := -1
	for i, at := range instants {
		if _, offset := time.Unix(at, 0).In(z.loc).Zone(); shows(i) != at+int64(offset) {
			wrong = i
		}
	}
	switch {
	case wrong < 0:
		return always, nil
	case wrong+1 < len(instants) && instants[wrong+1] <= time.Now().Unix():
		return instants[wrong+1], nil
	}
	const clock = "2006-01-02 15:04:05"
	at := time.Unix(instants[wrong], 0).UTC()
	err = fmt.Errorf("%w: the session's zone is not Config.Location: at %s UTC its clock shows %s, and that of %v %s", ErrTimeZone,
		at.Format(clock), time.Unix(shows(wrong), 0).UTC().Format(clock), z.loc, at.In(z.loc).Format(clock))
	if z.refused != nil {
		err = fmt.Errorf("%w; the server has refused to set it: %w", err, z.refused)
	}
	return 0, err
}

// checkTimes checks the session's zone before a statement with these times is run. It returns the
// statement with an offset added to each time that clocks show twice.
func (c *Conn) checkTimes(ctx context.Context, l *literals, text, sql string, args []any) (string, error) {
	if _, err := c.checkZone(ctx); err != nil {
		return "", err
	}
	for _, t := range l.times {
		if err := c.zone.inRange(t.Unix()); err != nil {
			return "", err
		}
	}
	switch {
	case l.twice.IsZero():
		return text, nil
	case c.zone.isHive:
		return "", fmt.Errorf("%w: the argument %v: %w; use UTC for Config.Location", ErrTimeZone, l.twice, errRepeated)
	}
	l.offsets = true
	return l.bind(sql, args)
}
