/**
 * Signed releases, after Tailscale's distsign: an offline root key signs the list of release keys, a release key signs
 * the list of a release's files, and a device that knows the root keys trusts nothing else. No I/O, no clock, no state.
 * Bad data of another party gives a refusal with a code, never an exception.
 */
export * from './keys.ts'
export * from './release.ts'
export * from './signed.ts'
export * from './sums.ts'
export * from './time-floor.ts'
