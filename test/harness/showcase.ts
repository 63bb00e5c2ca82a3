import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  addGateway,
  addSite,
  approveRegistration,
  assignSite,
  createUser,
  createUserInvitation,
  enableTwoFactor,
  hubStats,
  listGateways,
  listIncidents,
  listPendingRegistrations,
  rejectRegistration,
  setUpTwoFactor,
  tagGateways,
  type Detection,
} from '@hedgerow/contract'
import { authenticatorCode } from './authenticator.ts'
import { startCoveredCamera, rememberYard } from '../../apps/gateway/testing/covered-camera.ts'
import { writeLearned, writeLearnedNames } from '../../apps/gateway/testing/learned-file.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts'
import { addDayOfHistory, addPerson, markAsLearned } from './hub-database.ts'
import { startHub, type Credentials, type Hub } from './hub.ts'
import { NOON_ZONE } from './noon.ts'
import { waitFor } from './wait-for.ts'

/** A hub with an example of everything, and a freshly installed one. */
export type Showcase = {
  hub: Hub
  emptyHub: Hub
  /** Signs in to `hub` with the role user, and owns no gateway. */
  visitorOfFarm: Credentials
  /** Signs in to `hub` with two-factor. */
  guarded: Credentials
  /** The approved gateway's own page, and that of a waiting one. */
  barn: TestGateway
  /** Approved; one of its cameras is covered, and it has learned. */
  orchard: TestGateway
  waiting: TestGateway
  stop(): Promise<void>
}

/** Nothing listens there, so that the log of deliveries has failed messages. */
const DEAD_WEBHOOK = { HUB_WEBHOOK_URL: 'http://127.0.0.1:9/', HUB_WEBHOOK_SECRET: 'a secret for webhooks' }

/** A gateway.yaml with an example of everything that a device's own interface shows. */
const RIVER_GATE = {
  cameras: {
    bank: {
      url: 'http://127.0.0.1:9/',
      zones: {
        path: [
          [0, 0.5],
          [1, 0.5],
          [1, 1],
        ],
      },
    },
  },
  deterrents: { Sprinkler: { driver: 'command', on: ['true'], off: ['true'], seconds: 5 } },
  rules: [{ name: 'Fox', labels: ['fox'], minimumScore: 0.7, fire: ['Sprinkler'] }],
}

/** Connect asks what to open; somebody covered a camera. */
const orchardFile = (url: string) => ({
  applications: { router: { url: 'http://127.0.0.1:9', title: 'The router’s page' } },
  cameras: { [COVERED]: { url, framesPerSecond: 1 } },
  sources: { api: { loopbackNeedsToken: false }, eye: { cameras: [COVERED], model: 'none' } },
})
const COVERED = 'pond'

const LONG_NAME = 'Lower meadow by the old mill, second footbridge from the road, east bank'

