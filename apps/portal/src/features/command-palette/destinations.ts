/** Where the palette can lead: the portal's screens and the fleet. Pure, so that the order can be tested alone. */
export type Destination = { path: string; name: string; hint: string }

export const SCREENS: readonly Destination[] = [
  { path: '/dashboard', name: 'Dashboard', hint: 'Screen' },
  { path: '/threats', name: 'Threats', hint: 'Screen' },
  { path: '/gateways', name: 'Gateways', hint: 'Screen' },
  { path: '/gateway-approvals', name: 'Approvals', hint: 'Screen' },
  { path: '/gateway-invitations', name: 'Gateway invitations', hint: 'Screen' },
  { path: '/auto-approval-settings', name: 'Auto-approval settings', hint: 'Screen' },
  { path: '/users', name: 'Users', hint: 'Screen' },
  { path: '/settings', name: 'Settings', hint: 'Screen' },
  { path: '/profile', name: 'Profile', hint: 'Screen' },
]

const SHOWN = 10

/**
 * What fits `text` best, at most ten: names that begin with it, then names with a word that does, then anything that
 * holds all its words; screens before gateways among equals.
 */
export function findDestinations(
  text: string,
  gateways: readonly { id: string; name: string; location: string }[],
): readonly Destination[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return SCREENS
  const words = wanted.split(/\s+/)
  const ranked: Destination[][] = [[], [], []]
  const place = (destination: Destination, extra: string) => {
    const name = destination.name.toLowerCase()
    if (!words.every((word) => name.includes(word) || extra.includes(word))) return
    const rank = name.startsWith(wanted) ? 0 : name.split(/[\s-]+/).some((word) => word.startsWith(wanted)) ? 1 : 2
    ranked[rank]?.push(destination)
  }
  for (const screen of SCREENS) place(screen, '')
  for (const { id, name, location } of gateways) {
    place(
      { path: `/gateways/${id}`, name, hint: location === '' ? 'Gateway' : location },
      `${id} ${location.toLowerCase()}`,
    )
  }
  return ranked.flat().slice(0, SHOWN)
}
