package compact

import "math"

// Input has the bytes that have arrived.
type Input interface {
	Bytes() []byte
	Skip(n int) // passes the first n Bytes
}

// Way is what Receive does with the bytes that it has converted.
type Way uint8

const (
	Keep  Way = iota // they stay in the input
	Skip             // they are skipped
	Parts            // they are skipped, and Receive returns when it has made some bytes, for Take
)

// Receive converts the struct that Reset has begun, and whose bytes arrive in in. To get more of
// them it calls fill, until there are n Bytes. It returns fill's error with More. With Done,
// Passed says how many bytes the struct had. After Failed it returns the same until Reset.
func (r *Reader) Receive(in Input, how Way, fill func(n int) error) (Status, error) {
	for r.err == nil {
		b := in.Bytes()
		i, status := r.Convert(b, r.next, false)
		if status == Failed {
			break
		}
		r.next = i
		have := len(b)
		if how != Keep {
			in.Skip(i)
			r.passed, r.next, have = r.passed+int64(i), 0, have-i
		}
		if status == Done || how == Parts && r.n > 0 {
			return status, nil
		}
		if err := fill(have + 1); err != nil {
			return More, err
		}
	}
	return Failed, nil
}

// Passed returns how many bytes of the struct Receive has converted.
func (r *Reader) Passed() int64 { return r.passed + int64(r.next) }

// Offset returns the offset in the struct of byte i of the input. On 32 bits the last one that an
// int can say stands for those after it.
func (r *Reader) Offset(i int) int { return int(min(r.passed+int64(i), math.MaxInt)) }
