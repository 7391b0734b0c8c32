package memory

import (
	"fmt"
	"testing"
)

// TestNextState: the table of nextState, for all of its arguments.
func TestNextState(t *testing.T) {
	type row struct {
		l        layout
		e        Edits
		referred bool // was is Referring
		reusable bool
	}
	want := map[row]State{ // all others: Ready
		{onlyReferred, Unchanged, false, false}: ReadyToRefer,
		{onlyReferred, Unchanged, false, true}:  ReadyToRefer,
		{onlyReferred, Unchanged, true, false}:  ReadyToRefer,
		{onlyReferred, Unchanged, true, true}:   ReadyToRefer,

		{onlyTail, Unchanged, false, true}: ReadyToBuild,
		{onlyTail, Unchanged, true, true}:  ReadyToBuild,
		{onlyTail, Appended, false, true}:  ReadyToBuild,
		{onlyTail, Appended, true, true}:   ReadyToBuild,

		{referredAndTail, Unchanged, true, true}: ReadyToRefer,
		{referredAndTail, Appended, true, true}:  ReadyToRefer,
		{referredAndTail, Edited, true, true}:    ReadyToRefer,
	}
	for l := noTable; l <= otherwise; l++ {
		for e := Unchanged; e <= Edited; e++ {
			for _, reusable := range []bool{false, true} {
				for was := InUse; was <= ReadyToRefer; was++ {
					want, ok := want[row{l, e, was == Referring, reusable}]
					switch {
					case l == noTable:
						want = was
					case !ok:
						want = Ready
					}
					if got := nextState(was, l, e, reusable); got != want {
						t.Errorf("state %d, layout %d, edits %d, reusable %t: next state %d, want %d", was, l, e, reusable, got, want)
					}
				}
			}
		}
	}
}

// TestFreedKeeps: a Space in each state has kept what the table of states says, and nothing else,
// and the next message of that kind takes it over.
func TestFreedKeeps(t *testing.T) {
	mem := []byte("of the caller")
	for _, recycle := range []bool{false, true} {
		for _, c := range []struct {
			name     string
			use      func(s *Space)
			edits    Edits
			want     State
			segments int
			tail     bool // the block at the tail is kept, from its beginning
		}{
			{"never used", func(s *Space) {}, Edited, InUse, 0, false},
			{"empty", func(s *Space) { s.Start(recycle) }, Appended, Ready, 1, false},
			{"read", func(s *Space) { s.Start(recycle); s.ReferTo(mem, false) }, Unchanged, ReadyToRefer, 2, false},
			{"read, with nodes", func(s *Space) { s.Start(recycle); s.ReferTo(mem, false) }, Edited, Ready, 1, false},
			{"built", func(s *Space) { s.Start(recycle); s.Gap(100); s.Advance(100) }, Appended, ReadyToBuild, 2, true},
			{"built, with nodes", func(s *Space) { s.Start(recycle); s.Gap(100); s.Advance(100) }, Edited, Ready, 1, true},
			{"read, then edited", func(s *Space) { s.Start(recycle); s.ReferTo(mem, false); s.Gap(100) }, Edited, ReadyToRefer, 3, true},
			{"added, then edited", func(s *Space) { s.Start(recycle); s.AddForeign(mem, false); s.Gap(100) }, Edited, Ready, 1, true},
			{"two blocks", func(s *Space) { s.Start(recycle); s.Gap(100); s.NewTail(100) }, Appended, Ready, 1, true},
			{"frozen", func(s *Space) { s.Start(recycle); s.Gap(100); s.Freeze() }, Appended, Ready, 1, recycle},
			{"lent", func(s *Space) { s.Start(recycle); s.Gap(100); s.Lend() }, Appended, map[bool]State{false: Ready, true: ReadyToBuild}[recycle], map[bool]int{false: 1, true: 2}[recycle], recycle},
			{"stored slowly", func(s *Space) { s.Start(recycle); s.Gap(100); s.StoreSlowly() }, Appended, Ready, 1, true},
		} {
			t.Run(fmt.Sprint(c.name, ", recycle ", recycle), func(t *testing.T) {
				if Debugging {
					t.Skip("with nocopydebug nothing is used twice")
				}
				var s Space
				c.use(&s)
				if s.state = max(s.state, InUse); s.state == Ready {
					s.Use()
				}
				block := s.tail
				got := s.Free(c.edits)
				if got != c.want || s.state != got || len(s.segs) != c.segments {
					t.Errorf("state %d with %d segments, want %d with %d", got, len(s.segs), c.want, c.segments)
				}
				if c.tail != (len(block) > 0 && len(s.tail) > 0 && &s.tail[0] == &block[0] && (s.used == 0 || got == ReadyToBuild)) {
					t.Errorf("the block at the tail is kept: %t, want %t", !c.tail, c.tail)
				}
				for i := 1; i < len(s.segs); i++ {
					if len(s.segs[i]) > 0 && &s.segs[i][0] == &mem[0] {
						t.Error("it refers to the caller's memory")
					}
				}
				if s.flat != nil || s.shared|s.slow != 0 {
					t.Errorf("facts about the message are left: %d bytes, shared %d, slow %d", len(s.flat), s.shared, s.slow)
				}
				if ready := s.Rebuild(recycle, 0); ready != (c.want == ReadyToBuild) {
					t.Errorf("ready to build: %t", ready)
				}
			})
		}
	}
}

// TestForget: Forget does what Free does for the message that it is for.
func TestForget(t *testing.T) {
	for _, shared := range []bool{false, true} {
		var a, b Space
		for _, s := range []*Space{&a, &b} {
			s.Start(false)
			s.ReferTo(make([]byte, 9), true)
			if shared {
				s.Freeze()
			}
			if !s.OnlyReferred() {
				t.Fatal("it has other memory")
			}
		}
		a.Forget()
		b.Free(Unchanged)
		if a.state != b.state || len(a.segs) != len(b.segs) || a.segs[1] != nil || b.segs[1] != nil || a.shared != b.shared || a.tailShared != b.tailShared || a.lent != b.lent {
			t.Errorf("shared %t: %+v, and with Free: %+v", shared, a, b)
		}
	}
}
