import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  armGateway,
  disarmGateway,
  fireDeterrent,
  listDetections,
  listGateways,
  listLedger,
  readGateway,
  recentActivity,
  stopDeterrents,
} from '@hedgerow/contract'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRelay, type Relay } from '../../apps/gateway/testing/relay.ts'
import { approveNext } from '../harness/approval.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const BOAR = readFileSync(join(import.meta.dirname, '../../scripts/demo-frames/boar.jpg'))

let hub: Hub
let relay: Relay
let gateway: TestGateway
let id: string

// For one try of a test: a ledger has a line that is repeated within a minute once.
beforeEach(async () => {
  hub = await startHub()
  relay = await startRelay()
  const sprinkler = { driver: 'http', on: { url: relay.onUrl }, off: { url: relay.offUrl }, coolDownSeconds: 0 }
  const boar = { name: 'Boar', labels: ['boar'], minimumScore: 0.7, fire: ['sprinkler'] }
  const file = { deterrents: { sprinkler: { ...sprinkler, seconds: 600, secondsAnHour: 3_600 } }, rules: [boar] }
  gateway = await startGateway({ url: hub.url }, { name: 'Orchard', file })
  await approveNext(hub)
  id = await waitFor(
    async () => {
      const [found] = await hub.api(listGateways)
      if (found?.status !== 'online') return undefined
      const { heartbeat } = await hub.api(readGateway, { params: { id: found.id } })
      return heartbeat?.deterrents[0]?.state === 'ready' ? found.id : undefined
    },
    { for: 'the gateway with its sprinkler' },
  )
})
afterEach(async () => {
  await gateway?.stop()
  await relay?.stop()
  await hub?.stop()
})

const to = () => ({ params: { id } })
const ledgerWith = (kind: string) =>
  waitFor(async () => (await hub.api(listLedger, to())).find((entry) => entry.kind === kind), { for: kind })

test('a boar sets the sprinkler off by itself, and a person stops it from the hub', async () => {
  const seen = { id: 'boar-1', camera: 'orchard', label: 'boar', severity: 'alert', score: 0.9 } as const
  const startedAt = new Date().toISOString()
  await gateway.localApi.reportDetections([{ ...seen, startedAt, thumbnail: BOAR.toString('base64') }])
  await waitFor(() => relay.isOn(), { for: 'water' })
  const fired = await ledgerWith('fired')
  expect(fired).toMatchObject({ deterrent: 'sprinkler', by: { kind: 'rule', name: 'Boar', detection: 'boar-1' } })
  await waitFor(async () => (await hub.api(listDetections, to())).find(({ hasThumbnail }) => hasThumbnail), {
    for: 'the picture',
  })
  const activity = await hub.api(recentActivity)
  expect(activity.map(({ message }) => message)).toContain(
    'Deterrent "sprinkler" of "Orchard" was fired by the rule "Boar" for 600 s',
  )
  const stopped = await hub.api(stopDeterrents, { ...to(), body: {} })
  expect(stopped).toMatchObject({ state: 'done', by: hub.admin.username })
  expect(relay.isOn()).toBe(false)
  expect(await ledgerWith('stopped')).toMatchObject({ by: { kind: 'person', via: 'hub', name: hub.admin.username } })
})

test('a gateway that is disarmed from the hub fires for nobody, and fires again when it is armed', async () => {
  expect(await hub.api(disarmGateway, to())).toMatchObject({ state: 'done' })
  await waitFor(async () => (await hub.api(readGateway, to())).heartbeat?.armed === false, { for: 'disarmed' })
  const fire = () => hub.api(fireDeterrent, { ...to(), body: { deterrent: 'sprinkler', seconds: 5 } })
  expect(await fire()).toMatchObject({ state: 'refused', code: 'disarmed' })
  expect(relay.isOn()).toBe(false)
  expect(await hub.api(armGateway, to())).toMatchObject({ state: 'done' })
  await waitFor(async () => ((await fire()).state === 'done' ? true : undefined), { for: 'a test' })
  expect(relay.isOn()).toBe(true)
  await hub.api(stopDeterrents, { ...to(), body: { deterrent: 'sprinkler' } })
  expect(relay.isOn()).toBe(false)
})
