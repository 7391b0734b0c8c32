package fakehive

import (
	"strconv"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
)

// This file has the time zone of a session, as on Spark. All sessions of a Server have the same.

// setZone sets the zone by its name, or by an offset such as "+05:30".
func (s *Server) setZone(name string) {
	name = strings.Clone(name) // of a request
	loc, err := time.LoadLocation(name)
	if err != nil {
		t, err := time.Parse("-07:00", name)
		if err != nil {
			return
		}
		_, offset := t.Zone()
		loc = time.FixedZone(name, offset)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Zone = loc
}

// Clock returns what a clock in the session's zone shows at a time.
func (s *Server) Clock(t time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	loc := s.Zone
	if loc == nil {
		loc = time.UTC
	}
	return t.In(loc).Format("2006-01-02 15:04:05.999999999")
}

// zoneQuery returns the query for a statement about the session's zone, nil if it is another one.
func (s *Server) zoneQuery(sql string) *Query {
	if name, ok := strings.CutPrefix(sql, "SET TIME ZONE "); ok {
		s.setZone(strings.Trim(name, "'"))
		return &Query{}
	}
	const setting = "spark.sql.session.timeZone"
	asksName := sql == "SET "+setting
	switch {
	case s.Silent && (asksName || strings.HasPrefix(sql, "SELECT concat_ws(',',")):
		return s.Answer
	case asksName:
		s.mu.Lock()
		defer s.mu.Unlock()
		name := "UTC"
		if s.Zone != nil {
			name = s.Zone.String()
		}
		return Texts(setting, name)
	}
	list, ok := strings.CutPrefix(sql, "SELECT concat_ws(',',")
	if !ok {
		return nil
	}
	var clocks []string
	for number := range strings.SplitSeq(list, "from_unixtime(") {
		number, _, _ = strings.Cut(number, ")")
		if unix, err := strconv.ParseInt(number, 10, 64); err == nil {
			clocks = append(clocks, s.Clock(time.Unix(unix, 0)))
		}
	}
	return Texts(strings.Join(clocks, ","))
}

// Texts returns a query whose result is a row of texts.
func Texts(texts ...string) *Query {
	q := &Query{Schema: tcli.NewTGetResultSetMetadataResp()}
	q.Schema.NewStatus().SetStatusCode(success)
	schema, rows := q.Schema.NewSchema().NewColumns(0), Empty()
	columns := rows.GetResults().NewColumns(0)
	for i, text := range texts {
		c := schema.AppendNew()
		c.SetColumnName("text")
		c.SetPosition(int32(i + 1))
		c.NewTypeDesc().NewTypes(1).At(0).NewPrimitiveEntry().SetType(tcli.TTypeId_STRING_TYPE)
		v := columns.AppendNew().NewStringVal()
		v.SetValues([]string{text})
		v.SetNulls(nil)
	}
	q.Fetches = []tcli.TFetchResultsResp{rows}
	return q
}
