import type { Gateway } from '@hedgerow/contract'

/** The searched text of each gateway, cached because a refresh changes only a few of thousands. */
const texts = new WeakMap<Gateway, string>()

function textOf(gateway: Gateway): string {
  const cached = texts.get(gateway)
  if (cached !== undefined) return cached
  const { name, id, location, site, tags, publicIp, vpnInternalIp, version, status, protection } = gateway
  const text = [name, id, location, site?.name, ...tags, publicIp, vpnInternalIp, version, status, protection.state]
    .join('\n')
    .toLowerCase()
  texts.set(gateway, text)
  return text
}

/**
 * Returns a search for the `gateways` that contain every word of a text, in any column. The texts are prepared once, so
 * that a keystroke over thousands only compares.
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
