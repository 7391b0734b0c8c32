package data

// VStreamRows is workload E: a response of Vitess's VStreamRows, rows of a table as the lengths of
// their columns and all columns' bytes.
type VStreamRows struct {
	Gtid string
	Rows []Row
}

// Row is a row of a table.
type Row struct {
	Lengths []int64
	Values  []byte
}

// newVStreamRows returns n rows of ten columns: ids, timestamps, short and longer texts; one in
// ten columns is NULL, whose length is -1.
func newVStreamRows(n int) *VStreamRows {
	const columns = 10
	r := newSource(6)
	v := &VStreamRows{Gtid: "MySQL56/" + r.text(36) + ":1-123456", Rows: make([]Row, n)}
	for i := range v.Rows {
		lengths, size := make([]int64, columns), 0
		for j := range lengths {
			if r.IntN(10) == 0 {
				lengths[j] = -1
				continue
			}
			lengths[j] = int64(1 + r.IntN(20))
			size += int(lengths[j])
		}
		v.Rows[i] = Row{Lengths: lengths, Values: []byte(r.text(size))}
	}
	return v
}
