export const threatBanner = (count: number): string =>
  `${count} potential threats detected today. Review gateway logs for details.`

export const waitingForApproval = (count: number): string =>
  count === 1 ? '1 gateway waits for approval' : `${count} gateways wait for approval`

export const allWell = (gateways: number): string =>
  gateways === 1 ? 'The one gateway is well.' : `All ${gateways.toLocaleString()} gateways are well.`
