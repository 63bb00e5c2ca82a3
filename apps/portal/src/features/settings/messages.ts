import type { Gateway } from '@hedgerow/contract'

/** The messages of this screen. */
export const SAVED = 'Settings saved successfully'
export const NOT_SAVED = 'Failed to save settings'

/** What switching the VPN off does, and to whom. */
export function cutOff(gateways: readonly Pick<Gateway, 'status' | 'connectedUsers'>[]): string {
  const online = gateways.filter(({ status }) => status !== 'offline').length
  const people = gateways.reduce((sum, { connectedUsers }) => sum + connectedUsers, 0)
  const all = gateways.length === 1 ? 'the only gateway' : `all ${gateways.length} gateways`
  const visits =
    people === 0
      ? ''
      : people === 1
        ? ', and one person on a page of theirs'
        : `, and ${people} people on pages of theirs`
  return (
    `This cuts off ${all}, of which ${online} ${online === 1 ? 'is' : 'are'} online now${visits}. The hub then gets ` +
    'no pictures from them, and cannot stop, arm or update them. Rules and deterrents on the devices go on.'
  )
}
