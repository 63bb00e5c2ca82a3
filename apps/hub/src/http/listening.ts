import type { Server } from 'node:net'
import type { Server as TlsServer } from 'node:https'
import { closeFront, cutConnections } from '@hedgerow/http'
import type { FastifyInstance } from 'fastify'

const DRAIN_MS = 5_000

type At = { host: string | undefined; port: number }

/** Listens and returns the port; `port` 0 takes a free one. */
export async function listen(app: FastifyInstance, at: At): Promise<number> {
  // Fastify's own `listen`, because it closes only servers that it opened.
  await onEveryAddress(at, (address) => app.listen(address))
  return portOf(app.server) ?? at.port
}

/** The same for a server that Fastify does not manage. */
export async function listenTls(server: TlsServer, at: At): Promise<number> {
  await onEveryAddress(at, (address) => listening(server, address))
  return portOf(server) ?? at.port
}

/** Without a host, listens on IPv6, which includes IPv4, or on IPv4 alone where there is no IPv6. */
async function onEveryAddress(at: At, open: (address: { host: string; port: number }) => Promise<unknown>) {
  try {
    await open({ host: at.host ?? '::', port: at.port })
  } catch (error) {
    if (at.host !== undefined || (error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error
    await open({ host: '0.0.0.0', port: at.port })
  }
}

function listening(server: TlsServer, address: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function portOf(server: Server): number | undefined {
  const address = server.address()
  return typeof address === 'object' ? address?.port : undefined
}

/** The exchanges with gateways: some are on connections of the servers that close, others on listeners of their own. */
type Exchanges = {
  /** Ends those that do not end by themselves. */
  endEndless(): void
  /** Ends all. */
  stop(): Promise<void>
}

/** Accepts nothing new, gives current requests time to finish, and ends the rest; endless streams end at once. */
export async function drain(app: FastifyInstance, tls: TlsServer | undefined, exchanges: Exchanges): Promise<void> {
  let stopped: Promise<void> | undefined
  const timer = setTimeout(() => {
    stopped = exchanges.stop()
    cutConnections(app.server)
    if (tls) cutConnections(tls)
  }, DRAIN_MS)
  const closing = Promise.all([app.close(), tls?.listening && new Promise<void>((resolve) => closeFront(tls, resolve))])
  exchanges.endEndless()
  await closing
  clearTimeout(timer)
  await (stopped ?? exchanges.stop())
}
