/** An IPv4 address as people write it; a socket of both families says `::ffff:a.b.c.d` (RFC 4291, 2.5.5.2). */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** Whether an address or a host of a URL is this device itself: then no network lies in between. */
export function isLoopback(host = ''): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(host)
}
