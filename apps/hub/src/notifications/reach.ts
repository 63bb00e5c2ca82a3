/**
 * Where channels may connect to. The operator's variables may name any host. An address that somebody typed into the
 * portal must be on the Internet, or one of HUB_CHANNEL_HOSTS: otherwise an admin of the hub could make it call
 * machines of its own network, and learn their names from the answers.
 */
import { hostOf } from '../http/public-hosts.ts'
import type { Reach } from './channel.ts'

const PORTS: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'smtp:': '587',
  'smtps:': '465',
  'mqtt:': '1883',
  'mqtts:': '8883',
}

export const anywhere: Reach = {
  onlyPublic: false,
  unreached: (what, error) => new Error(`${what} could not be reached: ${reasonOf(error)}`, { cause: error }),
}

/** One sentence for every cause. The log has the cause. */
export const onlyPublic: Reach = {
  onlyPublic: true,
  unreached: (what, error) => new Error(`${what} could not be reached.`, { cause: error }),
}

/** Whether one of `hosts` is the address's, each a name and its port unless that is the usual one. */
export function isTrusted(url: string, hosts: readonly string[]): boolean {
  const { port, protocol } = new URL(url)
  const [name, usual] = [hostOf(new URL(url)), PORTS[protocol]]
  return hosts.some((host) =>
    port === '' || port === usual ? host === name || host === `${name}:${usual}` : host === `${name}:${port}`,
  )
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error as NodeJS.ErrnoException).code ?? error.message
}
