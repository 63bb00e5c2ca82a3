import type { Duplex } from 'node:stream'
import { openTls } from '../../hub/tls-connection.ts'
import { isLoopback } from '../../loopback.ts'
import { FrigateError } from './failure.ts'
import type { FrigateSettings } from './schema.ts'

/**
 * A TLS connection to the Frigate of gateway.yaml and to nobody else: one on this device, one that a known CA vouches
 * for, or the one whose certificate the file names. Rejects with FrigateError, and with the network's error.
 */
export async function openFrigateTls(
  url: URL,
  { certificateFingerprint }: Pick<FrigateSettings, 'certificateFingerprint'>,
  signal: AbortSignal,
): Promise<Duplex> {
  const { socket, problem } = await openTls(url, { signal })
  const shown = socket.getPeerX509Certificate()?.fingerprint256.replaceAll(':', '').toUpperCase() ?? 'none'
  const isRight =
    certificateFingerprint === undefined ? !problem || isLoopback(url.hostname) : shown === certificateFingerprint
  if (isRight) return socket
  socket.destroy()
  throw new FrigateError(
    certificateFingerprint === undefined
      ? `No CA vouches for Frigate's certificate. If it is ${shown}, put that into gateway.yaml as certificateFingerprint.`
      : `Frigate's certificate is not the one of certificateFingerprint in gateway.yaml, but ${shown}.`,
    { isLasting: true },
  )
}
