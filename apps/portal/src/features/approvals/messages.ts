/** The sentences of specification section 8 for this screen, each in one place. */
export const EMPTY_TITLE = 'No Pending Requests'
export const EMPTY_TEXT = 'All gateway registration requests have been processed.'

export const approvedMessage = ({ deviceName, assignedIp }: { deviceName: string; assignedIp: string }): string =>
  `Gateway "${deviceName}" approved successfully! VPN IP: ${assignedIp}`

export const rejectedMessage = (deviceName: string): string => `Gateway "${deviceName}" rejected.`

export const loadFailed = (reason: string): string => `Failed to load pending requests: ${reason}`
export const approveFailed = (reason: string): string => `Failed to approve registration: ${reason}`
export const rejectFailed = (reason: string): string => `Failed to reject registration: ${reason}`
