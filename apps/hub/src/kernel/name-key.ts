/** The form in which a gateway's name must be unique, and in which it is found. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').trim().replaceAll(/\s+/g, ' ').toLowerCase()
}
