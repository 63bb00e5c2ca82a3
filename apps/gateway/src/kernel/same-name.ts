/**
 * Names of cameras, zones and labels, as they are compared everywhere while the device runs: programs write them in
 * other cases, and umlauts in two ways. `check` wants them as they are, because Frigate tells `gate` from `Gate`.
 */
export function isSameName(a: string, b: string): boolean {
  return nameKey(a) === nameKey(b)
}

/** The same for all ways to write a name. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
