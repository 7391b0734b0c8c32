package data

// Workload is a named message. New makes its value, which is then the only large thing alive: how much a collector has to mark decides much of what
// peers that allocate cost, so workloads not being measured must not be there.
type Workload struct {
	Name  string // as in -w and in the tables
	About string // one line for the table's title
	New   func() any
}

// All returns the workloads in the order in which they are shown.
func All() []Workload {
	w := []Workload{
		{"A", "list<i64> of 131,072 (1 MiB)", func() any { return newMyTest(131072) }},
		{"B", "small request: 5 strings, 6 scalars, one nested struct", func() any { return newSmall() }},
	}
	for _, c := range []struct {
		name, about string
		size        int
	}{
		{"C1K", "business message, 1 KB", 1 << 10},
		{"C4K", "business message, 4 KB", 4 << 10},
		{"C20K", "business message, 20 KB", 20 << 10},
		{"C256K", "business message, 256 KB", 256 << 10},
		{"C6M", "business message, 6 MB", 6 << 20},
	} {
		w = append(w, Workload{c.name, c.about, func() any { return businessOf(c.size) }})
	}
	return append(w,
		Workload{"D", "one binary of 1 MiB", func() any { return newBlob(1 << 20) }},
		Workload{"F", "Prometheus write request: 10,000 series of 6.4 labels", func() any { return newWriteRequest(10000) }},
	)
}

// Tiny returns every shape with little in it: for tests of agreement, where size adds nothing but time.
func Tiny() []Workload {
	return []Workload{
		{"A", "", func() any { return newMyTest(5) }},
		{"A0", "", func() any { return newMyTest(0) }},
		{"B", "", func() any { return newSmall() }},
		{"C", "", func() any { return newBusiness(3, 32) }},
		{"C1", "", func() any { return newBusiness(1, 0) }},
		{"D", "", func() any { return newBlob(100) }},
		{"D5K", "", func() any { return newBlob(5000) }}, // above the size from which our builder refers to a binary instead of copying it
		{"F", "", func() any { return newWriteRequest(20) }},
	}
}
