import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import type { Heartbeat } from '@hedgerow/contract'
import { fingerprint } from '@hedgerow/enrolment'
import type { DatagramSocket } from '@hedgerow/wireguard/node'
import type { Logger } from 'pino'
import type { AgentIdentity, AgentSettings } from '../config.ts'
import type { Deterrents } from '../deterrents/deterrents.ts'
import type { GatewayState } from './gateway-state.ts'
import { loadDeviceKeys, type DeviceKeys } from './identity.ts'
import { APPROVAL_FILE, forgetApproval, readApproval, writeApproval, type Approval } from '../tunnel/approval.ts'
import { createConditions, type Conditions } from '../kernel/conditions.ts'
import type { DetectionQueue } from './detection-queue.ts'
import { keepSendingDetections } from './detections.ts'
import { readDeviceStatus, readMacAddress } from './device-status.ts'
import { findHubs, readSearchDomains } from './discovery.ts'
import type { HubSession, RegistrationStatus } from './enrolment-calls.ts'
import { inWords } from '../kernel/failure.ts'
import { createHubFeatures } from './features.ts'
import { openHandshakeClock } from '../tunnel/handshake-clock.ts'
import { keepBeating } from './heartbeat.ts'
import { HUB_FILE, openHubTrust } from './hub-trust.ts'
import { createHttpsFallback, type HttpsFallback } from './https-fallback.ts'
import { keepSendingLedger } from './ledger.ts'
import { createNameService } from '../kernel/name-service.ts'
import { keepReadingReviews, type StoredReviews } from './reviews.ts'
import { keepRegistered, REGISTRATION_PACE, type RegistrationPace } from './registration.ts'
import { askHubWith, type AskHub } from './second-look.ts'
import { createWayToHub, type Post } from './sending.ts'
import { openTunnel, type Tunnel } from '../tunnel/tunnel.ts'
import { downloadThroughTunnel, type AgentUpdates, type Download } from './tunnel-download.ts'

/** The contract's limit. */
const PROBLEMS_MAX = 32
const LEDGER_CURSOR_FILE = 'ledger-sent.json'
const DROPS_TOLD_MS = 86_400_000

/** The network of a simulated device, instead of this machine's. */
export type DeviceNetwork = {
  /** The IPv4 address for its connections to the hub. Throws the network's error while the device has no network. */
  localAddress(): string | undefined
  /** Opens the socket of its tunnel. */
  openSocket(): DatagramSocket
}

/** The heartbeat's fields about what works without a hub. */
export type ReportedParts = Pick<
  Heartbeat,
  'armed' | 'cameraProblems' | 'cameras' | 'detectors' | 'deterrents' | 'disarmed' | 'problems' | 'snoozes' | 'timeZone'
>

export type HubConnectionOptions = AgentIdentity &
  Partial<AgentSettings> & {
    log: Logger
    version: string
    uptimeSeconds(): number
    queue: DetectionQueue
    /** The ledger whose entries go to the hub. */
    deterrents: Pick<Deterrents, 'ledger' | 'ledgerAfter' | 'onChange' | 'onEntry'>
    /** Reviews of this device's detections. */
    reviews: StoredReviews
    /** The heartbeat's fields about the device's own parts. */
    parts(): ReportedParts & Pick<Heartbeat, 'applications' | 'restarts'>
    /** Calls `listener` when the configuration changes, so that the hub learns of it at once. */
    onReconfigured?(listener: () => void): void
    /** Undefined when nothing can start another version of the agent. */
    updater?: AgentUpdates | undefined
    /** Domains in which to look for the hub. Default: those of /etc/resolv.conf. */
    searchDomains?: readonly string[]
    pace?: Partial<RegistrationPace>
    /** How long the tunnel may be silent before heartbeats use HTTPS. Default: a minute. */
    httpsFallbackAfterMs?: number
    /** This device's own clock, in milliseconds since 1970. Default: `Date.now`. */
    wallClock?: () => number
    network?: DeviceNetwork
    /** Default: each change is written to `log`. */
    conditions?: Conditions
  }

/**
 * Everything between this device and its hub: discovery, approval, tunnel, heartbeats, and the delivery of detections.
 */
export type HubConnection = {
  keys: DeviceKeys
  state(): GatewayState
  /** The hub's vision endpoint; unsure while there is no way to it. */
  askSecondLook: AskHub
  /** Through the tunnel, once the hub has approved this gateway. */
  download: Download
  /** Joins the hub. `doors`: the handler of each port that the hub connects to in the tunnel. */
  start(doors: ReadonlyMap<number, (connection: Duplex) => void>): Promise<void>
}

/**
 * Reads keys, trust and approval from the data directory; makes keys at the first start. Adds to `life` everything that
 * must stop with the connection. Throws DataFileError for damaged files.
 */
