import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { ConfigError } from '../config.ts'

/**
 * Trusts the CA certificates in `path` (PEM, one or more) in addition to the well-known ones, for the whole process.
 * This protects only against eavesdroppers; the hub's signature proves its identity. Throws ConfigError.
 */
export function trustHubAuthority(path: string): void {
  const refuse = (problem: string) => new ConfigError(`GATEWAY_HUB_CA_FILE: ${problem}`)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw refuse('the file cannot be read')
  }
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (certificates.length === 0) throw refuse('the file holds no certificate in PEM form')
  if (!certificates.every(isCertificate)) throw refuse('the file holds a certificate that is damaged')
  setDefaultCACertificates([...getCACertificates('default'), ...certificates])
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
