/** Whether an address or a host of a URL is this device itself: then no network lies in between. */
export function isLoopback(host = ''): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(host)
}
