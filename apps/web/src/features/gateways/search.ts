import type { Gateway } from '@hedgerow/contract'

/** What is searched of a gateway; kept, since a keystroke over thousands must not make the texts again. */
const texts = new WeakMap<Gateway, string>()

function textOf(gateway: Gateway): string {
  const known = texts.get(gateway)
  if (known !== undefined) return known
  const { name, id, location, publicIp, vpnInternalIp, version, status } = gateway
  const text = [name, id, location, publicIp, vpnInternalIp, version, status].join('\n').toLowerCase()
  texts.set(gateway, text)
  return text
}

/** Gateways in which every word of `text` occurs, in any of the columns a person would look in. */
export function searchGateways(gateways: readonly Gateway[], text: string): readonly Gateway[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return gateways
  return gateways.filter((gateway) => {
    const haystack = textOf(gateway)
    return words.every((word) => haystack.includes(word))
  })
}
