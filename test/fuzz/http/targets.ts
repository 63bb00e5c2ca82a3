/**
 * The four interfaces that an attacker can send HTTP to, each a real process: the hub's public front, a gateway's
 * origin and port, a gateway's answers, and the agent with its device page and its own application.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { once } from 'node:events'
import { createServer as createHttpServer, request } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { Random } from '../../../packages/wireguard/fuzz/mutate.ts'
import { createApiAs } from '../../harness/api-client.ts'
import { AGENT_COMMAND } from '../../harness/agent.ts'
import { startChild, type Child } from '../../harness/child-process.ts'
import { freeTcpPort } from '../../harness/free-ports.ts'
import { openGatewayUi } from '../../harness/gateway-ui-client.ts'
import { startHub } from '../../harness/hub.ts'
import { joinPlayedGateway } from '../../harness/played-gateway.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { createScript, say } from './conversation.ts'
import { answerSeeds, requestSeeds, type SeedRequest } from './seeds.ts'

export type Target = {
  /** One hostile conversation; resolves when the fuzzer is done with it. */
  attack(random: Random): Promise<void>
  /** Ends every connection that the fuzzer still holds. */
  letGo(): void
  /** Whether an ordinary request is served. */
  isWell(): Promise<boolean>
  /** The process under attack. */
  process(): Child
  /** How many errors its last guard has caught. */
  faults(): Promise<number>
  stop(): Promise<void>
}

export const TARGETS: Record<string, () => Promise<Target>> = {
  front: startFront,
  origins: startOrigins,
  answers: startAnswers,
  agent: startAgent,
}

const FAULT = 'a connection was ended by an error'

/** How many files and sockets a process has open. */
export const openDescriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

type Dialed = { dial(port: number): Socket; dialTls(port: number): Socket; letGo(): void }

function createDialer(): Dialed {
  const open = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
    return socket
  }
  return {
    dial: (port) => keep(connect({ port, host: '127.0.0.1', allowHalfOpen: true })),
    dialTls(port) {
      const below = keep(connect(port, '127.0.0.1'))
      const socket = keep(connectTls({ socket: below, rejectUnauthorized: false }))
      return Object.assign(socket, { resetAndDestroy: () => below.resetAndDestroy() })
    },
    letGo() {
      for (const socket of open) socket.destroy()
    },
  }
}

async function startFuzzedHub() {
  const [metricsPort, httpsPort] = [await freeTcpPort(), await freeTcpPort()]
  const hub = await startHub({ env: { HUB_METRICS_PORT: String(metricsPort), HUB_HTTPS_PORT: String(httpsPort) } })
  return {
    hub,
    httpsPort,
    parts: {
      process: hub.process,
      async faults() {
        const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
        return Number(/^hedgerow_connection_faults_total (\d+)$/m.exec(metrics)?.[1])
      },
      stop: async () => void (await hub.stop()),
    },
  }
}

/** Without a session, over HTTP, over HTTPS, and as bytes that are not TLS. */
async function startFront(): Promise<Target> {
  const { hub, httpsPort, parts } = await startFuzzedHub()
  const { dial, dialTls, letGo } = createDialer()
  const gateway = 'abcdefghijkl'
  const seeds = [
    ...requestSeeds({ host: `localhost:${hub.port}`, origin: hub.url, cookie: '', path: '/api/v1/auth/login' }),
    ...requestSeeds({ host: `localhost:${hub.port}`, origin: hub.url, cookie: '', path: '/' }),
    ...requestSeeds({ host: `gw-${gateway}.localhost:${hub.port}`, origin: hub.url, cookie: '', path: '/' }),
  ]
  return {
    ...parts,
    letGo,
    async attack(random) {
      const way = random(4)
      const socket = way === 0 ? dialTls(httpsPort) : dial(way === 1 ? httpsPort : hub.port)
      await say(socket, createScript(seeds, random))
    },
    isWell: async () => (await status(hub.port, 'localhost', '/readyz')) === 200,
  }
}

/** A simulated gateway in the tunnel of a real hub, with a session on its page. */
async function startPlayedGateway(serve: (stream: Duplex) => void) {
  const { hub, parts } = await startFuzzedHub()
  const gateway = await joinPlayedGateway(hub, serve)
  const page = await openGatewayUi(hub.url, hub.api, gateway.id)
  const session: SeedRequest = {
    host: new URL(page.origin).host,
    origin: page.origin,
    cookie: page.cookie,
    path: '/page',
  }
  const isWell = async () => (await page.send('/well')).text === 'well'
  await waitFor(isWell, { for: 'the page of the gateway' })
  const byAddress = hub.url.replace('localhost', '127.0.0.1')
  const portPage = await openGatewayUi(byAddress, createApiAs(byAddress, hub.admin), gateway.id)
  const portSession: SeedRequest = {
    host: new URL(portPage.origin).host,
    origin: portPage.origin,
    cookie: portPage.cookie,
    path: '/page',
  }
  return {
    hub,
    session,
    portSession,
    parts: {
      ...parts,
      isWell,
      async stop() {
        await gateway.stop()
        await parts.stop()
      },
    },
  }
}

