import { createHash, type X509Certificate } from 'node:crypto'

/** SHA-256 of a certificate's SubjectPublicKeyInfo (RFC 5280 section 4.1), as base64: the hash that a hub signs. */
export function tlsKeyHash({ publicKey }: X509Certificate): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64')
}
