import { listTargets } from '../applications/targets.ts'
import { isMotionLabel } from '../kernel/motion-label.ts'
import { isSameName } from '../kernel/same-name.ts'
import type { Names } from '../learning/names.ts'
import { DEMONSTRATION, NO_MODEL } from '../sources/eye/schema.ts'
import { openAddresses } from '../sources/frigate/open-interface.ts'
import type { DeviceFile } from './schema.ts'

/** A sentence about the value at `path`. */
export type Warning = { path: (string | number)[]; message: string }

/** Warns about values that are valid but unwise. */
export function warningsOf(file: DeviceFile, uiTarget: URL | undefined): Warning[] {
  const { applications, sources } = file
  const open = openAddresses(sources.frigate, listTargets(applications, uiTarget, sources.frigate))
  return [
    ...open.map((message) => ({ path: ['sources', 'frigate', 'url'], message })),
    ...demonstrated(file),
    ...unnamed(file),
    ...waitingRules(file).map(({ index, name, others }) => ({
      path: ['rules', index, 'labels'],
      message:
        `The rule ${name} gets nothing from the eye, which reports only \`motion\` without a ` +
        `model${others ? '' : ', and there is no other source'}. Name a model in \`sources.eye.model\`, or ` +
        `\`motion\` here. Up to version 0.1 \`none\` meant what is \`demonstration\` now.`,
    })),
    ...blindRules(file),
  ]
}

/** What can not work as the file stands, for the heartbeat: one sentence each. */
export function vainParts(file: DeviceFile, learned?: Pick<Names, 'undone' | 'unlearned'>): string[] {
  const { frigate, api } = file.sources
  // Another source may report it.
  const unlearned = frigate || api ? [] : (learned?.unlearned() ?? [])
  const rules = waitingRules(file).filter(({ others }) => !others)
  return [
    ...unnamed(file).map(({ message }) => message),
    ...rules.map(({ name }) => `The rule ${name} fires at nothing: without a model the eye reports only motion`),
    ...rulesOf(file, learned?.undone() ?? [], 'which this gateway learned and no longer gives'),
    ...rulesOf(file, unlearned, 'which this gateway has not learned'),
  ]
}
function rulesOf({ rules }: DeviceFile, names: readonly string[], why: string): string[] {
  return rules.flatMap(({ name, enabled, labels }) =>
    labels
      .filter((label) => enabled && names.some((each) => isSameName(each, label)))
      .map((label) => `The rule ${name} names ${label}, ${why}`),
  )
}

function demonstrated({ sources: { eye } }: DeviceFile): Warning[] {
  if (eye?.model !== DEMONSTRATION) return []
  const message = '`demonstration` is for drawn scenes: in real pictures it sees animals that are not there.'
  return [{ path: ['sources', 'eye', 'model'], message }]
}

/** `labels` of the eye that leave nothing of what it reports. */
function unnamed({ sources: { eye } }: DeviceFile): Warning[] {
  if (eye?.model !== NO_MODEL || !eye.labels || eye.labels.some(isMotionLabel)) return []
  const message =
    'The eye reports nothing: without a model it sees only `motion`, which `sources.eye.labels` leaves out'
  return [{ path: ['sources', 'eye', 'labels'], message }]
}

/** The rules for cameras of an eye without a model. */
function rulesOfMotion({ sources: { eye }, rules }: DeviceFile) {
  if (eye?.model !== NO_MODEL) return []
  return [...rules.entries()].filter(
    ([, { enabled, cameras }]) => enabled && isAnyOf(cameras ?? eye.cameras, eye.cameras),
  )
}

/** Rules that wait for what only a model could tell apart. `others`: another source may report it. */
function waitingRules(file: DeviceFile) {
  const { frigate, api } = file.sources
  return rulesOfMotion(file)
    .filter(([, { labels }]) => !labels.some(isMotionLabel))
    .map(([index, { name }]) => ({ index, name, others: frigate !== undefined || api !== undefined }))
}

/** Rules that fire at whatever moves. */
function blindRules(file: DeviceFile): Warning[] {
  return rulesOfMotion(file)
    .filter(([, { labels }]) => labels.some(isMotionLabel))
    .map(([index, { name }]) => ({
      path: ['rules', index, 'labels'],
      message:
        `The rule ${name} fires at whatever moves, also at persons: without a model the eye does not know them, so ` +
        'nothing keeps deterrents off.',
    }))
}

function isAnyOf(names: readonly string[], among: readonly string[]): boolean {
  return names.some((name) => among.includes(name))
}
