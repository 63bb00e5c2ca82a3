import { longestOf, type DeterrentSettings } from '../deterrents/schema.ts'
import { needsPlace, type Hours, type Place } from '../kernel/hours.ts'
import type { Rule } from '../rules/schema.ts'

/** The parts of a file that refer to each other. */
type Parts = {
  site: Place
  cameras: Readonly<Record<string, { url?: string | undefined; zones: object }>>
  sources: { eye?: { cameras: readonly string[] } | undefined }
  deterrents: Readonly<Record<string, DeterrentSettings>>
  rules: readonly Rule[]
  updates: { hours?: Hours | undefined }
  learning: { hours: Hours }
}
type Problem = { path: (string | number)[]; message: string }

/**
 * Finds values that are valid by themselves but wrong in this file: unknown names, too long firings, hours that need a
 * place.
 */
export function checkReferences(file: Parts): Problem[] {
  const problems: Problem[] = []
  const { deterrents, site } = file

  function checkHours(hours: Hours | undefined, path: Problem['path']): void {
    if (hours === undefined || !needsPlace(hours) || site.latitude !== undefined) return
    problems.push({ path, message: 'Hours that follow the sun need `site` with latitude and longitude.' })
  }

  for (const [place, name] of (file.sources.eye?.cameras ?? []).entries())
    if (!Object.hasOwn(file.cameras, name))
      problems.push({
        path: ['sources', 'eye', 'cameras', place],
        message: `There is no camera ${name}${list(file.cameras)}.`,
      })
    else if (file.cameras[name]!.url === undefined)
      problems.push({ path: ['sources', 'eye', 'cameras', place], message: `The camera ${name} needs a url.` })
  checkHours(file.updates.hours, ['updates', 'hours'])
  checkHours(file.learning.hours, ['learning', 'hours'])
  for (const [name, { quietHours, armed }] of Object.entries(deterrents)) {
    checkHours(quietHours, ['deterrents', name, 'quietHours'])
    checkHours(armed, ['deterrents', name, 'armed'])
  }
  for (const [index, rule] of file.rules.entries()) {
    const at = (...path: Problem['path']) => ['rules', index, ...path]
    checkHours(rule.hours, at('hours'))
    problems.push(...unknownPlaces(file, rule).map(({ path, message }) => ({ path: at(...path), message })))
    for (const [place, name] of rule.fire.entries())
      if (!Object.hasOwn(deterrents, name))
        problems.push({ path: at('fire', place), message: `There is no deterrent ${name}${list(deterrents)}.` })
      else if (longestSeconds(rule) > longestOf(deterrents[name]!))
        problems.push({
          path: at('seconds'),
          message: `${name} fires for at most ${longestOf(deterrents[name]!)} s (its \`maximumSeconds\`).`,
        })
  }
  return problems
}

/**
 * Cameras and zones that a rule names and the file does not have. Without `cameras` in the file, Frigate and programs
 * bring the cameras; without `url`, they bring a camera's zones. The gateway does not know those names.
 */
function unknownPlaces({ cameras }: Parts, rule: Rule): Problem[] {
  if (Object.keys(cameras).length === 0) return []
  const names = rule.cameras ?? Object.keys(cameras)
  const missing = names.flatMap((name, place) =>
    Object.hasOwn(cameras, name)
      ? []
      : [{ path: ['cameras', place], message: `There is no camera ${name}${list(cameras)}.` }],
  )
  const own = names.flatMap((name) => (Object.hasOwn(cameras, name) ? [cameras[name]!] : []))
  if (missing.length > 0 || own.some(({ url }) => url === undefined)) return missing
  const zones = Object.assign({}, ...own.map((camera) => camera.zones)) as object
  return (rule.zones ?? []).flatMap((name, place) =>
    Object.hasOwn(zones, name) ? [] : [{ path: ['zones', place], message: `There is no zone ${name}${list(zones)}.` }],
  )
}

function longestSeconds({ seconds = 0 }: Rule): number {
  return Array.isArray(seconds) ? seconds[1] : seconds
}

function list(known: object): string {
  const names = Object.keys(known)
  return names.length === 0 ? '' : `; there is ${names.slice(0, 10).join(', ')}`
}