/** Online, warning and offline gateways, two waiting registrations, and a day of detections. */
export async function startShowcase(): Promise<Showcase> {
  const life = new AsyncDisposableStack()
  try {
    const [hub, emptyHub] = await Promise.all([startHub({ env: { ...DEAD_WEBHOOK, TZ: NOON_ZONE } }), startHub()])
    life.defer(async () => void (await Promise.all([hub.stop(), emptyHub.stop()])))
    const covered = await startCoveredCamera()
    life.defer(covered.stop)
    const gateway = async (name: string, location: string, more: Pick<TestGatewayOptions, 'file' | 'before'> = {}) => {
      const started = await startGateway(hub, { name, location, ...more })
      life.defer(() => started.stop())
      return started
    }
    const visitorOfFarm = await addPerson(hub, { username: 'walker', role: 'user' })
    const guarded = await addPeople(hub)
    const barn = await gateway('Barn', 'Yard, south wall')
    const orchard = await gateway('North orchard', 'Row 12, by the stream', {
      file: orchardFile(covered.snapshotUrl),
      async before(dataDir) {
        await rememberYard(dataDir, { name: COVERED, address: covered.snapshotUrl })
        writeLearned(dataDir, COVERED, Date.now())
        writeLearnedNames(dataDir, COVERED, Date.now())
      },
    })
    await barn.localApi.patchStatus({ cameras: [{ name: 'yard', state: 'online', fps: 29.7 }] })
    await orchard.localApi.patchStatus({ cameras: [{ name: 'orchard-gate', state: 'offline', fps: 0 }] })
    await barn.localApi.reportDetections(aDayOfDetections())
    await approveAll(hub, 2)
    const fleet = await hub.api(listGateways)
    for (const { id, name } of fleet) if (name === 'Barn') await addDayOfHistory(hub, id)
    await hub.api(tagGateways, { body: { ids: fleet.map(({ id }) => id), add: ['orchard', 'valley-north'] } })
    const notes = 'Gate code 4711; the dog is friendly'
    const farm = { name: 'Lower farm', latitude: 52.5163, longitude: 13.3777, timeZone: 'Europe/Berlin', notes }
    const mill = await hub.api(addSite, { body: { name: 'Old mill', latitude: 52.548, longitude: 13.43 } })
    await hub.api(addSite, { body: farm })
    const placed = fleet.filter(({ name }) => name === 'Barn').map(({ id }) => id)
    await hub.api(assignSite, { body: { ids: placed, siteId: mill.id } })
    await hub.api(addGateway, { body: { name: 'Pump house', location: '', description: 'A router with WireGuard' } })
    await gateway('Stray box', '')
    const stray = await waitFor(async () => (await hub.api(listPendingRegistrations))[0], {
      for: 'the stray device to wait',
    })
    const reason = 'Nobody knows this device'
    await hub.api(rejectRegistration, { params: { registrationId: stray.registrationId }, body: { reason } })
    const waiting = await gateway('River gate', '', { file: RIVER_GATE })
    await waiting.localApi.patchStatus({ cameras: [{ name: 'ford', state: 'disabled', fps: 0 }] })
    await waiting.localApi.reportDetections(aDayOfDetections().slice(-12))
    await gateway(LONG_NAME, 'Lower meadow')
    await waitFor(async () => (await hub.api(listPendingRegistrations)).length === 2, { for: 'two to wait' })
    await waitFor(async () => (await hub.api(hubStats)).threats > 0, { for: 'the detections' })
    const hasApplications = async () =>
      (await hub.api(listGateways)).some(({ applications }) => applications.length > 0)
    await waitFor(hasApplications, { for: 'the application of North orchard' })
    const incidents = await hub.api(listIncidents, { query: { limit: 6 } })
    await markAsLearned(hub, { heldBack: incidents.slice(0, 2), doubtful: incidents.slice(2, 3) })
    const stop = () => life.disposeAsync()
    return { hub, emptyHub, visitorOfFarm, guarded, barn, orchard, waiting, stop }
  } catch (error) {
    await life.disposeAsync()
    throw error
  }
}

/** A user of each role and state, invitations, and a person with two-factor, whose credentials it returns. */
async function addPeople(hub: Hub): Promise<Credentials> {
  const guarded = { username: 'rosa.lind', password: 'four foxes in fog' }
  const names = { email: 'rosa.lind@farm.example', firstName: 'Rosa', lastName: 'Lind' }
  await hub.api(createUser, { body: { ...guarded, ...names, role: 'manager' } })
  const leaver = {
    username: 'seasonal-helper-2025',
    email: 'a.very.long.address@subsidiary.farm.example',
    active: false,
  }
  await hub.api(createUser, { body: { ...leaver, password: 'nine owls at noon', firstName: 'Jan' } })
  await hub.api(createUserInvitation, { body: { label: 'Spring helpers', maxUses: 5 } })
  await hub.api(createUserInvitation, { body: { role: 'manager' } })
  const asGuarded = hub.apiAs(guarded)
  const { secret } = await asGuarded(setUpTwoFactor, { body: { password: guarded.password } })
  await asGuarded(enableTwoFactor, { body: { code: authenticatorCode(secret) } })
  return guarded
}

async function approveAll(hub: Hub, count: number): Promise<void> {
  const pending = await waitFor(
    async () => {
      const waiting = await hub.api(listPendingRegistrations)
      return waiting.length === count ? waiting : undefined
    },
    { for: `${count} gateways to wait for approval` },
  )
  for (const { registrationId } of pending) await hub.api(approveRegistration, { params: { registrationId } })
  const isAlive = async () => (await hub.api(listGateways)).every(({ status }) => status !== 'offline')
  await waitFor(isAlive, { for: 'the approved gateways to be alive' })
}

/** Detections half an hour apart; the newest is from now. */
function aDayOfDetections(): Detection[] {
  return Array.from({ length: 48 }, (_, index) => {
    const startedAt = new Date(Date.now() - (47 - index) * 1_800_000).toISOString()
    const isAlert = index % 5 === 2
    return {
      id: randomUUID(),
      camera: 'yard',
      label: isAlert ? 'fox' : 'cat',
      severity: isAlert ? 'alert' : 'detection',
      score: 0.9,
      startedAt,
      // Some detections have no picture.
      ...(index % 7 !== 3 && { thumbnail: frameOf(isAlert ? 'fox' : 'cat') }),
    }
  })
}

/** A drawn camera picture, as a JPEG in base64. */
function frameOf(label: string): string {
  return readFileSync(join(import.meta.dirname, '../../scripts/demo-frames', `${label}.jpg`), 'base64')
}
