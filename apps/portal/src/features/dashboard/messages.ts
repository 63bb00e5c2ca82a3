export const threatBanner = (count: number): string =>
  `${count} potential threats detected today. Review gateway logs for details.`

export const waitingForApproval = (count: number): string =>
  count === 1 ? '1 gateway waits for approval' : `${count} gateways wait for approval`

export const neverConnected = (count: number): string =>
  count === 1 ? '1 gateway has never connected' : `${count.toLocaleString()} gateways have never connected`

export const allProtected = (gateways: number): string =>
  gateways === 1 ? 'The gateway is protected.' : `All ${gateways.toLocaleString()} gateways are protected.`
