export const threatBanner = (count: number): string =>
  `${count} potential threats detected today. Review gateway logs for details.`

export const waitingForApproval = (count: number): string =>
  count === 1 ? '1 gateway waits for approval' : `${count} gateways wait for approval`

export function allWell(gateways: number): string {
  if (gateways === 0) return 'No gateways yet. Start one on a device, and it waits under Approvals.'
  return gateways === 1 ? 'The one gateway is well.' : `All ${gateways.toLocaleString()} gateways are well.`
}
