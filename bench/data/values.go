// Package data holds the benchmark's values as plain Go structs, which belong to no peer: an
// application has them before it builds a message, and every peer's output is compared with them.
// The values are the same on every machine.
package data

// MyTest is workload A: almost nothing but one long list of numbers.
type MyTest struct {
	Num  int64
	Ano  int64
	Nums []int64
}

// Small is workload B: a small request, where the fixed cost per message decides.
type Small struct {
	Service, Method, Caller string
	Code                    int32
	TraceID, Timestamp      int64
	Sampled                 bool
	Weight                  float64
	SubName, SubRegion      string
	SubID                   int64
}

// Pair is an entry of a map<string,string>. Maps are slices of pairs here: no peer pays for
// iterating over a Go map that its own format does not use.
type Pair struct{ Key, Value string }

// Item is an element of Business.Items.
type Item struct {
	ID         int64
	Name, Desc string
	Count      int32
	Price      float64
	OK         bool
}

// User occurs twice in Business, once two levels deep.
type User struct {
	UID         int64
	Name, Email string
	Age         int32
	VIP         bool
}

// Business is workload C: nested structs, maps, lists of structs, numbers and strings.
type Business struct {
	ID              int64
	Title           string
	Status          int32
	Region, Cluster string // Meta
	User            User   // Meta
	Tags            []Pair // Meta
	Items           []Item
	Extra           []Pair
	Nums            []int64
	Words           []string
	Score           float64
	Flag            bool
	Owner           User
	Ts              int64
	Trailer         string
}

// Blob is workload D: one large binary with little around it.
type Blob struct {
	ID   int64
	Name string
	Data []byte
	Code int32
	OK   bool
}

// Label and Sample are the innermost structs of workload F.
type (
	Label  struct{ Name, Value string }
	Sample struct {
		Value     float64
		Timestamp int64
	}
)

// Series is one time series of workload F.
type Series struct {
	Labels  []Label
	Samples []Sample
}

// WriteRequest is workload F: many small structs, each holding short strings.
type WriteRequest struct{ Series []Series }
