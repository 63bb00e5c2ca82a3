/** The sentences about a refused access, for the connect flow and the hand-over page. */
export const NOT_AUTHORIZED = 'You are not authorized to access this gateway'

export const accessFailed = (reason: string): string => `Failed to access gateway: ${reason}`

/** `port` in words, as the hub gives it: `port 51820 of hub.example.org`. */
export const blockedUdp = (port: string): string =>
  accessFailed(
    `UDP seems to be blocked between it and the hub. Let UDP from the gateway reach ${port}, and the VPN comes up by itself.`,
  )
