package store

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
	"github.com/nocopythrift/nocopythrift/examples/ingest/prom"
)

const (
	maxQueries      = 4         // under way; others wait
	maxQuerySamples = 5_000_000 // in memory, for each query
	maxQueryText    = 64 << 10
	maxResult       = 8 << 20 // bytes of a reply
	queryTimeout    = 30 * time.Second
)

// Query evaluates PromQL.
func (s *Store) Query(ctx context.Context, args api.IngesterQueryArgs, result api.IngesterQueryResult) error {
	select {
	case s.queries <- struct{}{}:
		defer func() { <-s.queries }()
	case <-ctx.Done():
		return ctx.Err()
	}
	at := s.options.now()
	if args.GetTime() != 0 {
		at = time.UnixMilli(args.GetTime())
	}
	if len(args.GetPromql()) > maxQueryText {
		return badQuery("the query is too long")
	}
	text := strings.Clone(args.GetPromql()) // the engine may log it later
	q, err := s.engine.NewInstantQuery(ctx, s.db, nil, text, at)
	if err != nil {
		return badQuery(err.Error())
	}
	defer q.Close()
	r := q.Exec(ctx)
	if r.Err != nil {
		return badQuery(r.Err.Error())
	}
	return answer(r.Value, result)
}

// answer puts the value of a query into the reply.
func answer(v parser.Value, result api.IngesterQueryResult) error {
	var all promql.Matrix
	switch v := v.(type) {
	case promql.Scalar:
		all = promql.Matrix{{Floats: []promql.FPoint{{T: v.T, F: v.V}}}}
	case promql.Vector:
		for _, s := range v {
			if s.H == nil { // some functions make histograms
				all = append(all, promql.Series{Metric: s.Metric, Floats: []promql.FPoint{{T: s.T, F: s.F}}})
			}
		}
	case promql.Matrix:
		all = v
	default:
		return badQuery("the result is a " + string(v.Type()))
	}
	size := 0
	for _, s := range all {
		size += 16 + 24*len(s.Floats)
		s.Metric.Range(func(l labels.Label) { size += 16 + len(l.Name) + len(l.Value) })
	}
	if size > maxResult {
		return badQuery("the result is too large")
	}
	list := result.NewSuccess(len(all))
	for i, s := range all {
		addLabels(list.At(i), s.Metric)
		samples := list.At(i).NewSamples(len(s.Floats))
		for j, p := range s.Floats {
			samples.At(j).SetTimestamp(p.T)
			samples.At(j).SetValue(p.F)
		}
	}
	return nil
}

func addLabels(to prom.TimeSeries, l labels.Labels) {
	list := to.NewLabels(l.Len())
	i := 0
	l.Range(func(l labels.Label) {
		list.At(i).SetName(l.Name)
		list.At(i).SetValue(l.Value)
		i++
	})
}

func badQuery(text string) error {
	e := api.NewBadQuery()
	e.SetMessage(text)
	return e
}
