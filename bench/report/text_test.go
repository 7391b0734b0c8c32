package report

import "testing"

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