/** Requests to a gateway's origin and to its port, from a person with a session there and from strangers. */
async function startOrigins(): Promise<Target> {
  const application = createHttpServer((incoming, answer) => {
    incoming.resume()
    answer.end(incoming.url === '/well' ? 'well' : 'page')
  })
  application.on('upgrade', (_request, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.pipe(socket)
  })
  application.on('clientError', (_error, socket) => socket.destroy())
  const { hub, session, portSession, parts } = await startPlayedGateway(
    (stream) => void application.emit('connection', stream),
  )
  const { dial, letGo } = createDialer()
  const ways = [session, portSession].map((asked) => ({
    port: asked === session ? hub.port : Number(new URL(asked.origin).port),
    seeds: [...requestSeeds(asked), ...requestSeeds({ ...asked, cookie: '' })],
  }))
  return {
    ...parts,
    letGo,
    async attack(random) {
      const { port, seeds } = ways[random(2)]!
      await say(dial(port), createScript(seeds, random))
    },
  }
}

/** Ordinary requests to a gateway with arbitrary answers. */
async function startAnswers(): Promise<Target> {
  const waiting: ((stream: Duplex) => void)[] = []
  const held = new Set<Duplex>()
  const { hub, session, parts } = await startPlayedGateway((stream) => {
    held.add(stream)
    stream.once('close', () => held.delete(stream))
    // The hub may use a connection again, so each of its requests may meet the next script.
    stream.on('data', (data: Buffer) => {
      if (data.includes('GET /well '))
        stream.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nwell')
      else waiting.shift()?.(stream)
    })
  })
  const { dial, letGo } = createDialer()
  const asking = requestSeeds(session)
  const ordinary = [asking[0]!, asking[1]!, asking[0]!.replace('GET', 'HEAD'), asking[0]!.replace('GET', 'OPTIONS')]
  const seeds = answerSeeds()
  return {
    ...parts,
    letGo() {
      letGo()
      for (const stream of held) stream.destroy()
    },
    async attack(random) {
      const script = createScript(seeds, random)
      const question = Buffer.from(ordinary[random(ordinary.length)]!, 'latin1')
      const answer = (stream: Duplex): void => void say(stream, script)
      waiting.push(answer)
      await say(dial(hub.port), { pieces: [question], end: 'half' })
      // Removes an unused script, so that the next request does not get it.
      if (waiting.includes(answer)) waiting.splice(waiting.indexOf(answer), 1)
    },
  }
}

/** The agent alone, from its local network and from its own application at the same time. */
async function startAgent(): Promise<Target> {
  const scripts: (() => ReturnType<typeof createScript>)[] = []
  const application = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const script = scripts.shift()
      if (script) void say(socket, script())
      else socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  application.listen(0, '127.0.0.1')
  await once(application, 'listening')
  const held = new Set<Socket>()
  application.on('connection', (socket) => {
    held.add(socket)
    socket.once('close', () => held.delete(socket))
  })
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-fuzz-agent-'))
  const port = await freeTcpPort()
  const child = await startChild(process.execPath, AGENT_COMMAND, {
    env: {
      GATEWAY_HUB_URL: `http://127.0.0.1:${await freeTcpPort()}`,
      GATEWAY_DATA_DIR: dataDir,
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      GATEWAY_UI_TARGET: `http://127.0.0.1:${(application.address() as AddressInfo).port}`,
      GATEWAY_UI_ON_LAN: 'on',
    },
  })
  const isWell = async () => (await status(port, '127.0.0.1', '/api/health')) === 200
  await waitFor(isWell, { for: 'the agent to be there' })
  const { dial, letGo } = createDialer()
  const asked: SeedRequest = {
    host: `127.0.0.1:${port}`,
    origin: `http://127.0.0.1:${port}`,
    cookie: '',
    path: '/page',
  }
  const questions = [...requestSeeds(asked), ...requestSeeds({ ...asked, path: '/device/' })]
  const answers = answerSeeds()
  return {
    async attack(random) {
      const socket = dial(port)
      if (random(2) === 0) return say(socket, createScript(questions, random))
      const script = createScript(answers, random)
      scripts.push(() => script)
      await say(socket, { pieces: [Buffer.from(questions[random(2)]!, 'latin1')], end: 'half' })
    },
    letGo() {
      scripts.length = 0
      letGo()
      for (const socket of held) socket.destroy()
    },
    isWell,
    process: () => child,
    faults: async () => child.output().split(FAULT).length - 1,
    async stop() {
      await child.stop()
      application.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function status(port: number, host: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: '127.0.0.1', path, headers: { host }, agent: false, timeout: 5_000 })
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')))
    outgoing.on('error', reject)
    outgoing.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    outgoing.end()
  })
}
