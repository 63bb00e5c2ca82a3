import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '@hedgerow/contract'
import type { Release, ReleaseFile } from '@hedgerow/releases'

const textOf = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8')
/** With the scripts that the Debian packages have as well. */
const TEMPLATE = textOf('install.sh').replaceAll(/^@(.*\.sh)@\n/gm, (_, name: string) => textOf(name))

/** The agent's files of a release. */
export type HandedOut = Pick<Release, 'version' | 'number'> & {
  files: readonly ReleaseFile[]
  /**
   * Who may sign release keys: 32 bytes as base64. Undefined where the release does not say; then nothing is pinned.
   */
  rootKey: string | undefined
}

/** How a device reaches this hub before it knows it. */
export type HubAddress = {
  /** Origin. */
  url: string
  /** `tlsKeyHash` of the hub's certificate where no well-known CA is expected to have signed it, else undefined. */
  pin: string | undefined
}

export function installScript(address: HubAddress, hub: { fingerprint: string }, agent: HandedOut): string {
  const values: Record<string, string> = {
    HUB_URL: address.url,
    HUB_FINGERPRINT: hub.fingerprint.replaceAll(' ', '-'),
    HUB_PIN: address.pin ?? '',
    VERSION: agent.version,
    ROOT_KEY: agent.rootKey ?? '',
    FILES: agent.files.map(({ platform, name, sha256 }) => `${platform} ${name} ${sha256}`).join('\n'),
  }
  return TEMPLATE.replaceAll(
    /^(\w+)=@(\w+)@$/gm,
    (_, variable: string, name: string) => `${variable}=${shellWord(values[name] ?? '')}`,
  )
}

/** The command that a person pastes on a device. */
export function installCommand({ url, pin }: HubAddress, code: string): string {
  const options = pin === undefined ? '-fsSL' : `-fsSL --insecure --pinnedpubkey sha256//${pin}`
  return `curl ${options} ${url}/install.sh | sh -s -- --invitation ${code}`
}
