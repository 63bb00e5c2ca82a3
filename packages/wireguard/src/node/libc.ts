/**
 * Functions of libc through node:ffi, which Node's sockets do not offer. They are optional: where they are missing,
 * Node's own calls do the work. Pointers passed to them point only into `memory`, which lives as long as the process,
 * and each call returns before other code runs, so no pointer ever refers to moved or collected memory.
 */

import { endianness } from 'node:os'

export type Libc = {
  /** Returns how many bytes it took, negative for an error. */
  sendmsg(descriptor: number, header: bigint, flags: number): bigint
  /** Returns how many headers it filled, negative for an error. */
  recvmmsg(descriptor: number, headers: bigint, count: number, flags: number, timeout: bigint): number
  /** Zeros that are never freed, and where they lie. Physical memory is taken only for pages that were written. */
  memory(bytes: number): { buffer: ArrayBuffer; address: bigint }
}

/** A flag of both calls, so that they never wait. */
export const MSG_DONTWAIT = 0x40

let opened: { libc: Libc | undefined } | undefined

/**
 * Undefined when the system, the machine or this build of Node does not support it. Layouts given to it are those of
 * 64-bit Linux, with glibc or musl.
 */
export function openLibc(): Libc | undefined {
  opened ??= { libc: load() }
  return opened.libc
}

/** Kept, because the memory behind a pointer must never be freed. */
const kept: ArrayBuffer[] = []

function load(): Libc | undefined {
  const isKnown = process.platform === 'linux' && endianness() === 'LE' && /^(x64|arm64)$/.test(process.arch)
  if (!isKnown) return undefined
  try {
    const ffi = quietly(() => process.getBuiltinModule('node:ffi'))
    const { functions } = ffi.dlopen(null, {
      sendmsg: { arguments: ['int32', 'pointer', 'int32'], return: 'int64' },
      recvmmsg: { arguments: ['int32', 'pointer', 'uint32', 'int32', 'pointer'], return: 'int32' },
    })
    return {
      sendmsg: functions.sendmsg,
      recvmmsg: functions.recvmmsg,
      memory(bytes) {
        const buffer = new ArrayBuffer(bytes)
        kept.push(buffer)
        return { buffer, address: ffi.getRawPointer(buffer) }
      },
    }
  } catch {
    // Node was built without node:ffi, or forbids it.
    return undefined
  }
}

/**
 * Node would print a warning to standard error, where a JSON log may go; the Node version is pinned, so it is not
 * needed.
 */
function quietly<Result>(load: () => Result): Result {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
