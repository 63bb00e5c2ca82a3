const INTERFACE_NAME_LIMIT = 15

/** wg-quick names the interface after the file, and Linux takes 15 characters of a small set. */
export function configFileName(gatewayName: string): string {
  const name = gatewayName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, INTERFACE_NAME_LIMIT)
    .replace(/-$/, '')
  return `${name === '' ? 'hedgerow' : name}.conf`
}

/** False if the hub wrote a placeholder in angle brackets instead of the key. */
export function hasPrivateKey(config: string): boolean {
  return /^PrivateKey\s*=\s*[A-Za-z0-9+/]{43}=\s*$/m.test(config)
}
