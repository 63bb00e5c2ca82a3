/**
 * Shared by the hub and the agent: ownership of connections, limits and forwarding of their HTTP servers, and what
 * their programs write for people.
 */
export * from './answer-head.ts'
export * from './answer-reader.ts'
export * from './around-answers.ts'
export * from './connection-limits.ts'
export * from './ending.ts'
export * from './exchange.ts'
export * from './faults.ts'
export { fieldLines } from './fields.ts'
export * from './forwarding.ts'
export * from './front.ts'
export * from './gathered-bytes.ts'
export * from './log-lines.ts'
export * from './mqtt-packets.ts'
export * from './node-exchange.ts'
export * from './once-a-minute.ts'
export * from './progress.ts'
export type { TlsContext } from './tls-side.ts'
export * from './token-buckets.ts'
