import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { isDeepStrictEqual } from 'node:util'
import { GATEWAY_PORT, type Detection, type Heartbeat } from '@hedgerow/contract'
import { fingerprint } from '@hedgerow/enrolment'
import { createFaults } from '@hedgerow/http'
import type { Logger } from 'pino'
import manifest from '../package.json' with { type: 'json' }
import { APPROVAL_FILE, forgetApproval, readApproval, writeApproval, type Approval } from './hub/approval.ts'
import { deviceFilePath, type Config } from './config.ts'
import { lockDataDirectory } from './data-lock.ts'
import { watchDeviceFile } from './device-file/device-file.ts'
import { openDetectionQueue } from './hub/detection-queue.ts'
import { keepSendingDetections } from './hub/detections.ts'
import { readDeviceStatus, readMacAddress } from './hub/device-status.ts'
import { findHubs, readSearchDomains } from './hub/discovery.ts'
import { makePrivateDirectory } from './durable-file.ts'
import type { HubSession, RegistrationStatus } from './hub/enrolment-calls.ts'
import type { DeviceReport } from './local-api/calls.ts'
import { createLocalApi } from './local-api/local-api.ts'
import { createLocalUi } from './local-ui/local-ui.ts'
import { openLocalUiServer } from './local-ui/local-ui-server.ts'
import { inWords } from './hub/failure.ts'
import type { GatewayState } from './gateway-state.ts'
import { keepBeating } from './hub/heartbeat.ts'
import { HUB_FILE, openHubTrust } from './hub/hub-trust.ts'
import { createHttpsFallback } from './hub/https-fallback.ts'
import { loadDeviceKeys } from './identity.ts'
import { createConditions } from './hub/conditions.ts'
import { createNameService } from './hub/name-service.ts'
import { keepRegistered, REGISTRATION_PACE, type RegistrationPace } from './hub/registration.ts'
import { openHandshakeClock } from './hub/handshake-clock.ts'
import { openTunnel, type Tunnel } from './hub/tunnel.ts'

/** As the contract takes them. */
const PROBLEMS_MAX = 32
const DROPS_TOLD_MS = 86_400_000

/**
 * One gateway, whole: the composition root that `main.ts`, the demo and the tests start. It owns the order of things:
 * the keys and the local interface first, so that a person always sees the device page; then the hub, the approval, the
 * tunnel, and the heartbeats and detections that go through it. An approval on disk opens the tunnel at once, while the
 * hub is asked whether it still stands.
 */
export type GatewayOptions = Pick<Config, 'name' | 'dataDir'> &
  Partial<Omit<Config, 'name' | 'dataDir' | 'logLevel'>> & {
    log: Logger
    /** Domains to look for the hub in; those of /etc/resolv.conf when left out. */
    searchDomains?: readonly string[]
    pace?: Partial<RegistrationPace>
    /** The process is this gateway's alone: an error in one connection need not end it. */
    guardProcess?: boolean
    /** How long the tunnel may be silent before the hub is told around it; a minute when left out. */
    httpsFallbackAfterMs?: number
    /** This device's clock for handshakes, in milliseconds since 1970; `Date.now` when left out. */
    wallClock?: () => number
  }

export type Gateway = {
  state(): GatewayState
  /** The port of the device page on this device. */
  port: number
  /** Resolves when they are safe on disk; rejects with a ZodError or the disk's error. */
  reportDetections(detections: readonly Detection[]): Promise<void>
  setDeviceReport(report: DeviceReport): void
  /** Ends everything at once; resolves when all sockets and files are closed. */
  stop(): Promise<void>
}

