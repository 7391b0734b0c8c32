package hive_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestHostile: replies that do not make sense are errors that say where and why.
func TestHostile(t *testing.T) {
	noArm := func(tcli.TColumn) {}
	withRows := fetchOf()
	withRows.GetResults().NewRows(1)
	serialized := fetchOf()
	serialized.GetResults().SetBinaryColumns([]byte{1})
	noType := schemaOf(hive.TypeInt)
	noType.GetSchema().GetColumns().At(0).GetTypeDesc().NewTypes(0)
	noSchema := tcli.NewTGetResultSetMetadataResp()
	noSchema.NewStatus().SetStatusCode(tcli.TStatusCode_SUCCESS_STATUS)
	two := schemaOf(hive.TypeBigInt, hive.TypeString)
	for _, h := range []struct {
		want   string
		schema tcli.TGetResultSetMetadataResp
		fetch  tcli.TFetchResultsResp
	}{
		{"3 columns, where the schema has 2", two, fetchOf(int64Column(nil, 1), stringColumn(nil, "a"), int64Column(nil, 1))},
		{"1 columns, where the schema has 2", two, fetchOf(int64Column(nil, 1))},
		{"others have 2", two, fetchOf(int64Column(nil, 1, 2), stringColumn(nil, "a"))},
		{"others have 0", two, fetchOf(int64Column(nil), stringColumn(nil, "a"))},
		{`the column "c0" is BIGINT`, two, fetchOf(stringColumn(nil, "1"), stringColumn(nil, "a"))},
		{`columns[1]`, two, fetchOf(int64Column(nil, 1), int64Column(nil, 1))},
		{"columns[0]", two, fetchOf(noArm, stringColumn(nil, "a"))},
		{"1 rows, where columns are expected", two, withRows},
		{"serialize.in.tasks", two, serialized},
		{"has no type", noType, fetchOf()},
		{"schema", noSchema, fetchOf()},
	} {
		s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: h.schema, Fetches: []tcli.TFetchResultsResp{h.fetch}}}}
		c := connect(t, serve(t, s))
		r, err := c.Query(t.Context(), "q")
		if err == nil {
			if r.Next() {
				t.Errorf("%s: a batch of %d rows", h.want, r.Batch().Len())
			}
			err = r.Err()
			r.Close()
		}
		var e *nocopy.Error
		if !errors.As(err, &e) || !errors.Is(err, hive.ErrReply) || !strings.Contains(err.Error(), h.want) || e.Path == "" {
			t.Errorf("%v, want %q", err, h.want)
		}
		if s.Operations() != 0 {
			t.Error("the query stays open")
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestNulls: bitmaps may be shorter than rows, longer, or have bits after the last row, in
// batches of all sizes.
func TestNulls(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		rows := 1 + random.IntN(100)
		bitmap := make([]byte, random.IntN(16))
		for i := range bitmap {
			bitmap[i] = byte(random.Uint32())
		}
		isNull := func(i int) bool { return i/8 < len(bitmap) && bitmap[i/8]>>(i%8)&1 != 0 }
		values := make([]int64, rows)
		for i := range values {
			values[i] = int64(i)
		}
		s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeBigInt), Fetches: []tcli.TFetchResultsResp{fetchOf(int64Column(bitmap, values...))}}}}
		cfg := serve(t, s)
		cfg.BatchRows = 1 + random.IntN(40)
		r, err := connect(t, cfg).Query(t.Context(), "q")
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for r.Next() {
			c := r.Batch().Column(0)
			count := 0
			for i, v := range c.Int64s() {
				if v != int64(at) || c.IsNull(i) != isNull(at) || c.Nulls().Has(i) != isNull(at) {
					t.Fatalf("row %d of %d, bitmap %x: %d, %v", at, rows, bitmap, v, c.IsNull(i))
				}
				if c.IsNull(i) {
					count++
				}
				at++
			}
			if c.Nulls().Count() != count {
				t.Fatalf("%d NULLs, want %d: %x", c.Nulls().Count(), count, c.Nulls())
			}
		}
		if at != rows || r.Err() != nil {
			t.Error(at, rows, r.Err())
		}
		r.Close()
	}
}

