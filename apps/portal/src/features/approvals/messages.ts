/** The sentences of specification section 8 for this screen, each in one place. */
export const EMPTY_TITLE = 'No Pending Requests'
export const EMPTY_TEXT = 'All gateway registration requests have been processed.'

export const approvedMessage = ({ deviceName, assignedIp }: { deviceName: string; assignedIp: string }): string =>
  `Gateway "${deviceName}" approved successfully! VPN IP: ${assignedIp}`

export const rejectedMessage = (deviceName: string): string => `Gateway "${deviceName}" rejected.`

export const loadFailed = (reason: string): string => `Failed to load pending requests: ${reason}`
export const approveFailed = (reason: string): string => `Failed to approve registration: ${reason}`
export const rejectFailed = (reason: string): string => `Failed to reject registration: ${reason}`

/** The panel and the verb that undo a rejection, so that the dialogs name them as they are. */
export const TURNED_AWAY = 'Turned away'
export const ASK_AGAIN = 'Ask again'
export const REJECTION_FOLLOWS = `The device shows “Rejected” and this reason on its own page. It goes on asking and stays out, after a restart too, until somebody chooses “${ASK_AGAIN}” under “${TURNED_AWAY}”. A device that is reset to new keys is a new device and may ask.`
export const keyStays = (gateway: string): string => `“${gateway}” keeps the key that it has.`