/**
 * Rejects with DataFileError for an unusable data directory and with Node's own error when the local interface cannot
 * listen.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const life = new AsyncDisposableStack()
  try {
    return await start(options, life)
  } catch (error) {
    await life.disposeAsync()
    throw error
  }
}

async function start(options: GatewayOptions, life: AsyncDisposableStack): Promise<Gateway> {
  const { log, dataDir, name, location = '' } = options
  const { version } = manifest
  const startedAtMs = performance.now()
  const stopping = new AbortController()
  const { signal } = stopping
  const uptimeSeconds = () => Math.round((performance.now() - startedAtMs) / 1_000)

  await makePrivateDirectory(dataDir)
  life.defer(await lockDataDirectory(dataDir))
  const keys = await loadDeviceKeys(dataDir, [HUB_FILE, APPROVAL_FILE])
  const trust = await openHubTrust(dataDir, options.hubFingerprint)
  const stored = await readApproval(dataDir)
  const queue = await openDetectionQueue(join(dataDir, 'detections'), log)
  life.defer(() => queue.close())
  const file = await watchDeviceFile(deviceFilePath(options), { log })
  life.defer(file.stop)
  const handshakeClock = await openHandshakeClock(join(dataDir, 'handshake-clock.json'), {
    log,
    ...(options.wallClock && { wallClock: options.wallClock }),
  })
  life.defer(handshakeClock.stop)
  const names = createNameService(options.dnsServers ?? [])
  signal.addEventListener('abort', names.stop)
  const conditions = createConditions(({ label, state, detail }) =>
    log[state === 'failed' ? 'warn' : 'info']({ detail }, `${label.toLowerCase()}: ${state}`),
  )

  let hubUrl = options.hubUrl
  let session: HubSession | undefined
  let approval: Approval | undefined
  let tunnel: Tunnel | undefined
  let report: Required<DeviceReport> = { cameras: [], detectors: [], deterrents: [], problems: [] }
  let sequence = 0
  const bootId = randomUUID()

  function state(): GatewayState {
    const hubKey = trust.known()
    return {
      name,
      location,
      version,
      deviceToken: keys.deviceToken,
      fingerprint: keys.fingerprint,
      hubFingerprint: hubKey === undefined ? null : fingerprint(hubKey),
      hubUrl: hubUrl?.origin ?? null,
      claimUrl: hubUrl ? `${hubUrl.origin}/gateways?token=${keys.deviceToken}` : null,
      gatewayId: approval?.gatewayId ?? null,
      vpnAddress: approval?.assignedIp ?? null,
      conditions: conditions.conditions(),
      detectionsWaiting: queue.waiting(),
      detectionsDropped: queue.dropped(),
    }
  }

  const faults = createFaults({
    report: (err, count) => log.error({ err, count }, 'a connection was ended by an error of the agent'),
  })
  if (options.guardProcess) life.defer(faults.guardProcess())
  const localApi = createLocalApi({
    file: file.current,
    report: (detections) => sender.report(detections),
    setStatus: setDeviceReport,
    version,
    log,
  })
  const localUi = createLocalUi({
    state,
    localApi,
    health: () => ({ status: 'ok', gatewayId: approval?.gatewayId ?? null, version, uptimeSeconds: uptimeSeconds() }),
    allowedOrigins: () => (hubUrl ? [hubUrl.origin] : []),
    uiTarget: options.uiTarget,
    uiOnLan: options.uiOnLan ?? false,
    faults,
    log,
  })
  const server = await openLocalUiServer(localUi, faults, {
    host: options.host ?? '::',
    port: options.port ?? GATEWAY_PORT,
  })
  life.defer(() => server.stop())
  log.info({ port: server.port }, 'device page is open')
  const { fingerprint: ownFingerprint, deviceToken } = keys
  log.info({ fingerprint: ownFingerprint, deviceToken }, 'compare the fingerprint on approval, claim with the token')

  function setDeviceReport(changed: DeviceReport): void {
    report = { ...report, ...changed }
  }

  async function closeTunnel(): Promise<void> {
    const closing = tunnel
    tunnel = undefined
    await closing?.stop()
  }
  life.defer(closeTunnel)

  async function joinTunnel(approved: Approval): Promise<void> {
    await closeTunnel()
    approval = approved
    try {
      tunnel = await openTunnel({
        approval: approved,
        privateKey: keys.wireguardPrivateKey,
        names,
        conditions,
        offload: options.offload ?? true,
        clock: handshakeClock.now,
        onUp() {
          heartbeats.beat()
          sender.wake()
        },
      })
      tunnel.listen(GATEWAY_PORT, server.accept)
    } catch (error) {
      conditions.failed('tunnelUp', `The tunnel cannot be opened: ${inWords(error)}`)
    }
  }

  /** The hub no longer counts this device among its gateways. */
  async function leave(): Promise<void> {
    if (!approval) return
    approval = undefined
    await closeTunnel()
    await forgetApproval(dataDir)
    conditions.waiting('tunnelUp', 'For the approval')
    conditions.waiting('heartbeat', 'For the tunnel')
  }

  async function follow(status: RegistrationStatus): Promise<void> {
    if (status.status === 'approved') {
      conditions.done('approved', `as gateway ${status.approval.gatewayId}`)
      const isKnown = isDeepStrictEqual(status.approval, approval)
      if (!isKnown) await writeApproval(dataDir, status.approval)
      if (!isKnown || !tunnel) await joinTunnel(status.approval)
      return
    }
    await leave()
    if (status.status === 'rejected') conditions.failed('approved', `Rejected: ${status.reason}`)
    else conditions.waiting('approved', 'A manager of the hub has to approve this device')
  }

  const compose = async (): Promise<Heartbeat> => ({
    bootId,
    sequence: sequence++,
    uptimeSeconds: uptimeSeconds(),
    version,
    clock: Date.now(),
    ...(await readDeviceStatus(dataDir)),
    ...report,
    problems: [...file.problems(), ...staysBehind(), ...isLost(), ...report.problems].slice(0, PROBLEMS_MAX),
  })

  /** Pictures go through the tunnel or over https alone. */
  function staysBehind(): string[] {
    const count = queue.waiting()
    if (!httpsFallback.isTaken() || httpsFallback.isPrivate() || count === 0) return []
    const what = count === 1 ? '1 detection stays' : `${count} detections stay`
    return [`${what} on the device: UDP to the hub is blocked, and its address is not https`]
  }

  /** For a day: what is lost stays lost, and a warning that never ends is not read. */
  function isLost(): string[] {
    const count = queue.dropped()
    if (Date.now() - (queue.droppedAt() ?? -Infinity) > DROPS_TOLD_MS) return []
    const what = count === 1 ? '1 detection was' : `${count} detections were`
    return [`${what} lost since the gateway started: the hub did not take them in time, or not at all`]
  }

  const httpsFallback = createHttpsFallback({
    session: () => approval && session,
    keys,
    context: { names, signal },
    afterMs: options.httpsFallbackAfterMs,
  })
  const heartbeats = keepBeating({
    tunnel: () => tunnel,
    httpsFallback,
    compose,
    conditions,
    signal,
    onUnanswered: () => registration.recheck(),
  })
  const sender = keepSendingDetections({ queue, tunnel: () => tunnel, httpsFallback, log, signal })
  if (stored && stored.hubIdentityPublicKey === trust.known()) {
    conditions.done('approved', `as gateway ${stored.gatewayId}`)
    await joinTunnel(stored)
  }
  const searchDomains = options.searchDomains ?? (await readSearchDomains())
  const registration = keepRegistered({
    device: {
      keys,
      name,
      location,
      version,
      macAddress: readMacAddress(),
      invitationCode: options.invitationCode,
    },
    trust,
    names,
    discover: () => findHubs({ hubUrl: options.hubUrl, hubDomain: options.hubDomain, searchDomains }, names),
    conditions,
    log,
    signal,
    pace: { ...REGISTRATION_PACE, ...options.pace },
    onHub(found) {
      session = found
      handshakeClock.followHub(found.hubTime)
      hubUrl = found.url
    },
    onStatus: follow,
  })
  life.defer(() => Promise.all([registration.done, heartbeats.done, sender.done]).then(() => {}))
  life.defer(() => stopping.abort())

  return {
    state,
    port: server.port,
    reportDetections: sender.report,
    setDeviceReport,
    stop: () => life.disposeAsync(),
  }
}
