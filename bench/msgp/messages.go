package msgp

// The types from which generate.sh makes MessagePack code: tuples have no names of fields on the
// wire.

//msgp:tuple Ano MyTest Sub Small User Meta Item Business Blob Row Rows Label Sample Series Request

// MyTest is workload A.
type MyTest struct {
	Num  int64
	Ano  Ano
	Nums []int64
}

// Ano is the struct in a MyTest.
type Ano struct{ Num int64 }

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

// Business is workload C.
type Business struct {
	ID      int64
	Title   string
	Status  int32
	Meta    Meta
	Items   []Item
	Extra   map[string]string
	Nums    []int64
	Words   []string
	Score   float64
	Flag    bool
	Owner   User
	Ts      int64
	Trailer string
}

// Meta is a struct in a Business.
type Meta struct {
	Region, Cluster string
	User            User
	Tags            map[string]string
}

// User is a struct in a Business, and in its Meta.
type User struct {
	UID         int64
	Name, Email string
	Age         int32
	VIP         bool
}

// Item is an element of a Business.
type Item struct {
	ID         int64
	Name, Desc string
	Count      int32
	Price      float64
	OK         bool
}

// Blob is workload D.
type Blob struct {
	ID   int64
	Name string
	Data []byte
	Code int32
	OK   bool
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
