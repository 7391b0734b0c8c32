//go:build !linux || nounsafe

package shm

func create(int) (memory, error) { return memory{}, ErrUnsupported }

func open(int, int) (memory, error) { return memory{}, ErrUnsupported }

func isSealed(int) error { return ErrUnsupported }

func (m *memory) allocate(int, int) error { return ErrUnsupported }
func (m *memory) populate(int, int) error { return ErrUnsupported }
func (m *memory) closeFD()                {}
func (m *memory) unmap()                  {}
