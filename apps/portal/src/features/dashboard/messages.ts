export const threatBanner = (count: number): string =>
  `${count} potential threats detected today. Review gateway logs for details.`

export const waitingForApproval = (count: number): string =>
  count === 1 ? '1 gateway waits for approval' : `${count} gateways wait for approval`

export const neverConnected = (count: number): string =>
  count === 1 ? '1 gateway has never connected' : `${count.toLocaleString()} gateways have never connected`

/** Where none is in trouble. Those that are not protected were told above. */
export function allWell(gateways: number, areProtected: boolean): string {
  if (!areProtected) return 'No gateway has a known problem.'
  return gateways === 1 ? 'The gateway is protected.' : `All ${gateways.toLocaleString()} gateways are protected.`
}
