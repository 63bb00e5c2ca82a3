/**
 * Writes Protocol Buffers' wire format (protobuf.dev, "Encoding"), as far as an ONNX file needs it: a message is the
 * concatenation of its fields.
 */
const VARINT = 0
const LENGTH_DELIMITED = 2

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

/** A text, bytes, or a message inside a message. */
export function bytesField(number: number, value: string | Buffer | readonly Buffer[]): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.isBuffer(value) ? value : Buffer.concat(value)
  return Buffer.concat([varint(number * 8 + LENGTH_DELIMITED), varint(bytes.length), bytes])
}
