/**
 * A device with deterrents in simulated time: the interlock and the switches are the real ones, wired as the agent and
 * its supervisor wire them; processes, disk, wires and valves are simulated. It keeps its own account of what was on.
 */
import { createInterlock, type Output } from '../src/deterrents/interlock.ts'
import {
  savedState,
  type Instant,
  type GuardedUnit,
  type SavedState,
  type Unit,
} from '../src/deterrents/saved-state.ts'
import { deterrentsSettings, type DeterrentSettings } from '../src/deterrents/schema.ts'
import { SILENT_MS } from '../src/deterrents/supervisor/messages.ts'
import {
  createSwitch,
  LATE_MS,
  RETRY_MAX_MS,
  type Switch,
  type SwitchOutput,
} from '../src/deterrents/supervisor/switch.ts'

type Name = 'valve' | 'siren' | 'timed'
type Manner = 'well' | 'slow' | 'acts-without-answer' | 'lost' | 'acts-with-error' | 'refuses' | 'late'
export type Step =
  | { is: 'rule'; name: Name; seconds: number | undefined; cameras: string[]; aboutPersons: boolean }
  | { is: 'person-fires'; name: Name; seconds: number | undefined; via: 'hub' | 'device' }
  | { is: 'program-fires'; name: Name; seconds: number | undefined }
  | { is: 'person-seen'; camera: string }
  | { is: 'wait'; ms: number }
  | { is: 'stop'; name: Name | undefined }
  | { is: 'arm' }
  | { is: 'disarm' }
  | { is: 'clock-jumps'; ms: number }
  | { is: 'new-settings'; without: Name | undefined; variant: number }
  | { is: 'agent-dies' }
  | { is: 'agent-hangs'; ms: number }
  | { is: 'supervisor-dies' }
  /** No supervisor can be started for this time. */
  | { is: 'no-supervisor'; ms: number }
  /** While neither runs, somebody edits gateway.yaml. */
  | { is: 'both-die'; ms: number; variant: number }
  | { is: 'reboot'; ms: number; variant: number }
  | { is: 'disk'; works: boolean }
  | { is: 'device'; name: Name; manner: Manner }

const STEP_MS = 250
const IDLE_STEP_MS = 5_000
const ANSWER_MS = 5_000
const START_MS = 500
/**
 * How long a device may still be on after it can be reached again: a pause between tries, a call, and another pause.
 */
export const UNREACHABLE_MS = RETRY_MAX_MS + 2 * ANSWER_MS + LATE_MS + START_MS

const HOUR_MS = 3_600_000
const BUDGETS = { valve: [60, 200], siren: [30, 60], timed: [300, 3_600] } as const
const COOL_DOWN_SECONDS = { valve: 5, siren: 0, timed: 30 } as const

function settingsOf(variant: number, without?: Name): Record<string, DeterrentSettings> {
  const urls = (name: string) => ({ on: { url: `http://${name}${variant}/on` }, off: { url: `http://${name}/off` } })
  const all = Object.fromEntries(
    (['valve', 'siren', 'timed'] as const).map((name) => [
      name,
      {
        driver: 'http',
        ...urls(name),
        seconds: 10,
        maximumSeconds: 30,
        coolDownSeconds: COOL_DOWN_SECONDS[name],
        secondsAnHour: BUDGETS[name][0],
        secondsADay: BUDGETS[name][1],
        ...(name === 'siren' && { watchedBy: ['gate'] }),
        ...(name === 'timed' && { watchedBy: [] }),
      },
    ]),
  )
  if (without) delete all[without]
  return deterrentsSettings.parse(all)
}

/** The actual state of a device. */
type Device = {
  name: Name
  manner: Manner
  onSince: number | undefined
  /** The end of the firing that switched it on. */
  until: number
  /** How long it was on beyond its time while it could be reached and a process lived, in milliseconds. */
  overtimeMs: number
  worstMs: number
  history: { from: number; to: number }[]
  /**
   * It was on when the device booted: only the wall clock shows since when, and a budget of one hour is charged at
   * most.
   */
  wasOnAtBoot: boolean
}

