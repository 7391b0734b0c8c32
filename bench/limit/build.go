package limit

import (
	"math"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

// Append writes the message v, a pointer to one of package data's, at the beginning of b, which
// grows if it must, and returns the message.
func Append(b []byte, v any) []byte {
	n := 0
	switch v := v.(type) {
	case *data.MyTest:
		b, n = putMyTest(b, v)
	case *data.Small:
		b, n = putSmall(b, v)
	case *data.Business:
		b, n = putBusiness(b, v)
	case *data.Blob:
		b, n = putBlob(b, v)
	case *data.VStreamRows:
		b, n = putVStreamRows(b, v)
	case *data.WriteRequest:
		b, n = putWriteRequest(b, v)
	case *data.Wide:
		b, n = putWide(b, v)
	case *data.Bulk:
		b, n = putBulk(b, v)
	case *data.Catalog:
		b, n = putCatalog(b, v)
	default:
		panic("limit: no such message")
	}
	return b[:n]
}

func putMyTest(b []byte, v *data.MyTest) ([]byte, int) {
	b = room(b, 0, 35+8*len(v.Nums))
	n := putI64(b, 0, 1, v.Num)
	n = putHeader(b, n, tStruct, 2)
	n = putI64(b, n, 1, v.Ano)
	b[n] = tStop
	n = putList(b, n+1, 3, tI64, len(v.Nums))
	n = putI64s(b, n, v.Nums)
	b[n] = tStop
	return b, n + 1
}

// putI64s writes four numbers an iteration, the fastest way without assembly.
func putI64s(b []byte, n int, v []int64) int {
	out := b[n : n+8*len(v)]
	for len(v) >= 4 && len(out) >= 32 {
		be.PutUint64(out, uint64(v[0]))
		be.PutUint64(out[8:], uint64(v[1]))
		be.PutUint64(out[16:], uint64(v[2]))
		be.PutUint64(out[24:], uint64(v[3]))
		v, out, n = v[4:], out[32:], n+32
	}
	for _, x := range v {
		be.PutUint64(out, uint64(x))
		out, n = out[8:], n+8
	}
	return n
}

func putSmall(b []byte, v *data.Small) ([]byte, int) {
	b = room(b, 0, 100+len(v.Service)+len(v.Method)+len(v.Caller)+len(v.SubName)+len(v.SubRegion))
	n := putString(b, 0, 1, v.Service)
	n = putString(b, n, 2, v.Method)
	n = putString(b, n, 3, v.Caller)
	n = putI32(b, n, 4, v.Code)
	n = putI64(b, n, 5, v.TraceID)
	n = putI64(b, n, 6, v.Timestamp)
	n = putBool(b, n, 7, v.Sampled)
	n = putDouble(b, n, 8, math.Float64bits(v.Weight))
	n = putHeader(b, n, tStruct, 9)
	n = putString(b, n, 1, v.SubName)
	n = putString(b, n, 2, v.SubRegion)
	n = putI64(b, n, 3, v.SubID)
	b[n], b[n+1] = tStop, tStop
	return b, n + 2
}

func putUser(b []byte, n int, v *data.User) int {
	n = putI64(b, n, 1, v.UID)
	n = putString(b, n, 2, v.Name)
	n = putString(b, n, 3, v.Email)
	n = putI32(b, n, 4, v.Age)
	n = putBool(b, n, 5, v.VIP)
	b[n] = tStop
	return n + 1
}

func putPairs(b []byte, n int, id byte, v []data.Pair) ([]byte, int) {
	b = room(b, n, 9)
	n = putHeader(b, n, tMap, id)
	b[n], b[n+1] = tString, tString
	be.PutUint32(b[n+2:], uint32(len(v)))
	n += 6
	for i := range v {
		p := &v[i]
		b = room(b, n, 8+len(p.Key)+len(p.Value))
		n = putText(b, n, p.Key)
		n = putText(b, n, p.Value)
	}
	return b, n
}

func putBusiness(b []byte, v *data.Business) ([]byte, int) {
	b = room(b, 0, 128+len(v.Title)+len(v.Region)+len(v.Cluster)+len(v.User.Name)+len(v.User.Email))
	n := putI64(b, 0, 1, v.ID)
	n = putString(b, n, 2, v.Title)
	n = putI32(b, n, 3, v.Status)
	n = putHeader(b, n, tStruct, 4)
	n = putString(b, n, 1, v.Region)
	n = putString(b, n, 2, v.Cluster)
	n = putHeader(b, n, tStruct, 3)
	n = putUser(b, n, &v.User)
	b, n = putPairs(b, n, 4, v.Tags)
	b = room(b, n, 9)
	b[n] = tStop
	n = putList(b, n+1, 5, tStruct, len(v.Items))
	b, n = putItems(b, n, v.Items)
	b, n = putPairs(b, n, 6, v.Extra)
	b = room(b, n, 16+8*len(v.Nums))
	n = putList(b, n, 7, tI64, len(v.Nums))
	n = putI64s(b, n, v.Nums)
	n = putList(b, n, 8, tString, len(v.Words))
	b, n = putTexts(b, n, v.Words)
	b = room(b, n, 85+len(v.Owner.Name)+len(v.Owner.Email)+len(v.Trailer))
	n = putDouble(b, n, 9, math.Float64bits(v.Score))
	n = putBool(b, n, 10, v.Flag)
	n = putHeader(b, n, tStruct, 11)
	n = putUser(b, n, &v.Owner)
	n = putI64(b, n, 12, v.Ts)
	n = putString(b, n, 13, v.Trailer)
	b[n] = tStop
	return b, n + 1
}

func putItems(b []byte, n int, items []data.Item) ([]byte, int) {
	for i := range items {
		it := &items[i]
		b = room(b, n, 48+len(it.Name)+len(it.Desc))
		n = putI64(b, n, 1, it.ID)
		n = putString(b, n, 2, it.Name)
		n = putString(b, n, 3, it.Desc)
		n = putI32(b, n, 4, it.Count)
		n = putDouble(b, n, 5, math.Float64bits(it.Price))
		n = putBool(b, n, 6, it.OK)
		b[n] = tStop
		n++
	}
	return b, n
}

func putTexts(b []byte, n int, texts []string) ([]byte, int) {
	for _, s := range texts {
		b = room(b, n, 4+len(s))
		n = putText(b, n, s)
	}
	return b, n
}

func putVStreamRows(b []byte, v *data.VStreamRows) ([]byte, int) {
	b = room(b, 0, 15+len(v.Gtid))
	n := putString(b, 0, 1, v.Gtid)
	n = putList(b, n, 2, tStruct, len(v.Rows))
	for i := range v.Rows {
		r := &v.Rows[i]
		b = room(b, n, 16+8*len(r.Lengths)+len(r.Values))
		n = putList(b, n, 1, tI64, len(r.Lengths))
		n = putI64s(b, n, r.Lengths)
		n = putHeader(b, n, tString, 2)
		be.PutUint32(b[n:], uint32(len(r.Values)))
		n += 4
		n += copy(b[n:], r.Values)
		b[n] = tStop
		n++
	}
	b = room(b, n, 1)
	b[n] = tStop
	return b, n + 1
}

// putCatalog leaves out lists that are empty, as they were never set.
func putCatalog(b []byte, v *data.Catalog) ([]byte, int) {
	n := 0
	b = room(b, n, 16)
	if len(v.Items) > 0 {
		n = putList(b, n, 1, tStruct, len(v.Items))
		b, n = putItems(b, n, v.Items)
	}
	if len(v.Words) > 0 {
		b = room(b, n, 8)
		n = putList(b, n, 2, tString, len(v.Words))
		b, n = putTexts(b, n, v.Words)
	}
	b = room(b, n, 1)
	b[n] = tStop
	return b, n + 1
}

func putBlob(b []byte, v *data.Blob) ([]byte, int) {
	b = room(b, 0, 37+len(v.Name)+len(v.Data))
	n := putBlobHead(b, v)
	n += copy(b[n:], v.Data)
	return b, putBlobTail(b, n, v)
}

// putBlobHead writes the message up to where the binary's bytes belong.
func putBlobHead(b []byte, v *data.Blob) int {
	n := putI64(b, 0, 1, v.ID)
	n = putString(b, n, 2, v.Name)
	n = putHeader(b, n, tString, 3)
	be.PutUint32(b[n:], uint32(len(v.Data)))
	return n + 4
}

func putBlobTail(b []byte, n int, v *data.Blob) int {
	n = putI32(b, n, 4, v.Code)
	n = putBool(b, n, 5, v.OK)
	b[n] = tStop
	return n + 1
}

func putWriteRequest(b []byte, v *data.WriteRequest) ([]byte, int) {
	b = room(b, 0, 8)
	n := putList(b, 0, 1, tStruct, len(v.Series))
	for i := range v.Series {
		t := &v.Series[i]
		b = room(b, n, 8)
		n = putList(b, n, 1, tStruct, len(t.Labels))
		for j := range t.Labels {
			l := &t.Labels[j]
			b = room(b, n, 15+len(l.Name)+len(l.Value))
			n = putString(b, n, 1, l.Name)
			n = putString(b, n, 2, l.Value)
			b[n] = tStop
			n++
		}
		b = room(b, n, 9+23*len(t.Samples))
		n = putList(b, n, 2, tStruct, len(t.Samples))
		for j := range t.Samples {
			s := &t.Samples[j]
			n = putDouble(b, n, 1, math.Float64bits(s.Value))
			n = putI64(b, n, 2, s.Timestamp)
			b[n] = tStop
			n++
		}
		b[n] = tStop
		n++
	}
	b = room(b, n, 1)
	b[n] = tStop
	return b, n + 1
}
