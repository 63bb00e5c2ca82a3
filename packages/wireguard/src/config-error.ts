/** Errors of callers that configure a device or a peer. Hostile network input never throws; these do. */
export type ConfigErrorCode =
  | 'invalid-key'
  | 'own-key'
  | 'invalid-allowed-ip'
  | 'invalid-endpoint'
  | 'invalid-keepalive'
  | 'invalid-timestamp'
  | 'peer-exists'

/** Thrown before anything changed, with a stable `code`. The message never holds a secret. */
export class ConfigError extends Error {
  readonly code: ConfigErrorCode

  constructor(code: ConfigErrorCode, message: string) {
    super(message)
    this.name = 'ConfigError'
    this.code = code
  }
}
