/** Splits a configuration as wg-quick does: some lines are its own, the rest is for `wg setconf`. */
export type WgQuickConfig = { addresses: string[]; mtu?: string; allowedIps: string[]; setconf: string }

const OWN_KEYS = new Set(['address', 'dns', 'mtu', 'table', 'preup', 'postup', 'predown', 'postdown', 'saveconfig'])

export function parseWgQuick(text: string): WgQuickConfig {
  const values = (name: string) =>
    text
      .split('\n')
      .map((line) => /^\s*(\w+)\s*=\s*(.*?)\s*(#.*)?$/.exec(line))
      .filter((match) => match?.[1]?.toLowerCase() === name)
      .flatMap((match) => match![2]!.split(/\s*,\s*/))
  const mtu = values('mtu')[0]
  return {
    addresses: values('address'),
    allowedIps: values('allowedips'),
    ...(mtu === undefined ? {} : { mtu }),
    setconf: text
      .split('\n')
      .filter((line) => !OWN_KEYS.has((/^\s*(\w+)\s*=/.exec(line)?.[1] ?? '').toLowerCase()))
      .join('\n'),
  }
}
