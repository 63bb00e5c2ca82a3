import type { Duplex } from 'node:stream'
import { openKnownTls, UnknownCertificate } from '../../known-tls.ts'
import { FrigateError } from './failure.ts'
import type { FrigateSettings } from './schema.ts'

/** TLS to the Frigate of gateway.yaml. Rejects with FrigateError, and with the network's error. */
export async function openFrigateTls(
  url: URL,
  { certificateFingerprint }: Pick<FrigateSettings, 'certificateFingerprint'>,
  signal: AbortSignal,
): Promise<Duplex> {
  try {
    return await openKnownTls(url, { certificateFingerprint, signal })
  } catch (error) {
    if (!(error instanceof UnknownCertificate)) throw error
    throw new FrigateError(
      certificateFingerprint === undefined
        ? `No known CA signed Frigate's certificate. If it is ${error.shown}, put that into gateway.yaml as ` +
            'certificateFingerprint.'
        : `Frigate's certificate is not the one of certificateFingerprint in gateway.yaml, but ${error.shown}.`,
      { isLasting: true },
    )
  }
}
