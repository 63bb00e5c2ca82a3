import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { deviceToken } from '@hedgerow/contract'
import { decodeBase64, fingerprint, generateIdentitySeed, identityOfSeed, type Identity } from '@hedgerow/enrolment'
import { parsePrivateKey, type PrivateKey, type PublicKey } from '@hedgerow/wireguard'
import { generateKeyPair, publicKeyOf } from '@hedgerow/wireguard/node'
import { z } from 'zod'
import { closeToOthers, DataFileError, exists, readJsonFile, writeDurably } from '../kernel/durable-file.ts'

/**
 * The device's identity: its Ed25519 key, its WireGuard key and its device token, made together at the first boot and
 * stored in one file of mode 0600. Throws DataFileError for a damaged file, and for a missing one in a data directory
 * that was in use: with new keys the hub would see an unknown device.
 */
export type DeviceKeys = {
  identity: Identity
  /** The identity key's fingerprint, for people to compare. */
  fingerprint: string
  wireguardPrivateKey: PrivateKey
  wireguardPublicKey: PublicKey
  deviceToken: string
}

export const KEYS_FILE = 'keys.json'

const keysFile = z.strictObject({
  identitySeed: z.string().refine((text) => decodeBase64(text, 32) !== undefined),
  wireguardPrivateKey: z.string().refine((text) => parsePrivateKey(text) !== undefined),
  deviceToken,
})

/** `usedFiles`: files of the data directory that exist only after keys were made. */
export async function loadDeviceKeys(dataDir: string, usedFiles: readonly string[]): Promise<DeviceKeys> {
  const path = join(dataDir, KEYS_FILE)
  const stored = await readJsonFile(path, keysFile)
  if (stored) {
    await closeToOthers(path)
    return keysOf(stored)
  }
  for (const name of usedFiles) {
    if (await exists(join(dataDir, name)))
      throw new DataFileError(
        `${path} is missing, but ${name} shows that this device had keys. Restore it from a backup, or empty ` +
          `${dataDir} to enrol as a new device.`,
      )
  }
  const made = {
    identitySeed: generateIdentitySeed(),
    wireguardPrivateKey: generateKeyPair().privateKey,
    deviceToken: `DT-${randomBytes(6).toString('hex').toUpperCase()}`,
  }
  await writeDurably(path, `${JSON.stringify(made, null, 2)}\n`)
  return keysOf(made)
}

function keysOf(stored: z.output<typeof keysFile>): DeviceKeys {
  const identity = identityOfSeed(stored.identitySeed)
  const wireguardPrivateKey = stored.wireguardPrivateKey as PrivateKey
  return {
    identity,
    fingerprint: fingerprint(identity.publicKey),
    wireguardPrivateKey,
    wireguardPublicKey: publicKeyOf(wireguardPrivateKey),
    deviceToken: stored.deviceToken,
  }
}
