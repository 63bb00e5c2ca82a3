import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { applicationsOf, openGatewayUi } from '../harness/gateway-ui-client.ts'
import { startGateway } from '../harness/gateway.ts'
import { startHub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'
import { growthOf, usageOf, type Found } from './site.ts'

const CHUNK = Buffer.alloc(64 * 1_024, 'x')
const SAMPLE_MS = 200
const GROWTH_MAX = 1.1
const MEGABYTE = 1_000_000

/** Sends this many megabytes down, and as many up, through Connect to an application behind a gateway. */
export async function bytes(options: { megabytes: number; judgesMemory: boolean }): Promise<Found> {
  await using life = new AsyncDisposableStack()
  const hub = await startHub({ env: { HUB_LOG_LEVEL: 'error' } })
  life.defer(async () => void (await hub.stop()))
  const application = createServer((incoming, answer) => {
    if (incoming.method === 'GET') void send(answer, Number(incoming.url?.slice(1)))
    else void count(incoming).then((received) => answer.end(String(received)))
  }).listen(0, '127.0.0.1')
  await once(application, 'listening')
  life.defer(() => void application.close())
  const uiTarget = new URL(`http://127.0.0.1:${(application.address() as AddressInfo).port}`)
  const gateway = await startGateway(hub, { name: 'Barn', uiTarget })
  life.defer(() => gateway.stop())
  const [registration] = await waitFor(
    async () => {
      const pending = await hub.api(listPendingRegistrations)
      return pending.length > 0 ? pending : undefined
    },
    { for: 'the registration' },
  )
  await hub.api(approveRegistration, { params: { registrationId: registration!.registrationId } })
  await waitFor(async () => (await hub.api(listGateways))[0]?.status !== 'offline', { for: 'the gateway' })
  const [{ id } = { id: '' }] = await hub.api(listGateways)
  const [name] = await applicationsOf(hub.api, id)
  const { origin, cookie } = await openGatewayUi(hub.url, hub.api, id, name)
  const { host, port } = new URL(origin)
  const call = (method: string, path: string) =>
    request({ host: '127.0.0.1', port, method, path, headers: { host, cookie, origin }, agent: false })
  const wanted = options.megabytes * MEGABYTE

  async function measured(transfer: () => Promise<number>) {
    const samples: number[] = []
    const ended = new AbortController()
    const sampling = (async () => {
      while (!ended.signal.aborted) {
        samples.push((await usageOf(hub)).megabytes)
        await sleep(SAMPLE_MS, undefined, { signal: ended.signal }).catch(() => {})
      }
    })()
    const startedAt = performance.now()
    const arrived = await transfer().finally(() => {
      ended.abort()
      return sampling
    })
    const seconds = (performance.now() - startedAt) / 1_000
    return { arrived, megabits: Math.round((arrived * 8) / MEGABYTE / seconds), ...growthOf(samples) }
  }

  const down = await measured(async () => {
    const outgoing = call('GET', `/${wanted}`).end()
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    return count(answer)
  })
  const up = await measured(async () => {
    const outgoing = call('POST', '/upload')
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
    // A refusal arrives before everything is sent.
    await Promise.race([send(outgoing, wanted), answered])
    const [answer] = await answered
    const answerText = await text(answer)
    if (answer.statusCode !== 200) throw new Error(`The upload was answered ${answer.statusCode}: ${answerText}`)
    return Number(answerText)
  })
  const broken: string[] = []
  for (const [way, { arrived, before, after }] of Object.entries({ down, up })) {
    if (arrived !== wanted) broken.push(`${arrived} of ${wanted} bytes arrived on the way ${way}`)
    if (options.judgesMemory && after > before * GROWTH_MAX)
      broken.push(`memory grew from ${before} to ${after} MB on the way ${way}`)
  }
  return {
    figures: {
      'megabytes each way': options.megabytes,
      'down, Mbit/s': down.megabits,
      'up, Mbit/s': up.megabits,
      'memory in the middle of the upload, MB': up.before,
      'memory at its end, MB': up.after,
    },
    broken,
  }
}

async function send(to: NodeJS.WritableStream, total: number): Promise<void> {
  for (let sent = 0; sent < total; sent += CHUNK.length) {
    if (!to.write(CHUNK.subarray(0, Math.min(CHUNK.length, total - sent)))) await once(to, 'drain')
  }
  to.end()
}

async function count(from: AsyncIterable<Buffer>): Promise<number> {
  let length = 0
  for await (const chunk of from) length += chunk.length
  return length
}
