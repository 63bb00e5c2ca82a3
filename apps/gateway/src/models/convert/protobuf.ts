/**
 * Writes Protocol Buffers' wire format (protobuf.dev, "Encoding"), as far as an ONNX file needs it: a message is the
 * concatenation of its fields.
 */
const VARINT = 0
const LENGTH_DELIMITED = 2
const FIXED_32 = 5

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

export function integerField(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8 + VARINT), varint(value)])
}

export function floatField(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([varint(number * 8 + FIXED_32), bytes])
}

/** A text, bytes, or a message inside a message. */
export function bytesField(number: number, value: string | Buffer | readonly Buffer[]): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.isBuffer(value) ? value : Buffer.concat(value)
  return Buffer.concat([varint(number * 8 + LENGTH_DELIMITED), varint(bytes.length), bytes])
}
