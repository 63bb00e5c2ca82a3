export { nodeCrypto } from './crypto.ts'
export type { InterfaceOptions, WireGuardInterface } from './interface.ts'
export { openInterface } from './interface.ts'
export { generateKeyPair, generatePresharedKey, publicKeyOf, sharedSecret } from './keys.ts'
