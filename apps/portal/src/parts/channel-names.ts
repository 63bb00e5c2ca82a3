/** The names of channels in the words of a person. */
export const CHANNEL_NAMES: Readonly<Record<string, string>> = {
  portal: 'Portal',
  push: 'Push',
  email: 'Mail',
  person: 'Mail',
  webhook: 'Webhook',
  ntfy: 'ntfy',
  telegram: 'Telegram',
  pushover: 'Pushover',
  mqtt: 'MQTT',
}
