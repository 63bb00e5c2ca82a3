/**
 * What the hub's and the agent's HTTP servers share: whoever owns a connection, its limits, and what passes through a
 * proxy.
 */
export * from './answer-head.ts'
export * from './connection-limits.ts'
export * from './ending.ts'
export * from './faults.ts'
export * from './forwarding.ts'
export * from './front.ts'
export * from './once-a-minute.ts'
