package msgp

// What generate.sh makes MessagePack of: tuples have no names of fields on the wire.

//msgp:tuple Sub Small Row Rows Label Sample Series Request

// Small is workload B.
type Small struct {
	Service, Method, Caller string
	Code                    int32
	TraceID, Timestamp      int64
	Sampled                 bool
	Weight                  float64
	Sub                     Sub
}

// Sub is the struct in a Small.
type Sub struct {
	Name, Region string
	ID           int64
}

// Rows is workload E.
type Rows struct {
	Gtid string
	Rows []Row
}

// Row is a row of a table.
type Row struct {
	Lengths []int64
	Values  []byte
}

// Request is workload F.
type Request struct{ Series []Series }

// Series is a time series.
type Series struct {
	Labels  []Label
	Samples []Sample
}

// Label is a label of a series.
type Label struct{ Name, Value string }

// Sample is a value at a time.
type Sample struct {
	Value     float64
	Timestamp int64
}
