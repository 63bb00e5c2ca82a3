/** Messages about refused access, for the connect flow and the hand-over page. */
export const NOT_AUTHORIZED = 'You are not authorized to access this gateway'

export const accessFailed = (reason: string): string => `Failed to access gateway: ${reason}`

/** `reason` is the gateway's status reason: `no heartbeat for 9 min`. */
export const offlineGateway = (reason: string): string =>
  accessFailed(`the gateway is offline (${reason}). Try again when it is connected.`)

/** `port` is the hub's text, such as `port 51820 of hub.example.org`. */
export const blockedUdp = (port: string): string =>
  accessFailed(
    `UDP seems to be blocked between the gateway and the hub. Allow UDP from the gateway to ${port}; the VPN ` +
      'then connects by itself.',
  )
