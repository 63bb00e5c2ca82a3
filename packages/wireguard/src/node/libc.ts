/** The system calls for many datagrams at once, which Node's sockets do not offer. */

import { foreignMemory, openFunctions } from './foreign.ts'

export type Libc = {
  /** Returns how many bytes it took, negative for an error. */
  sendmsg(descriptor: number, header: bigint, flags: number): bigint
  /** Returns how many headers it filled, negative for an error. */
  recvmmsg(descriptor: number, headers: bigint, count: number, flags: number, timeout: bigint): number
  /** For what their pointers point to. */
  memory: typeof foreignMemory
}

/** A flag of both calls, so that they never wait. */
export const MSG_DONTWAIT = 0x40

let opened: { libc: Libc | undefined } | undefined

/** Undefined when the system, the machine or this build of Node does not support them. */
export function openLibc(): Libc | undefined {
  opened ??= { libc: load() }
  return opened.libc
}

function load(): Libc | undefined {
  const functions = openFunctions<Omit<Libc, 'memory'>>({
    sendmsg: { arguments: ['int32', 'pointer', 'int32'], return: 'int64' },
    recvmmsg: { arguments: ['int32', 'pointer', 'uint32', 'int32', 'pointer'], return: 'int32' },
  })
  return functions && { ...functions, memory: foreignMemory }
}
