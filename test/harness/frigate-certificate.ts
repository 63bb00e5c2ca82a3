import { createPrivateKey, X509Certificate } from 'node:crypto'

/**
 * A self-signed certificate: for an IP address or, like the one that Frigate makes at its first start, for a name that
 * nobody uses.
 */
export async function makeSelfSigned(ip?: string): Promise<{ cert: string; key: string; fingerprint: string }> {
  // The library reads decorator metadata from the global `Reflect` while it loads.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'O=FRIGATE DEFAULT CERT, CN=*',
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: ip === undefined ? [] : [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: ip }])],
  })
  const cert = made.toString('pem')
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'pem', type: 'pkcs8' })
  return { cert, key, fingerprint: new X509Certificate(cert).fingerprint256 }
}
