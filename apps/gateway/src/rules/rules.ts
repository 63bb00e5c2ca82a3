import type { Detection } from '@hedgerow/contract'
import type { Logger } from 'pino'
import type { Deterrents } from '../deterrents/deterrents.ts'
import type { DetectionFiring } from '../detections/intake.ts'
import type { DeterrentSettings } from '../deterrents/schema.ts'
import type { Place } from '../kernel/hours.ts'
import { isPersonIn } from '../detections/person-in.ts'
import type { DetectedObject } from '../sources/source.ts'
import { createHold } from './hold.ts'
import { subjectsOf, whyNot, type Subject } from './match.ts'
import type { Rule } from './schema.ts'

/** The parts of gateway.yaml that rules need. */
export type RulesFile = {
  rules: readonly Rule[]
  site: Place
  deterrents: Readonly<Record<string, Pick<DeterrentSettings, 'seconds'>>>
}

/** Connects detections to deterrents by the rules of the file. */
export type Rules = {
  /**
   * Decides at once, for each of the objects if the detection has several: once for each, and never for one that is
   * gone or has not moved. Deterrents answer later, through `onFiring`.
   */
  see(detection: Detection, objects?: readonly DetectedObject[]): void
  /** One sentence each, for the heartbeat. */
  problems(): string[]
  stop(): void
}

export type RulesOptions = {
  file(): RulesFile
  deterrents: Pick<Deterrents, 'fire' | 'personSeen'>
  /** All known cameras: a rule that names none applies to all of them. */
  cameras(): string[]
  /** False when the rule asked for this detection or this object before, also before a restart. */
  markAsked(rule: string, detectionId: string, objectId: string | undefined): boolean
  onFiring(detectionId: string, firing: DetectionFiring): void
  log: Logger
  /** Milliseconds since 1970. */
  clock: () => number
  /** From 0 to below 1. */
  random?: () => number
}

/** After a refusal, an update of the same detection may try again after this time. */
const RETRY_AFTER_MS = 60_000
/** Until the detection of a person ends, the deterrents are told at this interval that the person is there. */
const PERSON_AGAIN_MS = 10_000
/** After this time without a report of the person, the source may have lost the end: the person counts as gone. */
const PERSON_SILENT_MAX_MS = 600_000
const REMEMBERED_MAX = 10_000

