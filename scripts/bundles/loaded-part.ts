/**
 * The part of an ELF program that it needs to run: everything up to the end of its last segment. The sections behind
 * it, symbols and debugging data, are a fifth of Node. (System V ABI, chapter 4; 64 bits, little-endian, as described
 * in elf(5).)
 */
const HEADER_BYTES = 64
const SEGMENT_LOADED = 1

export function loadedPart(program: Buffer): Buffer {
  if (program.readUInt32BE(0) !== 0x7f45_4c46 || program[4] !== 2 || program[5] !== 1)
    throw new Error('not a little-endian ELF program of 64 bits')
  const table = Number(program.readBigUInt64LE(32))
  const size = program.readUInt16LE(54)
  const count = program.readUInt16LE(56)
  let end = Math.max(HEADER_BYTES, table + size * count)
  for (let at = table; at < table + size * count; at += size) {
    const offset = Number(program.readBigUInt64LE(at + 8))
    const inFile = Number(program.readBigUInt64LE(at + 32))
    if (program.readUInt32LE(at) === SEGMENT_LOADED) end = Math.max(end, offset + inFile)
  }
  const part = Buffer.from(program.subarray(0, end))
  // Removes the table of sections: its offset, its number of entries and the entry with the names.
  part.writeBigUInt64LE(0n, 40)
  part.writeUInt16LE(0, 60)
  part.writeUInt16LE(0, 62)
  return part
}
