/** Names that every machine has for itself. */
const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** What is wrong with handing `hubUrl` to a device, for the person who is about to; undefined where nothing is. */
export function addressForDevices(hubUrl: string): string | undefined {
  const { hostname, host } = new URL(hubUrl)
  if (!LOOPBACK.test(hostname)) return undefined
  return `Only this machine finds the hub at ${host}. For a device elsewhere, open this page by the hub’s name or address in the network, or set HUB_PUBLIC_URL.`
}
