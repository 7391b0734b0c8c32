package report

import (
	"regexp"
	"testing"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.1342: "0.134", 7: "7", 7.25: "7.25", 7.5: "7.5", 20.63: "20.6", 20: "20", 99.9: "99.9", 640: "640", 1430: "1,430", 1234567: "1,234,567"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for v, want := range map[float64]string{0: "-", 0.134: "0.134 ns", 185: "185 ns", 1170: "1.17 µs", 45600: "45.6 µs", 2.5e6: "2.50 ms"} {
		if got := duration(v); got != want {
			t.Errorf("duration(%v) = %s, want %s", v, got, want)
		}
	}
}

func TestRatio(t *testing.T) {
	for v, want := range map[float64]string{0: "-", 3.21e-7: "0.00000032", 0.0000238: "0.000024", 0.00063: "0.00063", 0.0463: "0.0463", 0.25: "0.25", 13.21: "13.2", 640: "640", 18020: "18,020"} {
		if got := ratio(v); got != want {
			t.Errorf("ratio(%v) = %s, want %s", v, got, want)
		}
	}
}

// TestLineStyles: no two rows of a chart have colour and dashes in common.
func TestLineStyles(t *testing.T) {
	s := Series{Name: "G-C", Op: "build"}
	for units := 1; units <= 4; units *= 4 {
		table := Table{Name: "G-C", Op: "build", Unit: "byte", Units: units}
		for _, p := range []string{"nocopy", "nocopy/recycle", "nocopy/lazy", "nocopy/peek", "kitex", "kitex/reuse", "kitex/netpoll", "kitex/subset-IDL", "limit", "limit/reuse"} {
			table.Rows = append(table.Rows, Row{Peer: p, NS: 100})
		}
		s.Tables = append(s.Tables, table)
	}
	chart, err := s.Lines()
	if err != nil {
		t.Fatal(err)
	}
	styles := map[string]bool{}
	for _, style := range regexp.MustCompile(`stroke:#[0-9A-F]{6};stroke-width:1\.5[^"]*`).FindAllString(chart, -1) {
		styles[style] = true
	}
	if rows := len(s.Tables[0].Rows); len(styles) != rows {
		t.Errorf("%d rows are drawn in %d styles: %v", rows, len(styles), styles)
	}
}
