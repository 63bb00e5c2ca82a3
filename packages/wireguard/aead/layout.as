// Where things are in the module's memory, known to `chacha20-poly1305.as` and to the JavaScript that calls it:
//
//   offset  size
//   0       32     key
//   32      16     the tag that came with a ciphertext, to be held against ours
//   48      16     tag
//   64      256    the first four blocks of the stream; the first 32 bytes are the key of Poly1305
//   1024    128    associated data, ending where the data starts
//   1152    n      plaintext or ciphertext, worked on in place
//   1152+n  272    zero outside a call: rest of a block, lengths, tag

export const KEY: usize = 0
export const EXPECTED_TAG: usize = 32
export const FIRST: usize = 64
export const DATA: usize = 1152

// Bytes of one call of `xorBlocks`.
export const STREAM_BYTES: usize = 256
