/**
 * Functions of this process's own libraries through node:ffi, which Node's own modules do not offer. They are optional:
 * where they are missing, Node's own modules do the work. Pointers passed to them point only into `foreignMemory` or
 * into the program's code, which live as long as the process, and each call returns before other code runs, so no
 * pointer ever refers to moved or collected memory.
 */

import type * as Ffi from 'node:ffi'
import { endianness } from 'node:os'

/**
 * The functions by their names. Undefined when the system, the machine or this build of Node lacks any of them.
 * Layouts given to them are those of 64-bit Linux, little endian, with glibc or musl.
 */
export function openFunctions<Functions>(
  signatures: Record<keyof Functions & string, Ffi.FunctionSignature>,
): Functions | undefined {
  const isKnown = process.platform === 'linux' && endianness() === 'LE' && /^(x64|arm64)$/.test(process.arch)
  if (!isKnown) return undefined
  try {
    return loadFfi().dlopen(null, signatures).functions as unknown as Functions
  } catch {
    // Node was built without node:ffi, or forbids it.
    return undefined
  }
}

/**
 * So many arguments that are pointers, or lengths, which a machine of 64 bits passes like them: with a 'uint64' among
 * its arguments a call is slow.
 */
export const pointers = (count: number): 'pointer'[] => Array.from({ length: count }, () => 'pointer')

/** Never freed, because the memory behind a pointer must never be freed. */
const buffers: ArrayBuffer[] = []

/**
 * Zeros that are never freed, and where they lie. Physical memory is taken only for pages that were written. To be
 * called only where `openFunctions` found something.
 */
export function foreignMemory(bytes: number): { buffer: ArrayBuffer; address: bigint } {
  const buffer = new ArrayBuffer(bytes)
  buffers.push(buffer)
  return { buffer, address: loadFfi().getRawPointer(buffer) }
}

/**
 * Node would print a warning to standard error, where a JSON log may go; the Node version is pinned, so it is not
 * needed.
 */
function loadFfi(): typeof Ffi {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:ffi')
  } finally {
    process.emitWarning = emitWarning
  }
}
