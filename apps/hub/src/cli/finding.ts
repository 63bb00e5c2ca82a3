export type Finding = {
  check: 'database' | 'disk' | 'clock' | 'ports' | 'VPN' | 'certificates' | 'backups' | 'channels'
  state: 'ok' | 'warn' | 'FAIL'
  text: string
  /** What to do about it. */
  remedy?: string
}
