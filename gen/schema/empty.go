package schema

// MaxEmpty bounds the bytes of an empty message, which has only the fields that cannot be absent.
// Required structs that contain each other several times can double its size with each level. A
// struct of 32,767 numbers takes 360 KB, a struct in the files of gen/internal/wild at most 561
// bytes.
const MaxEmpty = 512 << 10

// checkEmpty adds errors for structs whose empty message takes more than MaxEmpty bytes.
func (c *checker) checkEmpty() {
	sizes := map[*Struct]int{}
	for _, p := range c.set.Programs {
		for _, s := range p.Structs {
			c.emptySize(sizes, s)
		}
		for _, s := range p.Services {
			for _, f := range s.Functions {
				c.emptySize(sizes, f.Args)
			}
		}
	}
}

// emptySize returns the size of an empty message of type s, and keeps it in sizes. If it or a
// struct in it is too large, the size is 0, and the innermost such struct gets an error. Required
// structs are known not to contain themselves.
func (c *checker) emptySize(sizes map[*Struct]int, s *Struct) int {
	if size, ok := sizes[s]; ok {
		return size
	}
	size := 1 // STOP
	for _, f := range s.Fields {
		switch {
		case f.Req == Optional:
		case f.Default != nil:
			size += fieldHeader + len(f.Default.Wire)
		case f.Req == Required && f.Type.Kind == StructKind:
			inner := c.emptySize(sizes, f.Type.Struct)
			if inner == 0 {
				sizes[s] = 0
				return 0
			}
			size += fieldHeader + inner
		case f.Req == Required || f.Type.fixedSize():
			size += fieldHeader + f.Type.LeastSize()
		}
		if size > MaxEmpty {
			c.errs.Add(s.Pos, "an empty %s takes more than %d KiB, which required fields and defaults add up to", s.Name, MaxEmpty>>10)
			sizes[s] = 0
			return 0
		}
	}
	sizes[s] = size
	return size
}

// fieldHeader is the number of bytes before a field's value.
const fieldHeader = 3