export async function openHubConnection(
  options: HubConnectionOptions,
  life: AsyncDisposableStack,
): Promise<HubConnection> {
  const { log, dataDir, name, version, queue, location = '', network, wallClock = Date.now } = options
  const keys = await loadDeviceKeys(dataDir, [HUB_FILE, APPROVAL_FILE])
  const trust = await openHubTrust(dataDir, options.hubFingerprint)
  const stored = await readApproval(dataDir)
  const handshakeClock = await openHandshakeClock(join(dataDir, 'handshake-clock.json'), {
    log,
    wallClock,
  })
  life.defer(handshakeClock.stop)
  const conditions =
    options.conditions ??
    createConditions(({ label, state, detail }) =>
      log[state === 'failed' ? 'warn' : 'info']({ detail }, `${label.toLowerCase()}: ${state}`),
    )

  const features = createHubFeatures()
  let poster: () => Post | undefined = () => undefined
  let hubUrl = options.hubUrl
  let session: HubSession | undefined
  let approval: Approval | undefined
  let tunnel: Tunnel | undefined

  function state(): GatewayState {
    const hubKey = trust.hubKey()
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

  async function start(doors: ReadonlyMap<number, (connection: Duplex) => void>): Promise<void> {
    const stopping = new AbortController()
    const { signal } = stopping
    const names = createNameService(options.dnsServers ?? [])
    signal.addEventListener('abort', names.stop)
    let sequence = 0
    const bootId = randomUUID()

    async function closeTunnel(): Promise<void> {
      const closing = tunnel
      tunnel = undefined
      await closing?.stop()
    }
    life.defer(closeTunnel)

    async function joinTunnel(approved: Approval): Promise<void> {
      await closeTunnel()
      features.reset()
      approval = approved
      try {
        const opened = await openTunnel({
          approval: approved,
          privateKey: keys.wireguardPrivateKey,
          names,
          conditions,
          offload: options.offload ?? true,
          openSocket: network?.openSocket,
          clock: handshakeClock.now,
          onUp() {
            heartbeats.tunnelIsUp()
            sender.wake()
          },
        })
        tunnel = opened
        for (const [port, accept] of doors) opened.listen(port, accept)
      } catch (error) {
        conditions.failed('tunnelUp', `The tunnel cannot be opened: ${inWords(error)}`)
      }
    }

    /** The hub deleted or rejected this device. */
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

    async function compose(): Promise<Heartbeat> {
      const { problems, ...parts } = options.parts()
      return {
        bootId,
        sequence: sequence++,
        uptimeSeconds: options.uptimeSeconds(),
        version,
        clock: wallClock(),
        ...(await readDeviceStatus(dataDir)),
        ...parts,
        ...options.updater?.parts(),
        queue: { waiting: queue.waiting(), lost: queue.dropped() },
        problems: [...problemsOfQueue(queue, httpsFallback), ...problems].slice(0, PROBLEMS_MAX),
      }
    }

    const httpsFallback = createHttpsFallback({
      session: () => approval && session,
      keys,
      context: { names, signal, localAddress: network?.localAddress },
      afterMs: options.httpsFallbackAfterMs,
    })
    const heartbeats = keepBeating({
      tunnel: () => tunnel,
      httpsFallback,
      compose,
      features,
      conditions,
      signal,
      onFeatures: () => {
        sender.wake()
        ledger.wake()
      },
      onTunnelAnswer(answer) {
        const via = tunnel
        if (via) options.updater?.heard(answer, (name, range) => downloadThroughTunnel(via, name, range))
      },
      onReviews: (newest) => reviews.learn(newest),
      onUnanswered: () => registration.recheck(),
    })
    const wayToHub = createWayToHub({ tunnel: () => tunnel, httpsFallback, features, signal })
    poster = wayToHub
    const sender = keepSendingDetections({ queue, wayToHub, features, log, signal })
    const ledger = keepSendingLedger({
      deterrents: options.deterrents,
      path: join(dataDir, LEDGER_CURSOR_FILE),
      gatewayId: () => approval?.gatewayId,
      wayToHub,
      features,
      log,
      signal,
    })
    const reviews = keepReadingReviews({
      reviews: options.reviews,
      gatewayId: () => approval?.gatewayId,
      wayToHub,
      log,
      signal,
    })
    queue.onAppend(sender.wake)
    options.updater?.onChange(heartbeats.beat)
    options.onReconfigured?.(heartbeats.beat)
    options.deterrents.onChange(heartbeats.beatSoon)
    if (stored && stored.hubIdentityPublicKey === trust.hubKey()) {
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
      localAddress: network?.localAddress,
      pace: { ...REGISTRATION_PACE, ...options.pace },
      onHub(found) {
        session = found
        handshakeClock.followHub(found.hubTime)
        hubUrl = found.url
      },
      onStatus: follow,
    })
    life.defer(() =>
      Promise.all([registration.done, heartbeats.done, sender.done, ledger.done, reviews.done]).then(() => {}),
    )
    life.defer(() => stopping.abort())
  }

  const download: Download = async (name, range) => {
    if (!tunnel) throw new Error('the hub has not approved this gateway')
    return downloadThroughTunnel(tunnel, name, range)
  }

  return { keys, state, askSecondLook: askHubWith(() => poster(), features), download, start }
}

function problemsOfQueue(queue: DetectionQueue, httpsFallback: HttpsFallback): string[] {
  return [...staysBehind(queue, httpsFallback), ...isLost(queue)]
}

/** Whether detections wait because their pictures may leave the device only through the tunnel or over https. */
function staysBehind(queue: DetectionQueue, httpsFallback: HttpsFallback): string[] {
  const count = queue.waiting()
  if (!httpsFallback.isTaken() || httpsFallback.isPrivate() || count === 0) return []
  const what = count === 1 ? '1 detection stays' : `${count} detections stay`
  return [`${what} on the device: UDP to the hub is blocked, and its address is not https`]
}

/** Shown for one day only, because nobody reads a warning that never ends. */
function isLost(queue: DetectionQueue): string[] {
  const count = queue.dropped()
  if (Date.now() - (queue.droppedAt() ?? -Infinity) > DROPS_TOLD_MS) return []
  const what = count === 1 ? '1 detection was' : `${count} detections were`
  return [`${what} lost since the gateway started: the hub did not accept them in time, or not at all`]
}
