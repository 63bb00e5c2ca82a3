import { join } from 'node:path'
import { decodeBase64, fingerprint } from '@hedgerow/enrolment'
import { z } from 'zod'
import { readJsonFile, writeDurably } from '../kernel/durable-file.ts'

/**
 * Which hub this device trusts. The operator's pin decides; without one, the device trusts and remembers the first hub.
 * A hub with another key is refused with both fingerprints in the message, because only a person can tell an attack
 * from a reinstalled hub.
 */
export type HubTrust = {
  /** The remembered hub's identity key; undefined before the first registration. */
  hubKey(): string | undefined
  /** Whether the operator, an earlier registration or DNS names the hub's key. */
  isSettled(discoveredPins: readonly string[]): boolean
  /** Throws HubRefusedError unless this hub's identity key is trusted. `discoveredPins` come from DNS. */
  check(identityPublicKey: string, discoveredPins: readonly string[]): void
  remember(identityPublicKey: string): Promise<void>
}

export class HubRefusedError extends Error {
  override name = 'HubRefusedError'
}

export const HUB_FILE = 'hub.json'

const hubFile = z.strictObject({
  identityPublicKey: z.string().refine((text) => decodeBase64(text, 32) !== undefined),
})

/**
 * 32 base32 characters in any case, with or without spaces or dashes, as 8 groups of 4; undefined for anything else.
 */
export function parseFingerprint(text: string): string | undefined {
  const bare = text.replaceAll(/[\s-]/g, '').toUpperCase()
  return /^[A-Z2-7]{32}$/.test(bare) ? bare.match(/.{4}/g)!.join(' ') : undefined
}

/** `pin`: the operator's fingerprint in the form of `parseFingerprint`; it overrides the remembered hub. */
export async function openHubTrust(dataDir: string, pin: string | undefined): Promise<HubTrust> {
  const path = join(dataDir, HUB_FILE)
  let pinned = (await readJsonFile(path, hubFile))?.identityPublicKey
  return {
    hubKey: () => (pinned !== undefined && (pin === undefined || fingerprint(pinned) === pin) ? pinned : undefined),
    isSettled: (discoveredPins) => pin !== undefined || pinned !== undefined || discoveredPins.length > 0,
    check(identityPublicKey, discoveredPins) {
      const shown = fingerprint(identityPublicKey)
      if (pin !== undefined) {
        if (shown === pin) return
        throw new HubRefusedError(
          `This is not the hub that GATEWAY_HUB_FINGERPRINT names: expected ${pin}, but it shows ${shown}.`,
        )
      }
      if (pinned !== undefined && pinned !== identityPublicKey)
        throw new HubRefusedError(
          `The hub's key has changed: this device trusts ${fingerprint(pinned)}, but it shows ${shown}. ` +
            `If the hub was reinstalled, set GATEWAY_HUB_FINGERPRINT to the new fingerprint.`,
        )
      if (discoveredPins.length > 0 && !discoveredPins.includes(shown))
        throw new HubRefusedError(
          `This is not the hub that the DNS record names: expected ${discoveredPins.join(' or ')}, but it shows ` +
            `${shown}.`,
        )
    },
    async remember(identityPublicKey) {
      if (identityPublicKey === pinned) return
      await writeDurably(path, `${JSON.stringify({ identityPublicKey }, null, 2)}\n`)
      pinned = identityPublicKey
    },
  }
}