type Wire = { at: number; run: () => void }
type Slot = { unit: Unit; switch: Switch; isWanted: boolean }
type Process = { slots: Map<string, Slot>; isSupervisor: boolean; isDead: boolean }

export function simulation() {
  let time = 0
  let bootedAt = 0
  let boot = 0
  let wallOffset = 1_780_000_000_000
  let clockWasSetAt = -Infinity
  let variant = 0
  let without: Name | undefined
  let disk: SavedState | undefined
  let diskWorks = true
  let ids = 0
  let agent: ReturnType<typeof createInterlock> | undefined
  let hungUntil = -Infinity
  let startAgentAt = Infinity
  let startSupervisorAt = Infinity
  let noSupervisorUntil = -Infinity
  let supervisor: Process | undefined
  /** Supervisors of agents that are gone. */
  let orphans: Process[] = []
  let ownBoard: Process | undefined
  let wires: Wire[] = []
  const accepted = new Set<string>()
  const firedIds = new Set<string>()
  const forbidden: string[] = []
  const budgetBreaches: string[] = []
  const requests = new Map<string, { name: Name; seconds: number; cameras: readonly string[] }>()
  /** The state that is known to be on disk. */
  let disarmedOnDisk = false
  const personSeen = new Map<string, number>()
  const newDevice = (name: Name): Device => ({
    name,
    wasOnAtBoot: false,
    manner: 'well',
    onSince: undefined,
    until: 0,
    overtimeMs: 0,
    worstMs: 0,
    history: [],
  })
  const devices: Record<Name, Device> = {
    valve: newDevice('valve'),
    siren: newDevice('siren'),
    timed: newDevice('timed'),
  }

  const now = (): Instant => ({ wall: Math.round(wallOffset + time), mono: time - bootedAt })
  const later = (ms: number, run: () => void): void => void wires.push({ at: time + ms, run })
  const isHung = (): boolean => time < hungUntil

  function physical(device: Device, isTimed: boolean, on: number | undefined): void {
    if (on !== undefined) {
      device.onSince ??= time
      device.until = time + on * 1_000
    } else if (device.onSince !== undefined) {
      const allowanceMs = clockWasSetAt >= device.onSince - 1_000 ? 1_000 : BUDGETS[device.name][0] * 1_000
      const from = device.wasOnAtBoot ? Math.max(device.onSince, time - allowanceMs) : device.onSince
      device.history.push({ from, to: time })
      device.onSince = undefined
      device.wasOnAtBoot = false
      device.overtimeMs = 0
    }
    if (isTimed && on !== undefined) {
      const { until } = device
      later(on * 1_000, () => {
        if (device.until === until) physical(device, true, undefined)
      })
    }
  }

  /** A driver's call: when it acts and when it answers, by the device's behaviour. */
  function call(owner: Process, slot: Slot, id: number, on: number | undefined): void {
    const name = slot.unit.name as Name
    const device = devices[name]
    const act = (): void => physical(device, name === 'timed', on)
    const answer = (): void => {
      if (!owner.isDead) run(owner, slot, slot.switch.answered(id, 'done', now()))
    }
    const fail = (isCertain: boolean) => (): void => {
      if (!owner.isDead) run(owner, slot, slot.switch.failed(id, 'failed', isCertain ? 'refused' : 'unknown', now()))
    }
    if (device.manner === 'lost') return
    if (device.manner === 'refuses') return later(0, fail(true))
    const actsAfter = { well: 0, slow: 1_000, 'acts-without-answer': 0, 'acts-with-error': 0, late: 9_000 }[
      device.manner
    ]
    later(actsAfter, act)
    if (device.manner === 'acts-with-error') later(0, fail(false))
    else if (device.manner !== 'acts-without-answer') later(actsAfter, answer)
  }

  function run(owner: Process, slot: Slot, outputs: readonly SwitchOutput[]): void {
    for (const output of outputs) {
      if (output.do === 'call') call(owner, slot, output.call, output.on)
      else if (output.do === 'report' && agent && (owner === supervisor || owner === ownBoard)) {
        const { event } = output
        const message = (): void => {
          if (!agent) return
          if (event.event === 'on') perform(agent.on(event.firing, event.answer, now()))
          else if (event.event === 'failed') perform(agent.failed(event.firing, event.message, now()))
          else if (event.event === 'off') perform(agent.off(slot.unit.id, event.firing, event.answer, now()))
          else perform(agent.fault(slot.unit.id, event.message, now()))
        }
        if (isHung()) later(hungUntil - time, message)
        else message()
      }
    }
    if (!slot.isWanted && slot.switch.isOff()) owner.slots.delete(slot.unit.id)
  }

  const newProcess = (isSupervisor: boolean): Process => ({ slots: new Map(), isSupervisor, isDead: false })

  function add(owner: Process, { mayBeOn, ...unit }: GuardedUnit): void {
    if (owner.slots.has(unit.id)) return
    const slot: Slot = { unit, switch: createSwitch({ answerMs: ANSWER_MS, mayBeOn, now: now() }), isWanted: true }
    owner.slots.set(unit.id, slot)
    run(owner, slot, slot.switch.off(now()))
  }

  function guard(owner: Process, units: readonly GuardedUnit[]): void {
    const wanted = new Set(units.map(({ id }) => id))
    for (const slot of owner.slots.values()) {
      slot.isWanted = wanted.has(slot.unit.id)
      if (!slot.isWanted) run(owner, slot, slot.switch.isOff() ? [] : slot.switch.off(now()))
    }
    for (const unit of units) add(owner, unit)
  }

  function perform(outputs: readonly Output[]): void {
    for (const output of outputs) carryOut(output)
  }

  function carryOut(output: Output): void {
    if (output.do === 'save') save(output.version)
    else if (output.do === 'switch-on') switchOn(output)
    else if (output.do === 'switch-off') {
      const slot = supervisor?.slots.get(output.unit.id)
      if (supervisor && slot) run(supervisor, slot, slot.switch.off(now()))
      else if (!supervisor) add((ownBoard ??= newProcess(false)), { ...output.unit, mayBeOn: true })
    } else if (output.do === 'guard') {
      if (supervisor) guard(supervisor, agent!.units())
      else startSupervisorAt = Math.min(startSupervisorAt, time + START_MS)
    } else if (output.do === 'answer' && 'firing' in output.answer) accepted.add(output.firing)
    else if (output.do === 'answer' && !firedIds.has(output.firing)) requests.delete(output.firing)
  }

  function save(version: number): void {
    if (!diskWorks) return perform(agent!.notWritten(version, now()))
    disk = savedState.parse(JSON.parse(JSON.stringify(agent!.saved(now()))))
    disarmedOnDisk = !disk.armed
    perform(agent!.written(version, now()))
  }

  function switchOn({ unit, firing, seconds }: Extract<Output, { do: 'switch-on' }>): void {
    const name = unit.name as Name
    const device = devices[name]
    const request = requests.get(firing)
    firedIds.add(firing)
    if (!request) forbidden.push(`${name}: ${firing} was refused`)
    if (disarmedOnDisk || !agent!.isArmed()) forbidden.push(`${name}: on while disarmed`)
    if (seconds > 30 || seconds < 1) forbidden.push(`${name}: for ${seconds} s`)
    for (const camera of request?.cameras ?? [])
      if (time - (personSeen.get(camera) ?? -Infinity) < 60_000) forbidden.push(`${name}: a person is on ${camera}`)
    checkBudget(name, device, seconds)
    const slot = supervisor?.slots.get(unit.id)
    if (supervisor && slot) run(supervisor, slot, slot.switch.on(firing, seconds, now()))
    else forbidden.push(`${name}: on without a supervisor`)
  }

  function checkBudget(name: Name, device: Device, seconds: number): void {
    const usedMs = (windowMs: number): number =>
      device.history.reduce((total, { from, to }) => total + Math.max(0, to - Math.max(from, time - windowMs)), 0)
    const [hour, day] = BUDGETS[name]
    if (usedMs(HOUR_MS) / 1_000 + seconds > hour) budgetBreaches.push(`${name}: the hour has ${usedMs(HOUR_MS)} ms`)
    if (usedMs(24 * HOUR_MS) / 1_000 + seconds > day) budgetBreaches.push(`${name}: the day`)
    if (device.onSince !== undefined) budgetBreaches.push(`${name}: it is on already`)
    const last = device.history.at(-1)
    if (last && time - last.to < COOL_DOWN_SECONDS[name] * 1_000) budgetBreaches.push(`${name}: within its pause`)
  }

  function startAgent(): void {
    startAgentAt = Infinity
    agent = createInterlock({
      settings: settingsOf(variant, without),
      place: {},
      saved: disk,
      boot: String(boot),
      now: now(),
      newId: () => `firing ${++ids}`,
      watch: () => ({
        cameras: new Map([
          ['orchard', 'looking'],
          ['gate', 'looking'],
        ]),
        isComplete: true,
      }),
    })
    startSupervisorAt = time + START_MS
  }

  function startSupervisor(): void {
    startSupervisorAt = Infinity
    if (!agent || supervisor) return
    if (time < noSupervisorUntil) {
      startSupervisorAt = time + START_MS
      return perform(agent.unguarded(now()))
    }
    supervisor = newProcess(true)
    for (const orphan of orphans) orphan.isDead = true
    orphans = []
    guard(supervisor, agent.units())
    if (ownBoard) ownBoard.isDead = true
    ownBoard = undefined
    agent.guarded()
  }

  function agentDies(): void {
    agent = undefined
    if (ownBoard) ownBoard.isDead = true
    ownBoard = undefined
    startSupervisorAt = Infinity
    if (supervisor) {
      orphans.push(supervisor)
      guard(supervisor, [])
      supervisor = undefined
    }
  }

  function supervisorDies(): void {
    if (!supervisor) return
    supervisor.isDead = true
    supervisor = undefined
    if (!agent) return
    startSupervisorAt = time + START_MS
    const lost = (): void => {
      if (agent && !supervisor) perform(agent.unguarded(now()))
    }
    if (isHung()) later(hungUntil - time, lost)
    else lost()
  }

  function request(
    name: Name,
    seconds: number | undefined,
    by: Parameters<NonNullable<typeof agent>['request']>[0]['by'],
  ): void {
    if (!agent || isHung()) return
    const blocking = by.kind === 'rule' ? (by.aboutPersons ? [] : by.cameras) : []
    const isThere = by.kind === 'person' && by.via === 'device'
    const watched = isThere ? [] : { siren: ['gate'], valve: ['orchard', 'gate'], timed: [] }[name]
    const cameras = by.kind === 'rule' && by.aboutPersons ? [] : [...blocking, ...watched]
    const { firing, outputs } = agent.request({ deterrent: name, seconds, by }, now())
    requests.set(firing, { name, seconds: seconds ?? 10, cameras })
    perform(outputs)
  }

  function advance(ms: number): void {
    const end = time + ms
    while (time < end) {
      time = Math.min(end, time + (isIdle() ? IDLE_STEP_MS : STEP_MS))
      tick()
    }
  }

  /** Nothing is on, on its way or about to start. */
  function isIdle(): boolean {
    const owners = [supervisor, ownBoard, ...orphans].filter((owner) => owner !== undefined)
    const allOff = owners.every(({ slots }) => [...slots.values()].every((slot) => slot.switch.isOff()))
    const starts = Math.min(startAgentAt, startSupervisorAt) < Infinity
    return (
      allOff && !starts && wires.length === 0 && Object.values(devices).every(({ onSince }) => onSince === undefined)
    )
  }

  function tick(): void {
    if (wires.some(({ at }) => at <= time)) {
      const due = wires.filter(({ at }) => at <= time)
      wires = wires.filter(({ at }) => at > time)
      for (const { run } of due) run()
    }
    if (time >= startAgentAt) startAgent()
    if (agent && !isHung() && time >= startSupervisorAt) startSupervisor()
    if (agent && !isHung()) perform(agent.tick(now()))
    const silentMs = hungUntil - time > 0 ? time - hungSince : 0
    for (const owner of [supervisor, ownBoard, ...orphans])
      for (const slot of owner?.slots.values() ?? []) {
        if (owner!.isDead || (owner === ownBoard && isHung())) continue
        run(owner!, slot, slot.switch.tick(now()))
        const isSilent = owner === supervisor && isHung() && silentMs > SILENT_MS
        if (isSilent && !slot.switch.isOff()) run(owner!, slot, slot.switch.off(now()))
      }
    for (const device of Object.values(devices)) watch(device)
  }
  let hungSince = 0

  function watch(device: Device): void {
    const { onSince, until, manner } = device
    if (onSince === undefined || time <= until) return
    const someLive = (supervisor ?? orphans[0]) !== undefined || (agent !== undefined && !isHung())
    const canBeReached = manner === 'well'
    if (someLive && canBeReached) device.overtimeMs += STEP_MS
    device.worstMs = Math.max(device.worstMs, device.overtimeMs)
  }

  function take(step: Step): void {
    if (step.is === 'wait') return advance(step.ms)
    if (step.is === 'rule') {
      const { name, seconds, cameras, aboutPersons } = step
      request(name, seconds, { kind: 'rule', rule: 'r', detectionId: 'd', cameras, watchers: cameras, aboutPersons })
    } else if (step.is === 'person-fires')
      request(step.name, step.seconds, { kind: 'person', name: 'Ann', via: step.via })
    else if (step.is === 'program-fires') request(step.name, step.seconds, { kind: 'program' })
    else if (step.is === 'clock-jumps') {
      // While nobody watches, a change of the wall clock looks like time that passed.
      if (!agent || isHung() || !diskWorks) return
      wallOffset += step.ms
      clockWasSetAt = time
      perform(agent.tick(now()))
    } else if (step.is === 'device') devices[step.name].manner = step.manner
    else if (step.is === 'disk') diskWorks = step.works
    else if (step.is === 'agent-hangs') {
      if (agent && !isHung()) [hungSince, hungUntil] = [time, time + step.ms]
    } else if (step.is === 'agent-dies') {
      agentDies()
      hungUntil = -Infinity
      startAgentAt = time + START_MS
    } else if (step.is === 'supervisor-dies') supervisorDies()
    else if (step.is === 'no-supervisor') noSupervisorUntil = time + step.ms
    else if (step.is === 'both-die' || step.is === 'reboot') end(step)
    else if (agent && !isHung()) command(agent, step)
  }

  function end(step: Extract<Step, { is: 'both-die' | 'reboot' }>): void {
    if (supervisor) supervisor.isDead = true
    supervisor = undefined
    agentDies()
    hungUntil = -Infinity
    if (step.is === 'reboot') for (const orphan of orphans) orphan.isDead = true
    if (step.is === 'reboot') orphans = []
    startAgentAt = Infinity
    advance(step.ms)
    variant = step.variant
    if (step.is === 'reboot')
      for (const device of Object.values(devices)) device.wasOnAtBoot ||= device.onSince !== undefined
    if (step.is === 'reboot') [boot, bootedAt] = [boot + 1, time]
    startAgentAt = time + START_MS
  }

  type Command = Extract<Step, { is: 'person-seen' | 'stop' | 'arm' | 'disarm' | 'new-settings' }>
  function command(running: NonNullable<typeof agent>, step: Command): void {
    const by = { kind: 'person', name: 'Ann', via: 'hub' } as const
    if (step.is === 'person-seen') {
      // A sighting that the disk did not store is lost with the agent.
      if (diskWorks) personSeen.set(step.camera, time)
      perform(running.personSeen(step.camera, now()))
    } else if (step.is === 'stop') perform(running.stop(step.name, by, now()))
    else if (step.is === 'arm') perform(running.arm(by, now()))
    else if (step.is === 'disarm') perform(running.disarm(by, now()))
    else {
      ;[variant, without] = [step.variant, step.without]
      perform(running.apply(settingsOf(variant, without), {}, now()))
    }
  }

  startAgent()
  advance(2 * START_MS)
  return {
    take,
    stepMs: STEP_MS,
    on: () => Object.entries(devices).flatMap(([name, { onSince }]) => (onSince === undefined ? [] : [name])),
    worstOvertimeMs: (name?: Name) =>
      Math.max(...(name ? [devices[name]] : Object.values(devices)).map(({ worstMs }) => worstMs)),
    firings: () => accepted.size,
    forbidden: () => forbidden,
    budgetBreaches: () => budgetBreaches,
  }
}
