import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { GATEWAY_APPLICATIONS_PORT, GATEWAY_DOOR_PORT, GATEWAY_PORT, type Detection } from '@hedgerow/contract'
import { createFaults } from '@hedgerow/http'
import type { Logger } from 'pino'
import manifest from '../../../package.json' with { type: 'json' }
import { createApplications } from './applications/applications.ts'
import { deviceFilePath, type AgentIdentity, type AgentSettings } from './config.ts'
import { createTrials } from './cameras/trials.ts'
import { createEditor } from './device-file/editor.ts'
import { announceAgent, makeAgentToken } from './agent-file.ts'
import { lockDataDirectory } from './kernel/data-lock.ts'
import { openDevice } from './device.ts'
import { makeDataDirectory } from './kernel/durable-file.ts'
import { isOfTheDevice } from './kernel/startup-error.ts'
import type { GatewayState } from './hub/gateway-state.ts'
import { openHubConnection, type HubConnectionOptions } from './hub/hub-connection.ts'
import type { DeviceReport } from '@hedgerow/contract/local-api'
import { createLocalApi } from './local/api/local-api.ts'
import { createHubDoor } from './hub-door/hub-door.ts'
import { createDetector } from './local/device-ui/detector.ts'
import { createDeviceUi } from './local/device-ui/device-ui.ts'
import { createSessions } from './local/device-ui/sessions.ts'
import { createLocalUi } from './local/local-ui.ts'
import { openPassword } from './kernel/password.ts'
import { openLocalUiServer, type LocalUiServer } from './local/local-ui-server.ts'
import { modelsFolder, readModelLabels } from './models/store.ts'
import { watchOpenInterfaces } from './sources/frigate/open-interface.ts'
import type { Installation } from './update/installation.ts'
import { openRestarts, type Restarts } from './restarts.ts'
import type { TrialPace } from './update/trial.ts'
import { openUpdates } from './update/updates.ts'

/**
 * One gateway: the composition root that `run-agent.ts`, the demo and the tests start. Order: first the keys and the
 * local interface, so that a person always sees the device page; then the hub, the approval, the tunnel, heartbeats and
 * detections. A stored approval opens the tunnel at once, while the agent asks the hub whether it is still valid.
 */
export type GatewayOptions = AgentIdentity &
  Partial<AgentSettings> &
  Pick<HubConnectionOptions, 'searchDomains' | 'pace' | 'httpsFallbackAfterMs' | 'wallClock'> & {
    log: Logger
    /** Where the launcher and the versions are; undefined for an agent that another program updates. */
    installation?: Installation | undefined
    /** Ends this agent, so that the launcher starts the next version. */
    restart?: () => void
    /** How long a version is on trial. */
    trialPace?: TrialPace
    /** True when the process runs only this gateway: then an error in one connection does not end the process. */
    guardProcess?: boolean
  }

export type Gateway = {
  state(): GatewayState
  /** The password of the device's own interface, at the first start; nobody can read it later. */
  newPassword: string | undefined
  /** The port of the device page on this device. */
  port: number
  /** Resolves when they are on disk; rejects with a ZodError or the disk's error. */
  reportDetections(detections: readonly Detection[]): Promise<void>
  setDeviceReport(report: DeviceReport): void
  /** Ends everything at once; resolves when all sockets and files are closed. */
  stop(): Promise<void>
}

/** The build of the device's own interface. */
const UI_FOLDER = join(import.meta.dirname, '../../gateway-ui/dist')

/**
 * Rejects with DataFileError for an unusable data directory and with Node's own error when the local interface cannot
 * listen.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const life = new AsyncDisposableStack()
  const opened: Opened = {}
  try {
    return await start(options, life, opened)
  } catch (error) {
    if (isOfTheDevice(error)) await opened.restarts?.end()
    await life.disposeAsync()
    throw error
  }
}

/** What a failed start needs too. */
type Opened = { restarts?: Restarts }

