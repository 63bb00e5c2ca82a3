import type { Gateway } from '@hedgerow/contract'

/** Gateways in which every word of `text` occurs, in any of the columns a person would look in. */
export function searchGateways(gateways: readonly Gateway[], text: string): readonly Gateway[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return gateways
  return gateways.filter((gateway) => {
    const haystack =
      `${gateway.name}\n${gateway.id}\n${gateway.location}\n${gateway.publicIp ?? ''}\n${gateway.vpnInternalIp}\n${gateway.version ?? ''}\n${gateway.status}`.toLowerCase()
    return words.every((word) => haystack.includes(word))
  })
}
