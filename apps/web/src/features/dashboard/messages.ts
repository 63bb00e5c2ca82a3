export const threatBanner = (count: number): string =>
  `${count} potential threats detected today. Review gateway logs for details.`

export const waitingForApproval = (count: number): string =>
  count === 1 ? '1 gateway waits for approval' : `${count} gateways wait for approval`
