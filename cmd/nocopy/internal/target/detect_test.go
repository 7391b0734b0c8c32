package target

import (
	"testing"
	"time"
)

// TestRounds: turns become longer, all time is used, and a server that needs some time for an
// answer is found after a small multiple of it, also if the user would wait for very long.
func TestRounds(t *testing.T) {
	for _, patience := range []time.Duration{time.Second, 10 * time.Second, 2 * time.Minute, time.Hour} {
		begin := time.Unix(1000, 0)
		r := round{begin: begin, deadline: begin.Add(patience), ways: 8, turn: min(turn, patience/16)}
		found := 0
		for before := time.Duration(0); before == 0 || r.next(); {
			end := r.end(7 - int(r.place(0)))
			if r.turn < before || end.After(r.deadline) {
				t.Errorf("%v: turns of %v after those of %v, until %v", patience, r.turn, before, end.Sub(begin))
			}
			if before = r.turn; r.turn >= time.Second && found == 0 {
				found = int(end.Sub(begin) / time.Second)
			}
		}
		if left := r.deadline.Sub(r.begin); left < 0 || left > time.Millisecond || found > 60 {
			t.Errorf("%v: %v is left; turns of a second end after %d s", patience, left, found)
		}
	}
}
