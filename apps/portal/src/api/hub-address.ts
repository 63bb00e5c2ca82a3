/** Names and addresses of the machine itself. */
const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** A warning if other devices cannot reach `hubUrl`; otherwise undefined. */
export function addressForDevices(hubUrl: string): string | undefined {
  const { hostname, host } = new URL(hubUrl)
  if (!LOOPBACK.test(hostname)) return undefined
  return (
    `Only this machine can reach the hub at ${host}. For other devices, open this page by the hub’s network name ` +
    'or address, or set HUB_PUBLIC_URL.'
  )
}
