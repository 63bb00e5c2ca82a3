import { isIP, type LookupFunction } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { tlsKeyHash } from '@hedgerow/enrolment'
import { HubRefusedError } from './hub-trust.ts'

/**
 * TLS to a hub whose certificate no known CA signed, such as one of the hub's own CA. The hub's identity key proves it
 * instead: it signs the hash of the certificate's key together with the challenge. Until that is checked, only public
 * keys pass through such a connection; later connections with another key end before anything is sent.
 */
export type TlsConnection = {
  socket: TLSSocket
  /** The hash of the key in the server's certificate, as in `tlsKeyHash`. */
  keyHash: string
  /** Why known CAs do not prove the certificate or its name; undefined when one does. */
  problem: Error | undefined
}

type Options = { lookup?: LookupFunction | undefined; localAddress?: string | undefined; signal: AbortSignal }

/** Opens TLS with any certificate. Rejects with the network's error. */
export function openTls(url: URL, { lookup, localAddress, signal }: Options): Promise<TlsConnection> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(url.port || 443),
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: false,
      ...(lookup && { lookup }),
      ...(localAddress !== undefined && { localAddress, family: 4 }),
    })
    const abort = () => void socket.destroy(signal.reason as Error)
    const settle = () => {
      signal.removeEventListener('abort', abort)
      socket.off('error', fail).off('close', closed)
    }
    const fail = (error: Error) => {
      settle()
      socket.destroy()
      reject(error)
    }
    const closed = () => fail(Object.assign(new Error('the connection was cut off'), { code: 'ECONNRESET' }))
    socket.once('error', fail).once('close', closed)
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()
      if (!certificate) return fail(new Error('it shows no certificate'))
      settle()
      resolve({ socket, keyHash: tlsKeyHash(certificate), problem: socket.authorized ? undefined : problemOf(socket) })
    })
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}

/** Opens TLS to the owner of this key only. Rejects with HubRefusedError before anything is sent to another. */
export async function openTlsTo(keyHash: string, url: URL, options: Options): Promise<TlsConnection> {
  const connection = await openTls(url, options)
  if (connection.keyHash === keyHash) return connection
  connection.socket.destroy()
  throw foreignCertificate()
}

export function foreignCertificate(): HubRefusedError {
  return new HubRefusedError(
    'The right hub answers, but the TLS certificate is not its own: somebody in between could read the traffic. ' +
      'Where that is ' +
      "a proxy of yours, name its certificate's CA in GATEWAY_HUB_CA_FILE.",
  )
}

function problemOf(socket: TLSSocket): Error {
  const problem: unknown = socket.authorizationError
  return problem instanceof Error ? problem : Object.assign(new Error(String(problem)), { code: String(problem) })
}
