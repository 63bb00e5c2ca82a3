import type { X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { tlsKeyHash } from '@hedgerow/enrolment'
import { hubUrlOf } from '../http/hub-url.ts'
import type { HubAddress } from './install-script.ts'

type Options = {
  publicUrl: string | undefined
  /** The ports of this process, once it listens. */
  ports: () => { port: number; httpsPort?: number | undefined }
  /** The certificate in use; undefined without HTTPS. */
  certificate: (() => X509Certificate) | undefined
}

/**
 * How a device gets the agent from the hub that this request reached: over the hub's own HTTPS with its key pinned,
 * when the request came to this process directly; otherwise at the address of the request. Throws `invalid_request` for
 * an invalid `Host`.
 */
export function createAddressFor({
  publicUrl,
  ports,
  certificate,
}: Options): (headers: IncomingHttpHeaders) => HubAddress {
  return (headers) => {
    const url = new URL(hubUrlOf(publicUrl, headers))
    const { port, httpsPort } = ports()
    const isDirect = publicUrl === undefined && [port, httpsPort].includes(portOf(url))
    if (!isDirect || !certificate || httpsPort === undefined) return { url: url.origin, pin: undefined }
    return { url: new URL(`https://${url.hostname}:${httpsPort}`).origin, pin: tlsKeyHash(certificate()) }
  }
}

const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))
