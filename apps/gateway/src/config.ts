import { join } from 'node:path'

/** What each agent has. */
export type AgentIdentity = { name: string; dataDir: string }

/**
 * The agent's settings come from flags, then from `GATEWAY_*` variables; `NAME_FILE` names a file that holds the value.
 */
export type AgentSettings = {
  hubUrl: URL | undefined
  hubDomain: string | undefined
  /** As `parseFingerprint` returns it. */
  hubFingerprint: string | undefined
  /** PEM file: the CA of an https hub whose certificate no well-known CA signed. */
  hubCaFile: string | undefined
  location: string
  /** Path of `gateway.yaml`; when left out, it is in the data directory. */
  configFile: string | undefined
  /** Addresses of cameras for the eye, in addition to those of `gateway.yaml`. */
  cameras: string[]
  host: string
  port: number
  uiTarget: URL | undefined
  /** When true, the application behind `uiTarget` also answers on the device's own network. */
  uiOnLan: boolean
  dnsServers: string[]
  invitationCode: string | undefined
  /** Many datagrams in one system call, where Linux supports it. */
  offload: boolean
}

export type Config = AgentIdentity & AgentSettings & { logLevel: string }

/** An unusable setting. The message names the setting and never shows a secret's value. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** How a person calls this program: from the sources, or from a bundle. */
export const COMMAND = import.meta.filename.endsWith('.ts') ? 'npm run gateway --' : 'hedgerow-gateway'

/** The path of `gateway.yaml`. */
export function deviceFilePath({ configFile, dataDir }: Pick<Config, 'dataDir'> & Partial<Config>): string {
  return configFile ?? join(dataDir, 'gateway.yaml')
}
