//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
	"github.com/nocopythrift/nocopythrift/examples/ingest/prom"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// series is the labels of one, names and values.
type series [][2]string

// newSeries returns n series, about as node_exporter has them: five labels that all have, and some
// of their own.
func newSeries(n int) []series {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(least, most int) string {
		b := make([]byte, least+r.IntN(most-least+1))
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	}
	metrics := make([]string, 220)
	for i := range metrics {
		metrics[i] = text(15, 40)
	}
	all := make([]series, n)
	for i := range all {
		all[i] = series{
			{"__name__", metrics[r.IntN(len(metrics))]}, {"instance", fmt.Sprintf("host-%d", 100+i/750)},
			{"job", "node_exporter"}, {"replica", "0"}, {"revision", "r0"},
		}
		for range r.IntN(4) {
			all[i] = append(all[i], [2]string{"x" + text(2, 11), text(1, 40)})
		}
		all[i] = append(all[i], [2]string{"z", fmt.Sprint(i)})
	}
	return all
}

// requests returns the frames of a round for each front end, whose first samples are of time t.
func (c config) requests(all []series, t int64) map[*front][][]byte {
	of := map[*front][][]byte{}
	for _, f := range fronts {
		for k := range int64(c.scrapes) {
			for from := 0; from < len(all); from += c.perRequest {
				to := min(from+c.perRequest, len(all))
				// A frame's length, then version 1, a call, its name and its number
				b := []byte("\x00\x00\x00\x00\x80\x01\x00\x01\x00\x00\x00\x05write\x00\x00\x00\x07")
				b = f.encode(b, all[from:to], t+k, float64(k))
				binary.BigEndian.PutUint32(b, uint32(len(b)-4))
				of[f] = append(of[f], b)
			}
		}
	}
	return of
}

// readReplies reads replies of calls that succeeded.
func readReplies(conn net.Conn, n int) error {
	const header = 4 + 4 + len("write") + 4
	r := bufio.NewReader(conn)
	for range n {
		var length [4]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return err
		}
		b := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		if len(b) != header+1 || b[3] != 2 {
			return fmt.Errorf("the reply is %q", b)
		}
	}
	return nil
}

// encodeThrift returns the arguments of Ingester.write.
func encodeThrift(dst []byte, all []series, t int64, v float64) []byte {
	args := api.NewIngesterWriteArgs()
	defer args.Release()
	fill(args.NewRequest(), all, t, v)
	return args.Message().AppendTo(dst)
}

// encodeRequest returns a request alone, Thrift Binary.
func encodeRequest(all []series, t int64, v float64) []byte {
	req := prom.NewWriteRequest()
	defer req.Release()
	fill(req, all, t, v)
	return req.Message().AppendTo(nil)
}

func fill(req prom.WriteRequest, all []series, t int64, v float64) {
	list := req.NewTimeseries(len(all))
	for i, s := range all {
		labels := list.At(i).NewLabels(len(s))
		for j, l := range s {
			labels.At(j).SetName(l[0])
			labels.At(j).SetValue(l[1])
		}
		p := list.At(i).NewSamples(1).At(0)
		p.SetValue(v)
		p.SetTimestamp(t)
	}
}

// encodeProtobuf returns a request, Protocol Buffers.
func encodeProtobuf(all []series, t int64, v float64) []byte {
	field := func(dst []byte, n int, b []byte) []byte {
		return append(binary.AppendUvarint(append(dst, byte(n<<3|2)), uint64(len(b))), b...)
	}
	var req []byte
	for _, s := range all {
		var one []byte
		for _, l := range s {
			one = field(one, 1, field(field(nil, 1, []byte(l[0])), 2, []byte(l[1])))
		}
		sample := binary.LittleEndian.AppendUint64([]byte{1<<3 | 1}, math.Float64bits(v))
		one = field(one, 2, binary.AppendUvarint(append(sample, 2<<3), uint64(t)))
		req = field(req, 1, one)
	}
	return req
}

// opaquely returns an encoder of the arguments of Opaque.write.
func opaquely(encode func(all []series, t int64, v float64) []byte) func([]byte, []series, int64, float64) []byte {
	return func(dst []byte, all []series, t int64, v float64) []byte {
		b := encode(all, t, v)
		dst = binary.BigEndian.AppendUint32(append(dst, byte(nocopy.WireString), 0, 1), uint32(len(b)))
		return append(append(dst, b...), byte(nocopy.WireStop))
	}
}

// check checks that the TSDB has all samples of all rounds.
func (p *contender) check(c config) error {
	args, result := api.NewIngesterQueryArgs(), api.NewIngesterQueryResult()
	defer args.Release()
	defer result.Release()
	args.SetPromql(`sum(count_over_time({z!=""}[1d])) + count(count_over_time({z!=""}[1d]))`)
	if err := p.store.Query(context.Background(), args, result); err != nil {
		return err
	}
	want, got := float64(c.series*c.scrapes*(c.rounds+1)+c.series), 0.0
	for _, s := range result.GetSuccess().All() {
		got = s.GetSamples().At(0).GetValue()
	}
	if got != want {
		return errors.New(p.front.name + fmt.Sprintf(": the TSDB has %.0f samples and series, want %.0f", got, want))
	}
	return nil
}
