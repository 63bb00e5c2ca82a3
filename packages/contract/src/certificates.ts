import { z } from 'zod'
import { call } from './call.ts'

export const certificateId = z.enum(['hub-ca', 'hub-tls', 'configured-tls'])

export const certificate = z.object({
  id: certificateId,
  name: z.string(),
  type: z.enum(['CA', 'TLS']),
  issuedTo: z.string(),
  issuedBy: z.string(),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** SHA-256 over the certificate: upper-case hexadecimal pairs with colons. */
  fingerprint: z.string(),
  /**
   * Whether HTTPS uses it now; for the CA, whether HTTPS uses a certificate that it issued. False while HTTPS is off.
   */
  inUse: z.boolean(),
  /** Whether `renewCertificate` can renew it: the hub issued it. */
  renewable: z.boolean(),
  /** The CA's PEM belongs in the trust stores of browsers and gateways. */
  pem: z.string(),
})
export type Certificate = z.output<typeof certificate>

/** The hub's CA, its TLS certificate and the configured one, if any. The status follows from `expiresAt`. */
export const listCertificates = call({
  method: 'GET',
  path: '/v1/hub/certificates',
  response: z.array(certificate),
})

/**
 * Replaces a certificate that the hub issued; the new one is in use at once. Renewing the CA renews the TLS one too.
 */
export const renewCertificate = call({
  method: 'POST',
  path: '/v1/hub/certificates/:id/renew',
  params: z.strictObject({ id: certificateId }),
  errors: ['certificate_not_found', 'certificate_not_renewable'],
  response: certificate,
})
