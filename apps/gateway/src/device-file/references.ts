import { longestOf, type DeterrentSettings } from '../deterrents/schema.ts'
import { needsPlace, type Hours, type Place } from '../kernel/hours.ts'
import type { Rule } from '../rules/schema.ts'
import { noSuch } from '../kernel/nearest.ts'

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
export type Problem = { path: (string | number)[]; message: string }
/** The value at a path as it is written: the name of a secret instead of the secret. */
export type Shown = (path: Problem['path'], value: string) => string

/**
 * Finds values that are valid by themselves but wrong in this file: unknown names of other parts, too long firings,
 * hours that need a place. Names that sources provide are checked elsewhere (`names.ts`).
 */
export function checkReferences(file: Parts, shown: Shown): Problem[] {
  const problems: Problem[] = []
  const { deterrents, site } = file

  function checkHours(hours: Hours | undefined, path: Problem['path']): void {
    if (hours === undefined || !needsPlace(hours) || site.latitude !== undefined) return
    problems.push({ path, message: 'Hours that follow the sun need `site` with latitude and longitude.' })
  }

  function refuse(what: string, name: string, names: object, path: Problem['path']): void {
    problems.push({ path, message: noSuch(what, { name, shown: shown(path, name) }, Object.keys(names)) })
  }

  for (const [place, name] of (file.sources.eye?.cameras ?? []).entries()) {
    const path = ['sources', 'eye', 'cameras', place]
    if (!Object.hasOwn(file.cameras, name)) refuse('camera', name, file.cameras, path)
    else if (file.cameras[name]!.url === undefined)
      problems.push({ path, message: `The camera ${shown(path, name)} needs a url.` })
  }
  checkHours(file.updates.hours, ['updates', 'hours'])
  checkHours(file.learning.hours, ['learning', 'hours'])
  for (const [name, { quietHours, armed }] of Object.entries(deterrents)) {
    checkHours(quietHours, ['deterrents', name, 'quietHours'])
    checkHours(armed, ['deterrents', name, 'armed'])
  }
  for (const [index, rule] of file.rules.entries()) {
    const at = (...path: Problem['path']) => ['rules', index, ...path]
    checkHours(rule.hours, at('hours'))
    for (const [place, name] of rule.fire.entries()) {
      const path = at('fire', place)
      if (!Object.hasOwn(deterrents, name)) refuse('deterrent', name, deterrents, path)
      else if (longestSeconds(rule) > longestOf(deterrents[name]!))
        problems.push({
          path: at('seconds'),
          message: `${shown(path, name)} fires for at most ${longestOf(deterrents[name]!)} s (its \`maximumSeconds\`).`,
        })
    }
  }
  return problems
}

function longestSeconds({ seconds = 0 }: Rule): number {
  return Array.isArray(seconds) ? seconds[1] : seconds
}