export function createRules(options: RulesOptions): Rules {
  const { deterrents, log, clock, random = Math.random } = options
  const hold = createHold(clock)
  /** By rule and detection or object: the earliest time for another try. */
  const lastRun = new Map<string, number>()
  /** The deterrent that each rule chose last. */
  const lastChoice = new Map<string, string>()
  /** Persons who are in the picture, by detection. */
  const persons = new Map<string, { camera: string; reportedAt: number }>()
  const personTimer = setInterval(reportPersons, PERSON_AGAIN_MS)
  personTimer.unref()

  function reportPersons(): void {
    for (const [id, { camera, reportedAt }] of persons)
      if (Math.abs(clock() - reportedAt) > PERSON_SILENT_MAX_MS) persons.delete(id)
      else deterrents.personSeen(camera)
  }

  /** A person counts as seen now, whatever the report's time: that can only keep deterrents off. */
  function notePerson(detection: Detection, objects: readonly DetectedObject[] | undefined): void {
    const { id, camera, endedAt } = detection
    const isPerson = isPersonIn(detection, objects)
    if (isPerson) deterrents.personSeen(camera)
    if (isPerson && endedAt === undefined) persons.set(id, { camera, reportedAt: clock() })
    else persons.delete(id)
    deleteOldest(persons)
  }

  function consider(rule: Rule, subject: Subject, file: RulesFile): void {
    const now = clock()
    if (whyNot(rule, subject, now, file.site) !== undefined) return
    const key = `${subject.objectId ?? subject.detectionId} ${rule.name}`
    if ((lastRun.get(key) ?? -Infinity) > now) return
    const isRetry = lastRun.has(key)
    lastRun.set(key, now + RETRY_AFTER_MS)
    deleteOldest(lastRun)
    if (!hold.take(rule.name)) {
      log.warn({ rule: rule.name, detection: subject.detectionId }, 'a rule is held: it fires too often')
      return
    }
    lastRun.set(key, Infinity)
    if (!isRetry && !mayAsk(rule, subject)) return
    request(rule, subject, file).then(
      (isRefused) => isRefused && lastRun.set(key, clock() + RETRY_AFTER_MS),
      (error: unknown) => log.error({ err: error, rule: rule.name }, 'a rule failed'),
    )
  }

  /** When the disk fails, only the memory of this run counts. */
  function mayAsk(rule: Rule, { detectionId, objectId }: Subject): boolean {
    try {
      return options.markAsked(rule.name, detectionId, objectId)
    } catch (error) {
      log.error({ err: error, rule: rule.name }, 'the firing of a rule could not be recorded')
      return true
    }
  }

  /** True when every deterrent refused. */
  async function request(rule: Rule, subject: Subject, file: RulesFile): Promise<boolean> {
    const { detectionId, objectId, camera } = subject
    const chosen = choose(rule)
    const varies = rule.choose === 'one' && rule.fire.length > 1
    const answers = await Promise.all(
      chosen.map(async (deterrent) => {
        const seconds = draw(rule) ?? file.deterrents[deterrent]?.seconds ?? 0
        const answer = await deterrents.fire({
          deterrent,
          seconds,
          by: {
            kind: 'rule',
            rule: rule.name,
            detectionId,
            cameras: [...new Set([...(rule.cameras ?? options.cameras()), camera])],
            watchers: rule.cameras ?? [camera],
            aboutPersons: rule.aboutPersons,
            camera,
            ...((varies || Array.isArray(rule.seconds)) && { chose: `${deterrent} for ${seconds} s` }),
          },
        })
        const at = new Date(clock()).toISOString()
        if ('firing' in answer) {
          const { id } = answer.firing
          log.info({ rule: rule.name, detectionId, objectId, deterrent, seconds }, 'a rule fired a deterrent')
          options.onFiring(detectionId, { id, deterrent, at, seconds, outcome: 'fired' })
          return 'fired'
        }
        const outcome = answer.refused === 'device_failed' ? 'failed' : 'refused'
        log.info({ rule: rule.name, detectionId, objectId, deterrent, answer }, 'a rule did not fire a deterrent')
        const id = `${detectionId.slice(0, 60)} ${clock()}`
        options.onFiring(detectionId, { id, deterrent, at, seconds, outcome, reason: answer.message })
        return outcome
      }),
    )
    return answers.every((outcome) => outcome === 'refused')
  }

  function choose(rule: Rule): readonly string[] {
    if (rule.choose === 'all') return rule.fire
    const last = lastChoice.get(rule.name)
    const others = rule.fire.length > 1 ? rule.fire.filter((name) => name !== last) : rule.fire
    const choice = others[Math.floor(random() * others.length)]!
    lastChoice.set(rule.name, choice)
    return [choice]
  }

  function draw({ seconds }: Rule): number | undefined {
    if (!Array.isArray(seconds)) return seconds
    const [shortest, longest] = seconds
    return shortest + Math.floor(random() * (longest - shortest + 1))
  }

  return {
    see(detection, objects) {
      notePerson(detection, objects)
      // Objects that go on after the end of their detection are those of the next one.
      if (objects && detection.endedAt !== undefined) return
      const file = options.file()
      const active = objects?.filter(({ endedAt, isStill }) => endedAt === undefined && !isStill)
      for (const subject of subjectsOf(detection, active)) for (const rule of file.rules) consider(rule, subject, file)
    },
    problems: () => hold.held().map((name) => `The rule ${name} is held: it wants to fire more often than is sensible`),
    stop: () => clearInterval(personTimer),
  }
}

function deleteOldest(map: Map<string, unknown>): void {
  const oldest = map.keys().next()
  if (map.size > REMEMBERED_MAX && !oldest.done) map.delete(oldest.value)
}
