/** The names of channels in the words of a person. */
export const CHANNEL_NAMES: Readonly<Record<string, string>> = {
  email: 'Mail',
  person: 'Mail',
  webhook: 'Webhook',
  ntfy: 'ntfy',
  telegram: 'Telegram',
  pushover: 'Pushover',
}
