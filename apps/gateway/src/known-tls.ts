import type { LookupFunction } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { z } from 'zod'
import { openTls } from './hub/tls-connection.ts'
import { isLoopback } from './kernel/loopback.ts'

/** A setting: SHA-256 of a certificate. */
export const certificateFingerprint = z
  .string()
  .regex(/^(?:[0-9A-Fa-f]{2}:?){32}$/, 'A fingerprint has 32 pairs of hexadecimal digits (SHA-256).')
  .transform((text) => text.replaceAll(':', '').toUpperCase())

/** The certificate of the server is not trusted. */
export class UnknownCertificate extends Error {
  /** SHA-256 of the certificate that the server showed. */
  readonly shown: string
  constructor(shown: string, expected: string | undefined) {
    super(
      expected === undefined
        ? `no known CA signed its certificate. If it is ${shown}, put that into gateway.yaml as certificateFingerprint`
        : `its certificate is not the one of certificateFingerprint in gateway.yaml, but ${shown}`,
    )
    this.shown = shown
  }
}

/**
 * TLS to a server of gateway.yaml and to nobody else: a server on this device, one with a certificate of a known CA, or
 * the one whose certificate the file names. Rejects with UnknownCertificate, and with the network's error.
 */
export async function openKnownTls(
  url: URL,
  {
    certificateFingerprint: expected,
    ...options
  }: { certificateFingerprint?: string | undefined; lookup?: LookupFunction; signal: AbortSignal },
): Promise<TLSSocket> {
  const { socket, problem } = await openTls(url, options)
  const shown = socket.getPeerX509Certificate()?.fingerprint256.replaceAll(':', '').toUpperCase() ?? 'none'
  if (expected === undefined ? !problem || isLoopback(url.hostname) : shown === expected) return socket
  socket.destroy()
  throw new UnknownCertificate(shown, expected)
}
