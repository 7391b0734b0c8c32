//go:build (armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || shbe || sparc || sparc64) && !nounsafe

package byteorder

// bigEndian tells whether this machine's byte order is the network's.
const bigEndian = true
