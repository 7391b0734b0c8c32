package parquetmeta

import "encoding/binary"

// salts turn a hash into one bit for each of the 8 words of a block.
var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// blockSize is how many bytes a block of a Bloom filter has.
const blockSize = 4 * len(salts)

// MayHave reports whether the chunk can have a value with this hash, by its Bloom filter: XXH64
// with seed 0, of the value in the encoding PLAIN, without the length of a BYTE_ARRAY. A chunk
// without a filter can, and one whose filter is of a kind that this package does not know. MayHave
// reads the filter's header, as BloomFilter does, and with another call of ReadAt a block of 32
// bytes. The errors are those of BloomFilter.
func (c Chunk) MayHave(hash uint64) (bool, error) {
	header, at, err := c.BloomFilter()
	if err != nil || !header.Valid() {
		return err == nil, err
	}
	defer header.Release()
	blocks := uint64(max(header.GetNumBytes(), 0)) / uint64(blockSize)
	if !header.GetAlgorithm().IsSetBLOCK() || !header.GetHash().IsSetXXHASH() || !header.GetCompression().IsSetUNCOMPRESSED() || blocks == 0 {
		return true, nil
	}
	var block [blockSize]byte
	if err := readFull(c.f.r, block[:], at+int64(hash>>32*blocks>>32)*int64(blockSize)); err != nil {
		return false, err
	}
	for i, salt := range salts {
		if binary.LittleEndian.Uint32(block[4*i:])>>(uint32(hash)*salt>>27)&1 == 0 {
			return false, nil
		}
	}
	return true, nil
}
