package data

import "fmt"

// weighted is a value with how often it occurred in a real node_exporter write request of 10,000
// series; the synthetic request has the same distribution.
type weighted struct{ value, weight int }

var (
	labelsPerSeries = []weighted{{5, 1591}, {6, 4521}, {7, 2195}, {8, 1562}, {9, 22}, {10, 77}, {11, 21}, {22, 11}}

	metricNameLen = []weighted{
		{2, 13}, {7, 11}, {10, 33}, {13, 44}, {15, 159}, {16, 32}, {17, 77}, {18, 119}, {19, 65}, {20, 219}, {21, 330}, {22, 1696}, {23, 178}, {24, 418},
		{25, 120}, {26, 1102}, {27, 363}, {28, 1391}, {29, 1055}, {30, 121}, {31, 297}, {32, 307}, {33, 182}, {34, 176}, {36, 746}, {37, 90}, {38, 492},
		{39, 88}, {42, 43}, {43, 11},
	}
	labelNameLen  = []weighted{{2, 62}, {3, 3657}, {4, 2580}, {5, 137}, {6, 4851}, {7, 150}, {8, 65}, {9, 1056}, {10, 1583}, {12, 121}, {14, 77}, {17, 44}}
	labelValueLen = []weighted{
		{1, 2612}, {2, 1916}, {3, 1251}, {4, 1980}, {5, 1759}, {6, 470}, {7, 539}, {8, 131}, {9, 549}, {10, 154}, {12, 1122}, {13, 88}, {14, 429}, {16, 209},
		{17, 164}, {36, 44}, {42, 30}, {63, 10}, {103, 11}, {112, 77}, {120, 847},
	}
)

func (r source) draw(from []weighted) int {
	total := 0
	for _, w := range from {
		total += w.weight
	}
	n := r.IntN(total)
	for _, w := range from {
		if n -= w.weight; n < 0 {
			return w.value
		}
	}
	panic("unreachable: the weights add up to total")
}

// newWriteRequest returns a request of n series: each has five labels that every series of a
// scrape shares, and a few of its own.
func newWriteRequest(n int) *WriteRequest {
	r := newSource(5)
	const perHost = 750
	metrics := make([]string, 220)
	for i := range metrics {
		metrics[i] = r.text(r.draw(metricNameLen))
	}
	v := &WriteRequest{Series: make([]Series, n)}
	host := ""
	for i := range v.Series {
		if i%perHost == 0 {
			host = fmt.Sprintf("host-%d", 100+r.IntN(1900))
		}
		labels := make([]Label, 0, 8)
		labels = append(labels, Label{"__name__", metrics[r.IntN(len(metrics))]}, Label{"instance", host}, Label{"job", "node_exporter"}, Label{"replica", "0"}, Label{"revision", "r0"})
		for range r.draw(labelsPerSeries) - len(labels) {
			labels = append(labels, Label{r.text(r.draw(labelNameLen)), r.text(r.draw(labelValueLen))})
		}
		v.Series[i] = Series{Labels: labels, Samples: []Sample{{Value: r.Float64() * 1000, Timestamp: 1709000000000 + int64(i)}}}
	}
	return v
}