// TestZonesOutlive: times keep their zones when the replies that named them are gone, and later
// replies with other zones are read right.
func TestZonesOutlive(t *testing.T) {
	const replies, rows = 40, 1000
	zone := func(n int) string { return fmt.Sprintf("+%02d:30", n%14) }
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeTimestampTZ), Fetch: func(_ context.Context, n int, _ int64) tcli.TFetchResultsResp {
		if n == replies {
			return fakehive.Empty()
		}
		return fetchOf(stringColumn(nil, slices.Repeat([]string{"2026-11-26 10:20:30 " + zone(n)}, rows)...))
	}}}}
	r, err := connect(t, serve(t, s)).Query(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var kept []time.Time
	for r.Next() {
		times, err := r.Batch().Column(0).Times()
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, times[0])
	}
	if err := r.Err(); err != nil || len(kept) != replies {
		t.Fatal(len(kept), err)
	}
	for n, at := range kept {
		if name, offset := at.Zone(); name != zone(n) || offset != n%14*3600+1800 {
			t.Errorf("reply %d: the zone %s, %d s", n, name, offset)
		}
	}
}

// TestHugeReply: a server that sends all rows in one reply, although fewer were asked for, gives
// batches of the usual size, or is refused if the reply exceeds the limit.
func TestHugeReply(t *testing.T) {
	const rows = 1_000_000
	values, texts := make([]int64, rows), make([]string, rows)
	for i := range values {
		values[i], texts[i] = int64(i), "text"
	}
	huge := fetchOf(int64Column(nil, values...), stringColumn(nil, texts...))
	asked := make(chan int64, 10)
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeBigInt, hive.TypeString), Fetch: func(_ context.Context, n int, maxRows int64) tcli.TFetchResultsResp {
		asked <- maxRows
		if n > 0 {
			return fakehive.Empty()
		}
		return huge
	}}}}
	cfg := serve(t, s)
	r, err := connect(t, cfg).Query(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for r.Next() {
		b := r.Batch()
		if b.Len() > 10_000 {
			t.Fatal(b.Len())
		}
		texts := b.Column(1).Strings()
		for i, v := range b.Column(0).Int64s() {
			if v != int64(at) || texts[i] != "text" {
				t.Fatal(at, v, texts[i])
			}
			at++
		}
	}
	if at != rows || r.Err() != nil || r.Close() != nil {
		t.Error(at, r.Err())
	}
	if n := <-asked; n != 1000 {
		t.Error("asked first for", n)
	}

	cfg.MaxReply = 1 << 20
	for _, sasl := range []bool{false, true} {
		if sasl {
			cfg = serveSASL(t, s)
			cfg.MaxReply = 1 << 20
		}
		r, err = connect(t, cfg).Query(t.Context(), "q")
		if err != nil {
			t.Fatal(err)
		}
		if r.Next() || !errors.Is(r.Err(), nocopy.ErrLimit) || !strings.Contains(r.Err().Error(), "Config.MaxReply is 1048576") {
			t.Error(r.Err())
		}
		r.Close()
	}
}

// TestBatchBytes: the client asks for fewer rows if they are large, and for more if they are
// small, but not for many more at once.
func TestBatchBytes(t *testing.T) {
	var asked []int64
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeString), Fetch: func(_ context.Context, n int, maxRows int64) tcli.TFetchResultsResp {
		asked = append(asked, maxRows)
		text := strings.Repeat("x", 10_000)
		if n > 3 {
			text = "x"
		}
		if n == 9 {
			return fakehive.Empty()
		}
		return fetchOf(stringColumn(nil, slices.Repeat([]string{text}, int(maxRows))...))
	}}}}
	cfg := serve(t, s)
	cfg.BatchRows, cfg.BatchBytes = 4000, 1_000_000
	r, err := connect(t, cfg).Query(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	r.Close()
	// One reply is fetched ahead
	want := []int64{1000, 99, 99, 99, 99, 792, 4000, 4000, 4000, 4000}
	if !slices.Equal(asked, want) {
		t.Error(asked, want)
	}
}
