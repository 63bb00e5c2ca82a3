import type { Detection } from '@hedgerow/contract'
import { createInterlock, type Output } from '../deterrents/interlock.ts'
import type { DeterrentSettings } from '../deterrents/schema.ts'
import type { Place } from '../kernel/hours.ts'
import { isPersonLabel } from '../kernel/person-label.ts'
import type { DetectedObject } from '../sources/source.ts'
import { namesLabel, subjectsOf, whyNot, type Subject } from './match.ts'
import type { Rule } from './schema.ts'

export type DryRunFile = {
  rules: readonly Rule[]
  site: Place
  deterrents: Readonly<Record<string, DeterrentSettings>>
}

export type DryRun = {
  /** Each detection with the answer of each rule, in words; one of several objects once for each of them. */
  detections: { detection: Detection; answers: { rule: string; text: string; fires: boolean }[] }[]
  /** How often each rule would have fired. */
  fired: Record<string, number>
  /** The commonest reason, in words, why a rule did not fire for what it names; none when nothing such was there. */
  reasons: Record<string, string>
}

const STEP_MS = 1_000
/** Longer than a person blocks a deterrent. */
const PERSON_TOLD_MS = 120_000

/**
 * What the rules would have done with these detections, in the order of their start: for each of its objects if a
 * detection has several, with the highest score and all zones that it came to have. The device's own interlock
 * decides, with clocks that follow the detections and devices that always answer; it starts armed, with full budgets. A
 * random length counts as its longest; a random choice takes turns.
 */
export function dryRun(
  { rules, site, deterrents }: DryRunFile,
  detections: readonly Detection[],
  objectsOf: (detectionId: string) => readonly DetectedObject[] | undefined,
): DryRun {
  const subjects = detections
    .flatMap((detection) => subjectsOf(detection, objectsOf(detection.id)).map((subject) => ({ detection, subject })))
    .toSorted((a, b) => Date.parse(a.subject.startedAt) - Date.parse(b.subject.startedAt))
  const fired = Object.fromEntries(rules.map(({ name }) => [name, 0]))
  const first = subjects[0]
  let at = first ? Date.parse(first.subject.startedAt) : 0
  let ids = 0
  const instant = () => ({ wall: at, mono: at })
  const cameras = [...new Set(detections.map(({ camera }) => camera))]
  const watching = Object.values(deterrents).flatMap(({ watchedBy }) => watchedBy ?? [])
  const ofRules = rules.flatMap((rule) => rule.cameras ?? [])
  const allLook = new Map([...cameras, ...watching, ...ofRules].map((camera) => [camera, 'looking'] as const))
  const interlock = createInterlock({
    settings: deterrents,
    place: site,
    saved: undefined,
    boot: 'dry run',
    now: instant(),
    newId: () => String(++ids),
    // Whether the cameras looked is not recorded.
    watch: () => ({ cameras: allLook, isComplete: true }),
  })
  const answers = new Map<string, Extract<Output, { do: 'answer' }>['answer']>()
  const persons = subjects.flatMap(({ subject: { label, camera, startedAt, endedAt } }) =>
    isPersonLabel(label) ? [{ camera, from: Date.parse(startedAt), to: Date.parse(endedAt ?? startedAt) }] : [],
  )

  let nextPerson = 0
  /** The persons who are in a picture, or were a moment ago. */
  let near: typeof persons = []

  /** Devices answer at once, and the disk is never full. */
  function carryOut(outputs: readonly Output[]): void {
    for (const output of outputs) {
      if (output.do === 'save') carryOut(interlock.written(output.version, instant()))
      else if (output.do === 'switch-on') carryOut(interlock.on(output.firing, '', instant()))
      else if (output.do === 'switch-off') carryOut(interlock.off(output.unit.id, undefined, '', instant()))
      else if (output.do === 'answer') answers.set(output.firing, output.answer)
    }
  }

  /** Reports when each person was last in the picture, oldest first. */
  function reportPersons(): void {
    while (persons[nextPerson] && persons[nextPerson]!.from <= at) near.push(persons[nextPerson++]!)
    near = near.filter(({ to }) => at - to < PERSON_TOLD_MS)
    const seen = near.map(({ camera, to }) => ({ camera, last: Math.min(at, to) }))
    for (const { camera, last } of seen.toSorted((a, b) => a.last - b.last))
      carryOut(interlock.personSeen(camera, { wall: last, mono: last }))
  }

  /** Advances the clocks to `moment`, in milliseconds since 1970, and switches off firings that end before it. */
  function goOnTo(moment: number): void {
    while (at < moment) {
      const deadline = interlock.nextDeadline() ?? moment
      at = Math.min(moment, Math.max(at + STEP_MS, deadline))
      carryOut(interlock.tick(instant()))
    }
    reportPersons()
  }

  interlock.guarded()
  for (const { id } of interlock.units()) carryOut(interlock.off(id, undefined, '', instant()))

  /** How often each rule had which reason. */
  const counted = new Map(rules.map(({ name }) => [name, new Map<string, number>()]))
  function count(rule: Rule, { label }: Subject, reason: string): void {
    const own = counted.get(rule.name)!
    if (namesLabel(rule, label)) own.set(reason, (own.get(reason) ?? 0) + 1)
  }

  function answerOf(rule: Rule, subject: Subject): { text: string; fires: boolean } {
    const reason = whyNot(rule, { ...subject, endedAt: undefined }, at, site)
    if (reason !== undefined) {
      count(rule, subject, reason)
      return { text: `no, ${reason}`, fires: false }
    }
    const turn = fired[rule.name]! % rule.fire.length
    const chosen = rule.choose === 'one' ? [rule.fire[turn]!] : rule.fire
    const texts = chosen.map((deterrent) => {
      const seconds = Array.isArray(rule.seconds) ? rule.seconds[1] : (rule.seconds ?? deterrents[deterrent]!.seconds)
      const { firing, outputs } = interlock.request(
        {
          deterrent,
          seconds,
          by: {
            kind: 'rule',
            rule: rule.name,
            detectionId: subject.detectionId,
            cameras: [...new Set([...(rule.cameras ?? cameras), subject.camera])],
            watchers: rule.cameras ?? [subject.camera],
            aboutPersons: rule.aboutPersons,
          },
        },
        instant(),
      )
      carryOut(outputs)
      const answer = answers.get(firing)
      if (answer && 'firing' in answer) return { isFired: true, text: `fires ${deterrent} for ${seconds} s` }
      const refusal = `${deterrent}, which refuses: ${answer?.message ?? 'no answer'}`
      count(rule, subject, refusal.replace(', which', ''))
      return { isFired: false, text: `would fire ${refusal}` }
    })
    const fires = texts.some(({ isFired }) => isFired)
    if (fires) fired[rule.name]! += 1
    return { text: texts.map(({ text }) => text).join('; '), fires }
  }

  const answered = subjects.map(({ detection, subject }) => {
    goOnTo(Date.parse(subject.startedAt))
    const { label, score, startedAt } = subject
    return {
      detection: { ...detection, label, score, startedAt },
      answers: rules.map((rule) => ({ rule: rule.name, ...answerOf(rule, subject) })),
    }
  })
  const reasons = [...counted].flatMap(([rule, counts]) => {
    const [commonest] = [...counts].toSorted(([, a], [, b]) => b - a)
    return commonest ? [[rule, commonest[0]] as const] : []
  })
  return { detections: answered, fired, reasons: Object.fromEntries(reasons) }
}
