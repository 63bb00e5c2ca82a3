import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listGateways, login } from '@hedgerow/contract'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startHub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const OPEN_FILES = 256
const STRANGERS = 600

test('with few open files, a crowd of connections keeps no known person out', async () => {
  const [https, metrics] = [await freeTcpPort(), await freeTcpPort()]
  const hub = await startHub({
    openFiles: OPEN_FILES,
    env: { HUB_HTTPS_PORT: String(https), HUB_METRICS_PORT: String(metrics) },
  })
  const strangers: Socket[] = []
  onTestFinished(async () => {
    for (const socket of strangers) socket.destroy()
    await hub.stop()
  })
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
    const line = text.split('\n').find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `))
    return Number(line?.split(' ')[1] ?? 0)
  }

  for (let i = 0; i < STRANGERS; i++) {
    const port = i % 2 === 0 ? hub.port : https
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${10 + (i % 8)}` })
    strangers.push(socket.on('error', () => {}))
  }
  const isCrowded = async () => (await metric('hedgerow_connections_refused_total')) >= STRANGERS - OPEN_FILES
  await waitFor(isCrowded, { for: 'refused connections' })
  expect(await metric('hedgerow_connections')).toBeLessThanOrEqual(OPEN_FILES * 0.75)
  for (let i = 0; i < 5; i++) {
    expect(await hub.visitor(login, { body: hub.admin })).toHaveProperty('accessToken')
    expect(await hub.api(listGateways)).toEqual([])
  }
  expect(await metric('hedgerow_connection_faults_total')).toBe(0)
})
