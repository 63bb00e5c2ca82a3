import type { PendingRegistration } from '@hedgerow/contract'

/** The messages of this screen. */
export const EMPTY_TITLE = 'No Pending Requests'
export const EMPTY_TEXT = 'All gateway registration requests have been processed.'

export const approvedMessage = ({ deviceName, assignedIp }: { deviceName: string; assignedIp: string }): string =>
  `Gateway "${deviceName}" approved successfully! VPN IP: ${assignedIp}`

export const rejectedMessage = (deviceName: string): string => `Gateway "${deviceName}" rejected.`

export const numberOfDevices = (devices: number): string => `${devices} ${devices === 1 ? 'device' : 'devices'}`

export const askToDecide = (decision: 'approve' | 'reject', devices: number): string =>
  `${decision === 'approve' ? 'Approve' : 'Reject'} ${numberOfDevices(devices)}?`

export const loadFailed = (reason: string): string => `Failed to load pending requests: ${reason}`
export const approveFailed = (reason: string): string => `Failed to approve registration: ${reason}`
export const rejectFailed = (reason: string): string => `Failed to reject registration: ${reason}`

/** The panel and the button that undo a rejection; the dialogs name both. */
export const REJECTED_PANEL = 'Rejected devices'
export const ASK_AGAIN = 'Ask again'
export const REJECTION_FOLLOWS =
  'The device shows “Rejected” and this reason on its own page. It stays out, also after a restart, until somebody ' +
  `chooses “${ASK_AGAIN}” under “${REJECTED_PANEL}”. A device that is reset has new keys, so it counts as a new ` +
  'device and may ask.'
export const REJECTION_FOLLOWS_FOR_ALL =
  'All requests from this source that wait when you confirm are rejected, including new ones. Key changes and ' +
  'claimed devices stay. Each device shows “Rejected” and this reason on its own page, and stays out until ' +
  `somebody chooses “${ASK_AGAIN}” under “${REJECTED_PANEL}”. New devices from this source may still ask.`
export const rejectAllOf = ({ source, waiting }: { source: string; waiting: number }): string =>
  `Reject all ${waiting} from ${source}`
export const sourceRejectedMessage = (source: string, rejected: number): string =>
  `${rejected} ${rejected === 1 ? 'request' : 'requests'} from ${source} rejected.`
export const keyStays = (gateway: string): string => `“${gateway}” keeps its present key.`

type Hold = NonNullable<PendingRegistration['waitsFor']>

const WHAT_ENDS_IT: Record<Hold['code'], string> = {
  gateway_limit_reached: 'raise the limit under Settings, or delete a gateway',
  address_pool_exhausted: 'set a larger VPN network under Settings, or delete a gateway',
  device_token_taken: 'delete the other gateway',
  vpn_disabled: 'switch the VPN on under Settings',
}

/** Why a device waits although the auto-approval settings approve it, and what ends the wait. */
export const held = ({ code, message }: Hold): string =>
  `${message} The auto-approval settings approve this device: it joins by itself when you ${WHAT_ENDS_IT[code]}.`

/** Why nobody can be approved now, and what to do; undefined while there is room. */
export function fullHub(gateways: number, maxGateways: number, waiting: number): string | undefined {
  if (waiting === 0 || gateways < maxGateways) return undefined
  return `The hub is full: ${gateways} of ${maxGateways} gateways. It can approve none of these devices until somebody`
}

/** What the buttons say that wait for room. */
export const NO_ROOM = 'The hub is full: it cannot approve another gateway.'

/** The first that there is room for; a change of keys needs none. */
export function fitting<R extends Pick<PendingRegistration, 'keyChangeFor'>>(
  registrations: readonly R[],
  room: number,
): R[] {
  let left = room
  return registrations.filter(({ keyChangeFor }) => keyChangeFor !== null || left-- > 0)
}

export const onlySomeFit = (fit: number, selected: number): string =>
  `Only ${fit} of the ${numberOfDevices(selected)} fit: then the hub is full. The others go on waiting.`

/** The same for the whole queue: a sentence for each reason. */
export function heldInQueue(queue: readonly PendingRegistration[]): string[] {
  const groups = Map.groupBy(
    queue.flatMap(({ waitsFor }) => waitsFor ?? []),
    ({ code }) => code,
  )
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const devices = others.length === 0 ? 'One device' : `${others.length + 1} devices`
    const [join, themselves] = others.length === 0 ? ['joins', 'itself'] : ['join', 'themselves']
    return [
      `${first.message} ${devices} that the auto-approval settings approve ${join} by ${themselves} when you ` +
        `${WHAT_ENDS_IT[first.code]}.`,
    ]
  })
}
