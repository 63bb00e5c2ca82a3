import type { Gateway } from '@hedgerow/contract'

/** What is searched of a gateway; kept, since a refresh that changes ten of thousands must not make all texts again. */
const texts = new WeakMap<Gateway, string>()

function textOf(gateway: Gateway): string {
  const known = texts.get(gateway)
  if (known !== undefined) return known
  const { name, id, location, publicIp, vpnInternalIp, version, status } = gateway
  const text = [name, id, location, publicIp, vpnInternalIp, version, status].join('\n').toLowerCase()
  texts.set(gateway, text)
  return text
}

/**
 * Gives the search among `gateways`: those in which every word of a text occurs, in any of the columns a person would
 * look in. A keystroke over thousands then only compares.
 */
export function searchAmong(gateways: readonly Gateway[]): (text: string) => readonly Gateway[] {
  const haystacks = gateways.map(textOf)
  return (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return gateways
    return gateways.filter((_, index) => {
      const haystack = haystacks[index] ?? ''
      for (const word of words) if (!haystack.includes(word)) return false
      return true
    })
  }
}