async function start(options: GatewayOptions, life: AsyncDisposableStack, opened: Opened): Promise<Gateway> {
  const { log, dataDir, uiTarget } = options
  const { version } = manifest
  const startedAtMs = performance.now()
  const uptimeSeconds = () => Math.round((performance.now() - startedAtMs) / 1_000)

  await makeDataDirectory(dataDir)
  life.defer(await lockDataDirectory(dataDir))
  const faults = createFaults({
    report: (err, count) => log.error({ err, count }, 'an internal error ended a connection'),
  })
  if (options.guardProcess) life.defer(faults.guardProcess())
  const restarts = await openRestarts(join(dataDir, 'restarts.json'), { log })
  opened.restarts = restarts
  if (options.guardProcess) life.defer(restarts.noteLastWords())
  const filePath = deviceFilePath(options)
  const device = await openDevice({ dataDir, filePath, givenCameras: options.cameras, log }, life)
  const { queue, parts, deterrents } = device
  let server: LocalUiServer | undefined
  const frigate = () => device.file.current().sources.frigate
  const ownPort = () => server?.port
  const applications = createApplications({ file: device.file, uiTarget, ownPort, faults, log })
  life.defer(applications.stop)
  const openInterfaces = watchOpenInterfaces(applications.addresses, frigate)
  life.defer(openInterfaces.stop)
  device.file.onChange(openInterfaces.look)
  const updates = await openUpdates(options.installation, {
    dataDir,
    deviceFile: filePath,
    // Not what programs report: one that reports its status once only would seem to be gone.
    parts: () => ({
      cameras: device.sources.state().cameras,
      deterrents: deterrents.list(),
      ...deterrents.guarding(),
      waiting: queue.waiting(),
    }),
    settings: () => device.file.current().updates,
    place: () => device.file.current().site,
    isBusy: () => parts().deterrents.some(({ state }) => state === 'active'),
    restart: options.restart ?? (() => {}),
    trialPace: options.trialPace,
    log,
  })
  life.defer(updates.stop)
  const partsAndApplications = () => {
    const own = parts()
    const problems = [...updates.problems(), ...restarts.problems(), ...openInterfaces.problems(), ...own.problems]
    return { ...own, applications: applications.list(), problems, restarts: restarts.report() }
  }
  const hub = await openHubConnection(
    {
      ...options,
      version,
      uptimeSeconds,
      queue,
      parts: partsAndApplications,
      onReconfigured: device.file.onChange,
      deterrents,
      reviews: device.reviews,
      updater: updates.updater,
    },
    life,
  )

  device.secondLook.useHub(hub.askSecondLook)

  const password = await openPassword(dataDir)
  let hasStarted = false
  life.defer(async () => {
    if (!hasStarted) await password.forgetMade()
  })
  const agentToken = makeAgentToken()
  const localApi = createLocalApi({
    file: device.file.current,
    agentToken,
    report: device.reportOfProgram,
    setStatus: device.setProgramStatus,
    learning: device.learning,
    parts,
    record: device.record,
    pictures: device.pictures,
    deterrents: device.deterrents,
    updates: updates.report,
    goBack: updates.goBack,
    download: hub.download,
    hub() {
      const { hubUrl, gatewayId, detectionsWaiting, conditions } = hub.state()
      return { hubUrl, gatewayId, detectionsWaiting, conditions }
    },
    version,
    log,
  })
  const trials = createTrials(log)
  life.defer(trials.stop)
  const editor = createEditor(filePath, {
    uiTarget,
    async known(file) {
      const { frigate: there, programs } = device.knownNames()
      // Names of the running Frigate say nothing of another one.
      const isSame = file.sources.frigate?.url === frigate()?.url
      const models = await readModelLabels(modelsFolder(dataDir))
      return { frigate: isSame ? there : undefined, programs, seen: device.record.seenNames(), models }
    },
  })
  life.defer(editor.stop)
  const deviceUi = createDeviceUi({
    state: hub.state,
    updates: updates.report,
    parts,
    record: device.record,
    pictures: device.pictures,
    deterrents,
    learning: device.learning,
    sources: device.sources,
    trials,
    detector: createDetector({ dataDir, editor, download: hub.download, log }),
    file: device.file,
    editor,
    sessions: createSessions(password, { port: () => server?.port ?? 0 }),
    folder: UI_FOLDER,
    log,
  })
  const localUi = createLocalUi({
    localApi,
    deviceUi,
    health: () => ({ status: 'ok', gatewayId: hub.state().gatewayId, version, uptimeSeconds: uptimeSeconds() }),
    allowedOrigins: () => [hub.state().hubUrl].filter((origin) => origin !== null),
    uiTarget,
    ownPort,
    applications,
    uiOnLan: options.uiOnLan ?? false,
    faults,
    log,
  })
  server = await openLocalUiServer(localUi, faults, {
    host: options.host ?? '::',
    port: options.port ?? GATEWAY_PORT,
  })
  life.defer(() => server.stop())
  life.defer(await announceAgent(dataDir, { url: urlOf(options.host, server.port), token: agentToken }))
  log.info({ port: server.port }, 'device page is open')
  const { fingerprint, deviceToken } = hub.keys
  log.info({ fingerprint, deviceToken }, 'compare the fingerprint on approval, claim with the token')

  const door = createHubDoor({
    deterrents: device.deterrents,
    learning: device.learning,
    pictures: device.sources.pictures,
    record: device.record,
    faults,
    log,
  })
  life.defer(door.stop)

  await hub.start(
    new Map([
      [GATEWAY_PORT, server.accept],
      [GATEWAY_DOOR_PORT, door.accept],
      [GATEWAY_APPLICATIONS_PORT, applications.accept],
    ]),
  )
  hasStarted = true
  return {
    state: hub.state,
    port: server.port,
    newPassword: password.made,
    reportDetections: device.reportOfProgram,
    setDeviceReport: device.setProgramStatus,
    async stop() {
      await restarts.end()
      await life.disposeAsync()
    },
  }
}

/** The address by which programs on this device reach a server that listens on `host`. */
function urlOf(host: string | undefined, port: number): string {
  if (host === undefined || host === '::' || host === '0.0.0.0') return `http://127.0.0.1:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
